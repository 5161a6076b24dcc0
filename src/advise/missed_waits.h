// What a simulated run misses of the waiting for locks, and what becomes of it in a changed run.
//
// With sections of a few microseconds it hangs on the phases of threads, to a fraction of a microsecond, whether one
// that was woken finds a lock free: simulated runs come out up to a quarter shorter than recorded, with less waiting.
// A change that removes 40 % of the simulated waiting is taken to remove 40 % of the missing waiting, too. The share is
// that of the time or of the number of waits, whichever is larger: each wait misses something, and the few that a change
// leaves may be long, because the changed program uses all cores.
//
// Pure.
#pragma once

#include <cstdint>
#include <span>

#include "model/critical_sections.h"
#include "whatif/simulate.h"

namespace contrafact::advise {

struct WaitingRun {
  int64_t duration_ns = 0;
  int64_t waits_ns = 0;  // for locks, of all threads together
  int64_t waits = 0;
};

// The recorded run, of which the sections are. Semaphores and conditions have waits of another kind, which do not
// count.
WaitingRun recorded_run(const model::Trace& trace, std::span<const model::CriticalSection> sections);

// A simulated run of the trace. A lock that the recording does not have is a copy of one that it has.
WaitingRun simulated_run(const model::Trace& trace, const whatif::Simulation& simulation);

// Of the recorded duration, what goes with waiting that was not simulated; < 0: with waiting that was simulated and not
// recorded. 0 where the one does not explain the other, or it is less than repeated runs differ by.
int64_t missed_ns(const WaitingRun& recorded, const WaitingRun& unchanged);

// As a share of the unchanged run; < 0 is a loss. `missed_ns`: of missed_ns.
double gain_with_missed(const WaitingRun& unchanged, int64_t missed_ns, const WaitingRun& changed);

// How far off, up or down, a gain with missed waiting may be, as a share. `error`: by how much the unchanged run differs
// from the recorded one; `missed`: what of that is missed waiting, < 0 if the run is too long for it. Half of it is
// what the rule leaves open.
double doubt_with_missed(double error, double missed);

}  // namespace contrafact::advise
