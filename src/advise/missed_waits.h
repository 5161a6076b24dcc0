// The waiting for locks that a simulated run misses, and how a changed run changes it.
//
// Where sections take a few microseconds, fractions of a microsecond in the threads' timing decide whether a woken
// thread finds a lock free or held. Simulated runs come out up to a quarter shorter than recorded, with less waiting. A
// change that removes 40 % of the simulated waiting is taken to remove 40 % of the missing waiting, too. The share is
// that of the time or of the number of waits, whichever is larger: each wait misses something, and the few that a
// change leaves may be long, because the changed program uses all cores.
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

// The recorded run; `sections` are its critical sections. Semaphores and conditions have waits of another kind, which
// do not count.
WaitingRun recorded_run(const model::Trace& trace, std::span<const model::CriticalSection> sections);

// A simulated run of the trace. A lock that is not in the recording is a copy of one that is.
WaitingRun simulated_run(const model::Trace& trace, const whatif::Simulation& simulation);

// The part of the recorded duration that is due to waiting that was not simulated; < 0: the excess due to waiting that
// was simulated and not recorded. 0 if waiting does not explain the difference of durations, or if that is less than
// repeated runs differ by.
int64_t missed_ns(const WaitingRun& recorded, const WaitingRun& unchanged);

// The gain, as a share of the unchanged run; < 0 is a loss. `missed_ns`: the result of missed_ns().
double gain_with_missed(const WaitingRun& unchanged, int64_t missed_ns, const WaitingRun& changed);

// How far off, up or down, a gain with missed waiting may be, as a share. `error`: by how much the unchanged run
// differs from the recorded one; `missed`: the part of it that is missed waiting, < 0 if excess waiting makes the run
// too long. The rule leaves half of that part open.
double doubt_with_missed(double error, double missed);

}  // namespace contrafact::advise
