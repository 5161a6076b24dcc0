#include "holdings.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "format/reader.h"

namespace contrafact::test {
namespace {

struct Counting : format::Visitor {
  Holdings held;
  void on_fact(std::string_view, std::string_view) override { ++held.rows; }
  void on_strings(format::StringId, std::span<const std::string_view> rows) override { held.rows += rows.size(); }
  void on_methods(format::MethodId, std::span<const format::MethodRow> rows) override { held.rows += rows.size(); }
  void on_contexts(format::ContextId, std::span<const format::ContextRow> rows) override { held.rows += rows.size(); }
  void on_pools(format::PoolId, std::span<const format::PoolRow> rows) override { held.rows += rows.size(); }
  void on_threads(format::ThreadId, std::span<const format::ThreadRow> rows) override { held.rows += rows.size(); }
  void on_method_addresses(std::span<const format::MethodAddressRow> rows) override { held.rows += rows.size(); }
  void on_locks(format::LockId, std::span<const format::LockRow> rows) override { held.rows += rows.size(); }
  void on_connections(format::ConnectionId, std::span<const format::ConnectionRow> rows) override {
    held.rows += rows.size();
  }
  void on_endpoints(format::EndpointId, std::span<const format::EndpointRow> rows) override {
    held.rows += rows.size();
  }
  void on_access_sets(format::AccessSetId, std::span<const format::AccessSetRow> rows) override {
    for (const format::AccessSetRow& row : rows) held.rows += 1 + row.ranges.size();
  }
  void on_events(const format::EventBlock& block) override {
    held.events += block.kind.size();
    for (const uint32_t task : block.tasks) held.rows += task != UINT32_MAX && tasks.insert(task).second;
    // Each life of a lock's place is a lock of its own to the reader.
    held.rows += static_cast<uint64_t>(std::ranges::count(block.kind, format::EventKind::lock_init));
  }

 private:
  std::unordered_set<uint32_t> tasks;
};

}  // namespace

Holdings holdings_of(std::span<const uint8_t> file) {
  Counting counting;
  const auto reader = format::Reader::from_bytes({file.begin(), file.end()}, "trace");
  if (reader) reader->read(counting);
  return counting.held;
}

}  // namespace contrafact::test
