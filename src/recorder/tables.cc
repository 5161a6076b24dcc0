#include "recorder/tables.h"

namespace contrafact::recorder {
namespace {

using format::ContextId;
using format::ContextRow;
using format::MethodId;
using format::MethodRow;
using format::StringId;

// A multiplication by an odd constant (2^64 over the golden ratio) spreads small numbers over the high bits.
size_t mix(size_t seed, uint64_t value) {
  uint64_t h = (seed ^ value) * 0x9e3779b97f4a7c15u;
  return h ^ h >> 32;
}

}  // namespace

size_t Tables::Hash::operator()(const MethodRow& row) const {
  return mix(mix(mix(mix(0, row.class_name.value), row.name.value), row.file.value), row.line);
}
size_t Tables::Hash::operator()(const ContextRow& row) const {
  return mix(mix(mix(0, row.parent.value), row.method.value), row.line);
}
bool Tables::Equal::operator()(const MethodRow& a, const MethodRow& b) const {
  return a.class_name == b.class_name && a.name == b.name && a.file == b.file && a.line == b.line;
}
bool Tables::Equal::operator()(const ContextRow& a, const ContextRow& b) const {
  return a.parent == b.parent && a.method == b.method && a.line == b.line;
}

StringId Tables::string(std::string_view text) {
  std::lock_guard lock(mutex_);
  if (const auto found = strings_.find(text); found != strings_.end()) return found->second;
  const StringId id(static_cast<uint32_t>(strings_.size()));
  const std::string& kept = texts_.emplace_back(text);
  strings_.emplace(kept, id);
  new_.strings.push_back(kept);
  return id;
}

MethodId Tables::method(const MethodRow& row) {
  std::lock_guard lock(mutex_);
  const auto [found, added] = methods_.try_emplace(row, MethodId(methods_made_));
  if (added) {
    ++methods_made_;
    new_.methods.push_back(row);
  }
  return found->second;
}

MethodId Tables::method_at(uint64_t address, bool is_entry) {
  std::lock_guard lock(mutex_);
  const MethodId id(methods_made_++);
  new_.methods.emplace_back();
  new_.method_addresses.push_back({id, address, is_entry});
  return id;
}

format::LockId Tables::lock(const format::LockRow& row) {
  std::lock_guard lock(mutex_);
  new_.locks.push_back(row);
  return format::LockId(locks_++);
}

format::ConnectionId Tables::connection(const format::ConnectionRow& row) {
  std::lock_guard lock(mutex_);
  new_.connections.push_back(row);
  return format::ConnectionId(connections_++);
}

format::EndpointId Tables::endpoint(const format::EndpointRow& row) {
  std::lock_guard lock(mutex_);
  new_.endpoints.push_back(row);
  return format::EndpointId(endpoints_++);
}

ContextId Tables::context(const ContextRow& row) {
  std::lock_guard lock(mutex_);
  return context_locked(row);
}

ContextId Tables::context_locked(const ContextRow& row) {
  const auto [found, added] = contexts_.try_emplace(row, ContextId(static_cast<uint32_t>(contexts_.size())));
  if (added) new_.contexts.push_back(row);
  return found->second;
}

format::PoolId Tables::pool(const format::PoolRow& row) {
  std::lock_guard lock(mutex_);
  new_.pools.push_back(row);
  return format::PoolId(pools_++);
}

format::ThreadId Tables::thread(const format::ThreadRow& row) {
  std::lock_guard lock(mutex_);
  new_.threads.push_back(row);
  return format::ThreadId(threads_++);
}

void Tables::fact(std::string_view key, std::string_view value) {
  std::lock_guard lock(mutex_);
  new_.facts.emplace_back(key, value);
}

void Tables::take_new(NewRows& rows) {
  rows.strings.clear();
  rows.methods.clear();
  rows.contexts.clear();
  rows.pools.clear();
  rows.threads.clear();
  rows.method_addresses.clear();
  rows.locks.clear();
  rows.connections.clear();
  rows.endpoints.clear();
  rows.facts.clear();
  std::lock_guard lock(mutex_);
  std::swap(rows, new_);
}

}  // namespace contrafact::recorder
