#include "model/facts.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace contrafact::model {

const std::vector<ThreadUse>& Facts::uses() const {
  return uses_.get([this] { return thread_uses(trace_); });
}

const HandOverCosts& Facts::hand_over_costs() const {
  return costs_.get([this] { return model::hand_over_costs(trace_); });
}

const std::vector<ResultWait>& Facts::result_waits() const {
  return result_waits_.get([this] { return model::result_waits(trace_); });
}

const std::vector<CriticalSection>& Facts::sections() const {
  return sections_.get([this] { return critical_sections(trace_); });
}

const std::vector<SyncWake>& Facts::wakes() const {
  return wakes_.get([this] { return sync_wakes(trace_, sections()); });
}

const std::vector<SocketWake>& Facts::socket_wakes() const {
  return socket_wakes_.get([this] { return model::socket_wakes(trace_); });
}

bool Facts::locks_ordered() const {
  return locks_ordered_.get([this] {
    return !trace_.locks.empty() && (is_native(trace_) || std::ranges::any_of(sections(), &CriticalSection::contended));
  });
}

const ForeignCores& Facts::foreign_cores() const {
  // Under a quota, threads are without a core while they have used it up, whatever others do.
  return foreign_cores_.get([this] {
    return trace_.fact("cpu.quota").empty() ? ForeignCores(trace_, recorded_cores(trace_)) : ForeignCores();
  });
}

bool is_native(const Trace& trace) {
  return trace.fact("agent") == "native" ||
         (trace.pools.empty() && trace.fact("jvm.name").empty() && has_lock_events(trace));
}

bool has_lock_events(const Trace& trace) {
  if (trace.locks.empty()) return false;
  return trace.blocked_on.empty() || std::any_of(trace.kind.begin(), trace.kind.end(), [](EventKind kind) {
           return kind >= EventKind::lock_acquire && kind <= EventKind::sync_broadcast;
         });
}

uint32_t recorded_cores(const Trace& trace) {
  const std::string_view text = trace.fact("cores");
  uint32_t cores = 0;
  std::from_chars(text.data(), text.data() + text.size(), cores);
  return cores;
}

}  // namespace contrafact::model
