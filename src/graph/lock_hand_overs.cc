#include "graph/lock_hand_overs.h"

#include <algorithm>

namespace contrafact::graph {
namespace {

using model::CriticalSection;
using model::Trace;

// Of two sections of one lock, which ends later; null: none.
const CriticalSection* later_released(const CriticalSection* x, const CriticalSection* y) {
  return x == nullptr || y->release_ns > x->release_ns ? y : x;
}

bool hands_over(const Trace& trace, const CriticalSection& before, const CriticalSection& section) {
  if (!before.release.valid() || before.thread == section.thread) return false;
  const int64_t release_ns = trace.time_ns[before.release.index()];
  return trace.thread_of(before.release) != section.thread && section.request_ns < release_ns &&
         release_ns <= section.acquire_ns;
}

}  // namespace

std::vector<LockHandOver> lock_hand_overs(const model::Facts& facts) {
  const Trace& trace = facts.trace();
  std::vector<LockHandOver> found;
  const CriticalSection *last = nullptr, *last_writer = nullptr;  // of the sections so far, the latest to be released
  for (const CriticalSection& section : facts.sections()) {
    const format::LockKind kind = trace.locks[section.lock.index()].kind;
    if (section.outcome != model::Outcome::normal || !model::is_held(kind) || kind == format::LockKind::once) continue;
    if (last != nullptr && last->lock != section.lock) last = last_writer = nullptr;
    const CriticalSection* before = section.shared ? last_writer : last;
    if (section.contended() && before != nullptr && hands_over(trace, *before, section))
      found.push_back({section.acquire, before->release, section.request_ns});
    last = later_released(last, &section);
    if (!section.shared) last_writer = later_released(last_writer, &section);
  }
  std::ranges::sort(found, {}, &LockHandOver::acquire);
  return found;
}

}  // namespace contrafact::graph
