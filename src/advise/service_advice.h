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
// they are no change of the program. Where cores limit it, recorded or with the best combination, what twice as many would give is
// a row of its own.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "advise/advice.h"
#include "advise/service.h"
#include "advise/service_worth.h"

namespace contrafact::advise {

struct ServiceChange {
  improve::Candidate candidate;
  // That the program can answer with this change alone: with as many clients as ServiceAdvice::per_second is of; if the recorded
  // program hangs with some number and this one does not, with as many as saturate it. 0: it hangs.
  double per_second = 0;
  LoadPoint at_load;  // with this change alone, at the load of ServiceAdviceOptions
  // The share by which the best combination is better with it than without; 0: no member. Of cores: the best combination on such a
  // machine.
  double added = 0;
  bool is_needed = false;  // without it the best combination hangs
  // With this change alone the program hangs with so many clients, at least. Only known where the recorded one hangs.
  std::optional<uint32_t> hangs_with = {};
  std::string curve = {};  // of sizes: throughputs of other sizes, in words
  bool hangs() const { return per_second <= 0; }
  bool is_of_machine() const;
};

struct ServiceAdvice {
  ServiceObjective objective = ServiceObjective::throughput;
  double load = 1;                            // k: of the points below
  Saturation before, after;                   // of the recorded program, of the best combination
  double per_second = 0;                      // the recorded program, measured as the changes are
  LoadPoint recorded_before, recorded_after;  // at the recorded load
  LoadPoint load_before, load_after;          // at k times the recorded load
  std::optional<LoadPoint> load_hangs;        // the least such load under which the recorded program hangs
  std::vector<ServiceChange> best;            // what adds most first
  std::vector<ServiceChange> others;          // that gain by themselves, best first; then cores
  // Calls `visit(rank, change)` for each change in the order of the rows, from 1 on: those of `best`, then the others.
  template <typename Visit>
  void each_row(Visit visit) const {
    size_t rank = 0;
    for (const std::vector<ServiceChange>* changes : {&best, &others}) {
      for (const ServiceChange& change : *changes) visit(++rank, change);
    }
  }
  // Of rows, those with which alone the recorded program, which hangs, does not.
  std::vector<size_t> hang_removed_by() const;
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
