// Tables: the rows that events point into, each value once. Producers add rows (and get ids) on their slow paths; the
// drainer takes the rows that were not written yet, in the order of their ids.
//
// Thread safety: all of it; one mutex, held for a hash lookup and an append.
// Invariant: a row's id is returned only when the row is where take_new() finds it.
#pragma once

#include <deque>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "format/event.h"

namespace contrafact::recorder {

struct NewRows {
  std::vector<std::string_view> strings;
  std::vector<format::MethodRow> methods;
  std::vector<format::ContextRow> contexts;
  std::vector<format::PoolRow> pools;
  std::vector<format::ThreadRow> threads;
  std::vector<format::MethodAddressRow> method_addresses;
  std::vector<format::LockRow> locks;
  std::vector<format::ConnectionRow> connections;
  std::vector<format::EndpointRow> endpoints;
  std::vector<std::pair<std::string, std::string>> facts;
};

class Tables {
 public:
  format::StringId string(std::string_view text);
  format::MethodId method(const format::MethodRow& row);
  format::ContextId context(const format::ContextRow& row);
  // Of a stack's frames, innermost first: the node of the innermost.
  template <typename Frame>
  format::ContextId contexts(std::span<const Frame> innermost_first) {
    std::lock_guard lock(mutex_);
    format::ContextId node;
    for (size_t i = innermost_first.size(); i-- > 0;) {
      node = context_locked({node, innermost_first[i].method, innermost_first[i].line});
    }
    return node;
  }
  format::PoolId pool(const format::PoolRow& row);
  format::ThreadId thread(const format::ThreadRow& row);
  // Not deduplicated: AddressTable asks once for each address.
  format::MethodId method_at(uint64_t address, bool is_entry);
  format::LockId lock(const format::LockRow& row);
  format::ConnectionId connection(const format::ConnectionRow& row);
  format::EndpointId endpoint(const format::EndpointRow& row);
  void fact(std::string_view key, std::string_view value);

  // What was added since the last call. `rows` is cleared first; its strings live as long as the tables.
  void take_new(NewRows& rows);

 private:
  struct Hash {
    size_t operator()(const format::MethodRow& row) const;
    size_t operator()(const format::ContextRow& row) const;
  };
  struct Equal {
    bool operator()(const format::MethodRow& a, const format::MethodRow& b) const;
    bool operator()(const format::ContextRow& a, const format::ContextRow& b) const;
  };
  format::ContextId context_locked(const format::ContextRow& row);

  std::mutex mutex_;
  std::deque<std::string> texts_;  // their addresses stay
  std::unordered_map<std::string_view, format::StringId> strings_;
  std::unordered_map<format::MethodRow, format::MethodId, Hash, Equal> methods_;
  std::unordered_map<format::ContextRow, format::ContextId, Hash, Equal> contexts_;
  uint32_t methods_made_ = 0;
  uint32_t locks_ = 0;
  uint32_t connections_ = 0;
  uint32_t endpoints_ = 0;
  uint32_t pools_ = 0;
  uint32_t threads_ = 0;
  NewRows new_;
};

}  // namespace contrafact::recorder
