// Advice for a recorded service, in its clients' terms: what to change so that it answers more requests a second, and how
// long answers then take. All simulated (service.h). The changes to make together are those of service_combination.h; below
// them are those that gain by themselves. Where cores limit it, recorded or with the best combination, what twice as many
// would give is a row of its own.
//
// Gains have intervals (service_gain.h), by all seeds. What adds little, or gains by itself, and may be nothing is no row, but for changes
// that let the program run where the recorded one hangs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "advise/advice.h"
#include "advise/effect.h"
#include "advise/service.h"
#include "advise/service_combination.h"

namespace contrafact::advise {

struct ServiceChange {
  improve::Candidate candidate;
  // That the program can answer with this change alone: with as many clients as ServiceAdvice::per_second is of; if the recorded
  // program hangs with some number and this one does not, with as many as saturate it. 0: it hangs.
  double per_second = 0;
  std::optional<Gain> gain;  // of that; none: one of the two hangs
  LoadPoint at_load;         // with this change alone, at the load of ServiceAdviceOptions
  // By how much the best combination is better with it than without; none: it is no member, or that hangs without it. Of cores: the best
  // combination on such a machine.
  std::optional<Gain> adds;
  bool is_needed = false;  // without it the best combination hangs
  // With this change alone the program hangs with so many clients, at least. Only known where the recorded one hangs.
  std::optional<uint32_t> hangs_with = {};
  std::string curve = {};  // of sizes: throughputs of other sizes, in words
  // Where there are several recordings: `gain` in each of them, the shown one's first; none: not known there. `gain` and `adds`
  // are then those over all.
  std::vector<std::optional<Gain>> by_recording = {};
  bool hangs() const { return per_second <= 0; }
  bool is_of_machine() const;
};

struct ServiceAdvice {
  ServiceObjective objective = ServiceObjective::throughput;
  double load = 1;                            // k: of the points below
  Saturation before, after;                   // of the recorded program, of the best combination
  double per_second = 0;                      // the recorded program, measured as the changes are
  double clients_ratio = 1;                   // of clients that saturate the best combination, to those of per_second
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

base::Result<ServiceAdvice> advise_service(const Service& service, const Pricer& pricer,
                                           const ServiceCandidates& candidates, const ServiceAdviceOptions& options);

}  // namespace contrafact::advise
