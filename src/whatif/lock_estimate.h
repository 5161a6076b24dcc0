// What an improvement of locks gains, under three bounds:
//
//   recorded order  estimated: each lock goes on being had in the recorded order (re-timed, retime.h): the cautious one
//   free order      simulated: whoever comes first gets it, on the recorded machine's cores (simulate.h): the headline
//   floor           estimated: the locks concerned order only what conflicts, in the recorded order of that, on as
//                   many cores as it takes. Shortened sections and atomics have none: they change what conflicts
//
// Gains are shares of the duration that the same model gives the unchanged run. The free order is simulated with the
// typical hand-over times and with some drawn from the recorded ones, each compared to the unchanged run with the same
// seed: the gain is the median, the interval holds all of them.
//
// Immutable after construction; what it is given must outlive it. Not thread-safe. Cost of an estimate: a simulation
// for each seed, one pass over the events for the others.
#pragma once

#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "graph/section_order.h"
#include "graph/sync_graph.h"
#include "whatif/lock_edits.h"
#include "whatif/simulate.h"

namespace contrafact::whatif {

struct LockEstimateOptions {
  uint32_t seeds = 5;  // simulations with drawn hand-overs, beside the typical one; 0: no interval
  uint32_t cores = 0;  // 0: the recorded machine's
  bool simulate = true;
};

struct LockEstimate {
  double recorded_order = 0;
  bool simulated = false;  // else the free order is not known
  double free_order = 0, free_order_low = 0, free_order_high = 0;
  std::optional<double> floor;
  // What threads waited for the locks that are left as they are, as a share of the run; the threads' waits are added
  // up. A gain above the floor by more comes from these locks being taken in another order, not from others.
  double others_waited = std::numeric_limits<double>::infinity();
};

// How far the models are from the recorded run without any change.
struct LockBaseline {
  int64_t recorded_ns = 0;
  int64_t retimed_ns = 0;
  int64_t simulated_ns = 0;  // 0: could not be simulated
  double error = 0;          // of the simulated duration, as a share of the recorded one
  bool trusted = false;
  std::vector<std::string> notes;
};

class LockEstimator {
 public:
  LockEstimator(const model::Trace& trace, std::span<const model::CriticalSection> sections,
                const model::SectionSets& sets, const graph::SectionOrder& recorded, const graph::SyncGraph& graph,
                const LockEstimateOptions& options);

  const LockBaseline& baseline() const { return baseline_; }
  base::Result<LockEstimate> estimate(std::span<const LockImprovement> improvements) const;

 private:
  std::vector<bool> locks_of(std::span<const LockImprovement> improvements) const;
  double floor(std::span<const LockImprovement> improvements) const;
  double others_waited(std::span<const LockImprovement> improvements) const;
  // 0: it could not be simulated.
  int64_t simulated_ns(std::span<const SectionEdit> edits, uint64_t seed) const;

  const model::Trace& trace_;
  const std::span<const model::CriticalSection> sections_;
  const model::SectionSets& sets_;
  const graph::SectionOrder& recorded_;
  const graph::SyncGraph& graph_;
  const LockEstimateOptions options_;
  const Simulator simulator_;
  LockBaseline baseline_;
  std::vector<int64_t> base_ns_;                        // of the simulated unchanged run, by seed
  mutable std::map<std::vector<bool>, double> floors_;  // by the locks whose order is reduced
};

}  // namespace contrafact::whatif
