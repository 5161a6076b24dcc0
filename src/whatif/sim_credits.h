// What a program tests before it waits at a condition is not in the trace. It is taken to be a count of signals, as of
// a queue: the k-th of those who come to wait, whoever it is, goes on when so many signals have been sent as the k-th
// needed in the recording.
//
// Who comes: every wait at the condition, and every critical section that began where another one led to a wait there:
// it found what it needed. What a wait needed is the number of the signal that ended it. What one that did not wait
// needed lies between: one signal more than the one before it, but no more than had been sent.
//
// Pure function of the trace; linear but for sorts.
#pragma once

#include <vector>

#include "model/critical_sections.h"
#include "model/sync_wakes.h"
#include "model/trace.h"

namespace contrafact::whatif {

// A wait there goes on once so many signals were given as before it did in the recording, whoever gave them.
constexpr bool counts_signals(format::LockKind kind) {
  return kind == format::LockKind::condition || kind == format::LockKind::futex;
}

struct Credits {
  static constexpr uint32_t kNone = UINT32_MAX;
  // By lock, for conditions that were waited at: what each comer needs, in the order of their coming. Never decreasing.
  std::vector<std::vector<uint32_t>> needs;
  // By section: of a wait with a known signal, and of a section that found what it needed, the condition; else kNone.
  std::vector<uint32_t> condition_of;
  // By section: of those, what it needed itself. Where locks keep their recorded order, so do the comers.
  std::vector<uint32_t> need_of;
};

Credits count_credits(const model::Trace& trace, const std::vector<model::CriticalSection>& sections,
                      const std::vector<model::SyncWake>& wakes);

}  // namespace contrafact::whatif
