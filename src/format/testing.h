// Test helpers: a sink into memory and a visitor that copies everything.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "format/reader.h"
#include "format/synthetic.h"

namespace contrafact::format {

// With `bytes_most` it is full once it has as many.
class MemorySink : public Sink {
 public:
  explicit MemorySink(std::vector<uint8_t>& bytes, size_t bytes_most = SIZE_MAX)
      : bytes_(bytes), bytes_most_(bytes_most) {}
  base::Status write(std::span<const uint8_t> block) override {
    if (block.size() > bytes_most_ - bytes_.size()) return base::Error{"no space left"};
    bytes_.insert(bytes_.end(), block.begin(), block.end());
    return {};
  }
  bool take_back(uint64_t bytes) override {
    bytes_.resize(bytes_.size() - bytes);
    return true;
  }

 private:
  std::vector<uint8_t>& bytes_;
  const size_t bytes_most_;
};

struct Collected : Visitor {
  std::map<std::string, std::string> facts;
  std::map<uint32_t, std::string> strings;
  std::map<uint32_t, MethodRow> methods;
  std::map<uint32_t, ContextRow> contexts;
  std::map<uint32_t, PoolRow> pools;
  std::map<uint32_t, ThreadRow> threads;
  std::map<uint32_t, LockRow> locks;
  std::map<uint32_t, ConnectionRow> connections;
  std::map<uint32_t, EndpointRow> endpoints;
  std::map<uint32_t, uint64_t> method_addresses;
  std::map<uint32_t, std::pair<SetGap, std::vector<AccessRange>>> access_sets;
  std::vector<PlainEvent> events;
  std::vector<Trailer> trailers;

  void on_fact(std::string_view key, std::string_view value) override { facts[std::string(key)] = value; }
  void on_strings(StringId first, std::span<const std::string_view> rows) override { copy(strings, first.value, rows); }
  void on_methods(MethodId first, std::span<const MethodRow> rows) override { copy(methods, first.value, rows); }
  void on_contexts(ContextId first, std::span<const ContextRow> rows) override { copy(contexts, first.value, rows); }
  void on_pools(PoolId first, std::span<const PoolRow> rows) override { copy(pools, first.value, rows); }
  void on_threads(ThreadId first, std::span<const ThreadRow> rows) override { copy(threads, first.value, rows); }
  void on_locks(LockId first, std::span<const LockRow> rows) override { copy(locks, first.value, rows); }
  void on_connections(ConnectionId first, std::span<const ConnectionRow> rows) override {
    copy(connections, first.value, rows);
  }
  void on_endpoints(EndpointId first, std::span<const EndpointRow> rows) override {
    copy(endpoints, first.value, rows);
  }
  void on_method_addresses(std::span<const MethodAddressRow> rows) override {
    for (const MethodAddressRow& row : rows) method_addresses[row.method.value] = row.address;
  }
  void on_access_sets(AccessSetId first, std::span<const AccessSetRow> rows) override {
    for (const AccessSetRow& row : rows) {
      access_sets[first.value++] = {row.gap, {row.ranges.begin(), row.ranges.end()}};
    }
  }
  void on_trailer(const Trailer& trailer) override { trailers.push_back(trailer); }
  void on_events(const EventBlock& block) override {
    size_t extra = 0;
    for (const EventRun& run : block.runs) {
      for (uint32_t i = run.begin; i < run.end; ++i) {
        PlainEvent event{run.thread, run.source, block.kind[i], block.time_ns[i], {block.a[i], block.b[i]}};
        for (size_t operand = 2; operand < schema_of(block.kind[i]).operand_count(); ++operand) {
          event.operands[operand] = block.extra[extra++];
        }
        events.push_back(event);
      }
    }
  }

 private:
  template <typename Map, typename Rows>
  static void copy(Map& map, uint32_t first, const Rows& rows) {
    for (const auto& row : rows) map[first++] = typename Map::mapped_type(row);
  }
};

}  // namespace contrafact::format
