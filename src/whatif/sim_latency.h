// How long the recorded run's hand-overs took. A simulated hand-over that also happened in the recorded run takes its
// own recorded time; any other takes a typical time. On a busy machine, single hand-overs take a hundred times as long
// as the typical one. A run in which all take the typical time would be shorter than the recorded one by the sum of
// these differences.
//
// Waiting for a core that the program's own threads used is no part of a hand-over: the simulation adds that by itself.
//
// Pure; linear in the events but for the sort of wakes.
#pragma once

#include <algorithm>
#include <vector>

#include "model/thread_state.h"
#include "model/trace.h"

namespace contrafact::whatif {

// How the recorded start of a task came about, and how long that took.
struct HandOver {
  enum class Kind : uint8_t {
    none,        // not known, or no hand-over
    fresh,       // a new worker, or the thread whose run the task is
    idle,        // a worker that slept
    turnaround,  // a worker that ended another task
  };
  Kind kind = Kind::none;
  int64_t ns = 0;
};

struct PoolLatency {
  int64_t fresh_ns = 0;       // spawn to start where the pool had to create the worker
  int64_t idle_ns = 0;        // spawn to start where a worker was idle
  int64_t turnaround_ns = 0;  // end of a task to start of the next on the same worker, the queue not being empty
  int64_t help_ns = 0;        // fork-join, of a task that a thread runs while it waits: the time around it in the wait
};

struct Latencies {
  std::vector<PoolLatency> pools;  // medians, as are the single figures below
  int64_t wait_ns = 0;             // completion to return from a wait that slept
  int64_t thread_ns = 0;           // Thread.start to the beginning of the run
};

// `quantile`: of all that may have waited for a core; the time around helping is always the median.
Latencies measure_latencies(const model::Trace& trace, const std::vector<model::ThreadUse>& uses,
                            double quantile = 0.5);

// How long a thread that starts others is off its core each time, until they have begun.
int64_t start_pause_ns(const model::Trace& trace, double quantile);

// The recorded time of a hand-over less `crowded_ns`, during which the program's own threads used all cores; but no
// less than the typical time, which also contains its share of waiting for cores.
constexpr int64_t own_latency_ns(int64_t recorded_ns, int64_t crowded_ns, int64_t typical_ns) {
  return std::max(recorded_ns - crowded_ns, std::min(recorded_ns, typical_ns));
}

class Crowding;
// By task: how it was handed over; none in fork-join pools. `latencies`: of the same trace.
std::vector<HandOver> measure_hand_overs(const model::Trace& trace, const std::vector<model::ThreadUse>& uses,
                                         const Latencies& latencies, const Crowding& crowding);

// The median; of an even number, the lower one of the two in the middle; 0 of none. Reorders the samples.
int64_t median_ns(std::vector<int64_t>& samples_ns);
// The same for another quantile, from 0 to 1.
int64_t quantile_ns(std::vector<int64_t>& samples_ns, double quantile);

// When the task's result is there: its complete, else its end; INT64_MAX if never.
int64_t completion_ns(const model::Trace& trace, model::TaskId task);

}  // namespace contrafact::whatif
