#include "advise/missed_waits.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "advise/verdict.h"

namespace contrafact::advise {

WaitingRun recorded_run(const model::Trace& trace, std::span<const model::CriticalSection> sections) {
  WaitingRun run{trace.end_ns() - trace.begin_ns()};
  for (const model::CriticalSection& section : sections) {
    if (model::is_held(trace.locks[section.lock.index()].kind)) run.waits_ns += section.wait_ns();
  }
  return run;
}

WaitingRun simulated_run(const model::Trace& trace, const whatif::Simulation& simulation) {
  WaitingRun run{simulation.duration_ns};
  for (const whatif::LockWait& wait : simulation.locks) {
    if (wait.lock < trace.locks.size() && !model::is_held(trace.locks[wait.lock].kind)) continue;
    run.waits_ns += wait.wait_ns;
    run.waits += static_cast<int64_t>(wait.contended);
  }
  return run;
}

int64_t missed_ns(const WaitingRun& recorded, const WaitingRun& unchanged) {
  const int64_t duration_ns = recorded.duration_ns - unchanged.duration_ns;
  const int64_t waits_ns = recorded.waits_ns - unchanged.waits_ns;
  const bool explains = unchanged.waits_ns > 0 && (duration_ns > 0) == (waits_ns > 0);
  if (!explains || std::fabs(static_cast<double>(duration_ns)) < kGainTie * static_cast<double>(recorded.duration_ns))
    return 0;
  return duration_ns > 0 ? std::min(duration_ns, waits_ns) : std::max(duration_ns, waits_ns);
}

double gain_with_missed(const WaitingRun& unchanged, int64_t missed_ns, const WaitingRun& changed) {
  const auto missed = static_cast<double>(missed_ns);
  const auto share_left = [](int64_t of_changed, int64_t of_unchanged) {
    return of_unchanged == 0 ? 1.0 : static_cast<double>(of_changed) / static_cast<double>(of_unchanged);
  };
  const double left = missed_ns == 0 ? 0
                                     : std::min({1.0, share_left(changed.waits_ns, unchanged.waits_ns),
                                                 share_left(changed.waits, unchanged.waits)});
  return gain(static_cast<double>(unchanged.duration_ns) + missed,
              static_cast<double>(changed.duration_ns) + left * missed);
}

double doubt_with_missed(double error, double missed) {
  return std::min(std::fabs(error), std::fabs(error + missed) + std::fabs(missed) / 2);
}

}  // namespace contrafact::advise
