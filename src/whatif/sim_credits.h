// A trace does not show what a program tests before it waits at a condition. The test is taken to be a count of
// signals, as for a queue: the k-th thread that comes to wait goes on when as many signals have been sent as the k-th
// thread needed in the recording, whichever threads these are.
//
// The comers are every wait at the condition, and every critical section that began at the same place as one that led
// to a wait there, but found what it needed. A wait needed the number of the signal that ended it. A comer that did not
// wait needed one signal more than the comer before it, but no more than had been sent.
//
// Pure function of the trace; linear but for sorts.
#pragma once

#include <vector>

#include "model/critical_sections.h"
#include "model/sync_wakes.h"
#include "model/trace.h"

namespace contrafact::whatif {

// A wait at such an object goes on after as many signals as in the recording, whichever threads sent them.
constexpr bool counts_signals(format::LockKind kind) {
  return kind == format::LockKind::condition || kind == format::LockKind::futex;
}

struct Credits {
  static constexpr uint32_t kNone = UINT32_MAX;
  // By lock, for conditions that were waited at: the signals that each comer needs, in the order of arrival. Never
  // decreasing.
  std::vector<std::vector<uint32_t>> needs;
  // By section: the condition of a wait with a known signal, or of a section that found what it needed; else kNone.
  std::vector<uint32_t> condition_of;
  // By section: for those sections, the signals that the section itself needed. Where locks keep their recorded order,
  // so do the comers.
  std::vector<uint32_t> need_of;
};

Credits count_credits(const model::Trace& trace, const std::vector<model::CriticalSection>& sections,
                      const std::vector<model::SyncWake>& wakes);

}  // namespace contrafact::whatif
