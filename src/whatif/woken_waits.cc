#include "whatif/woken_waits.h"

#include <optional>

#include "whatif/sim_wakes.h"

namespace contrafact::whatif {
namespace {

using model::EventKind;
using model::Trace;

// Whether the thread gets permits by that block. A semaphore's waiter wakes the next one before it takes its permit;
// one that finds none sleeps again.
bool is_for_permits(const Trace& trace, uint32_t block_begin, uint32_t block_end, uint32_t thread_end) {
  constexpr uint32_t kWakesMost = 2;
  uint32_t wakes = 0;
  for (uint32_t i = block_end + 1; i < thread_end; ++i) {
    switch (trace.kind[i]) {
      case EventKind::permit_take:
        return true;
      case EventKind::wake:
        if (++wakes > kWakesMost) return false;
        break;
      case EventKind::block_begin:
        if (trace.b[i] != trace.b[block_begin]) return false;  // another place
        wakes = 0;
        break;
      case EventKind::block_end:
        break;
      default:
        return false;
    }
  }
  return false;
}

// The block's end, if the thread did not get permits by it.
std::optional<uint32_t> end_of_block(const Trace& trace, uint32_t begin) {
  const uint32_t end = trace.thread_events(trace.thread_of(model::EventIndex(begin))).end;
  uint32_t i = begin + 1;
  while (i < end && trace.kind[i] != EventKind::block_end) ++i;
  if (i == end || is_for_permits(trace, begin, i, end)) return std::nullopt;
  return i;
}

std::vector<WokenWait> with_causes(const model::Facts& facts, const Tokens& tokens) {
  const Trace& trace = facts.trace();
  std::vector<WokenWait> found;
  std::vector<uint32_t> wake(tokens.count, UINT32_MAX);
  for (uint32_t i = 0; i < tokens.of_event.size(); ++i) {
    if (tokens.of_event[i] != UINT32_MAX && trace.kind[i] == EventKind::wake) wake[tokens.of_event[i]] = i;
  }
  for (uint32_t i = 0; i < tokens.of_event.size(); ++i) {
    if (tokens.of_event[i] == UINT32_MAX || trace.kind[i] != EventKind::block_begin) continue;
    const std::optional<uint32_t> end = end_of_block(trace, i);
    if (end && wake[tokens.of_event[i]] != UINT32_MAX) found.push_back({i, *end, wake[tokens.of_event[i]]});
  }
  if (!model::is_native(trace)) return found;
  for (const model::SyncWake& one : facts.wakes()) {
    const model::CriticalSection& wait = facts.sections()[one.wait];
    if (wait.request.valid() && wait.acquire.valid())
      found.push_back({wait.request.value, wait.acquire.value, one.cause.value});
  }
  return found;
}

}  // namespace

std::vector<WokenWait> woken_waits(const model::Facts& facts) {
  return with_causes(facts, match_wakes(facts, false));
}

std::vector<WokenWait> waits_woken_by_any(const model::Facts& facts) {
  return with_causes(facts, match_wakes(facts, true));
}

}  // namespace contrafact::whatif
