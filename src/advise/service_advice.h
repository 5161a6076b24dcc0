// Advice for a recorded service, in its clients' terms: what to change so that it answers more requests a second, and how
// long answers then take. All simulated (service.h).
//
// The best combination is found step by step. Each step adds the change with which the saturated program answers most: one
// of the tasks' or critical sections' candidates, or another size of the pool, or of the permits, that limits it; of
// changes that are about equal, the one that is less work. It ends where no change adds kTellableRate, or where the cores
// are what limits. The same is tried from all changes on that let the run need fewer threads: none of these may help
// before a pool has another size, and no size before them. Members that turn out to be useless go. If there are more than
// changes_max then, one goes after another, each time that without which the program is best, with the sizes of pools
// as they are or one step smaller: what goes may be what kept a pool of that size from standing still. Then the pools that
// limit the program get larger, in place of the change that is missed least if there is no room. More cores never join:
// they are no change of the program.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "advise/advice.h"
#include "advise/service.h"

namespace contrafact::advise {

// Throughputs that differ by less do not differ: repeated runs do as much.
inline constexpr double kTellableRate = 0.03;

enum class ServiceObjective : uint8_t { throughput, p99 };

struct ServiceChange {
  improve::Candidate candidate;
  double per_second = 0;  // that the program can answer with this change alone; 0: it hangs
  LoadPoint at_load;      // with this change alone, at the load of ServiceAdviceOptions
  double added = 0;       // the share by which the best combination is better with it than without; 0: no member
  std::string curve;      // of sizes: throughputs of other sizes, in words
  bool hangs() const { return per_second <= 0; }
};

struct ServiceAdvice {
  ServiceObjective objective = ServiceObjective::throughput;
  double load = 1;                            // k: of the points below
  Saturation before, after;                   // of the recorded program, of the best combination
  LoadPoint recorded_before, recorded_after;  // at the recorded load
  LoadPoint load_before, load_after;          // at k times the recorded load
  std::vector<ServiceChange> best;            // what adds most first
  std::vector<ServiceChange> others;          // that gain by themselves, best first
};

struct ServiceAdviceOptions {
  ServiceObjective objective = ServiceObjective::throughput;
  double load = 1;
  size_t candidates_max = 40;
  size_t steps_max = 8;
  size_t changes_max = SIZE_MAX;  // of the best combination
};

struct ServiceCandidates {
  std::vector<improve::Candidate> each;      // of tasks and critical sections, the most promising first
  std::vector<improve::Candidate> together;  // that let the run need fewer threads, if made together
};

base::Result<ServiceAdvice> advise_service(const Service& service, const Pricer& pricer,
                                           const ServiceCandidates& candidates, const ServiceAdviceOptions& options);

}  // namespace contrafact::advise
