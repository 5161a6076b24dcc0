#include "whatif/woken_waits.h"

#include <optional>

#include "whatif/sim_wakes.h"

namespace contrafact::whatif {
namespace {

using model::EventKind;
using model::Trace;

// The block's end, if the thread did not get permits by it.
std::optional<uint32_t> end_of_block(const Trace& trace, uint32_t begin) {
  const uint32_t end = trace.thread_events(trace.thread_of(model::EventIndex(begin))).end;
  uint32_t i = begin + 1;
  while (i < end && trace.kind[i] != EventKind::block_end) ++i;
  if (i == end) return std::nullopt;
  for (uint32_t next = i + 1; next < end && next <= i + 2; ++next) {
    if (trace.kind[next] == EventKind::permit_take) return std::nullopt;
  }
  return i;
}

}  // namespace

std::vector<WokenWait> woken_waits(const model::Facts& facts, bool by_all) {
  const Trace& trace = facts.trace();
  std::vector<WokenWait> found;
  const Tokens tokens = match_wakes(facts, by_all);
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

}  // namespace contrafact::whatif
