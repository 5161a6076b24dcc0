// Estimates of many combinations of improvements, several at a time (graph/lanes.h): the same figures as Estimator
// gives, for a fraction of the time. The combinations that cannot be estimated together are estimated one by one.
//
// A Batch is immutable and may be shared between threads; each caller's thread needs its own Scratch.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/lanes.h"
#include "whatif/estimate.h"

namespace contrafact::whatif {

class Batch {
 public:
  static constexpr size_t kAtATime = graph::kLanes;
  // Fewer improvements have at most seven combinations. To estimate these one by one costs less than to make the lanes'
  // program, which takes as much memory as all else.
  static constexpr size_t kWorthLanes = 4;
  // Making the lanes' program and its memory takes as long as this many passes. Up to this many improvements are
  // estimated one by one where the budget has no room for twice as many passes.
  static constexpr uint64_t kPassesOfLanes = 12;

  struct Scratch {
    explicit Scratch(const Batch& batch) : one(batch.compiled_->estimator) {}
    Estimator::Scratch one;
    std::optional<graph::LaneRunner> many;  // made when first needed: its memory grows with the trace
    Placements placements;
    size_t alone = 0;     // combinations that had to be estimated one by one
    uint64_t visits = 0;  // the work done so far, as if by one graph::Propagator
  };

  // Both arguments must outlive the batch. An improvement that cannot be made by itself has a reason, and may be in no
  // combination. `visits_max`: the budget that the batch is made for.
  Batch(const Estimator& estimator, const std::vector<Improvement>& improvements, uint64_t visits_max = UINT64_MAX);
  // Some of the improvements, by their positions; the lanes' program is shared.
  Batch part(std::span<const uint32_t> improvements) const;

  size_t size() const { return rows_.size(); }
  const Estimator& estimator() const { return compiled_->estimator; }
  const std::string& reason(size_t improvement) const { return compiled_->reasons[rows_[improvement]]; }

  // The figures of each of `sets`, at most kAtATime. A set holds sorted positions of improvements that change no task
  // twice. Errors: the variant would wait for itself. Figures::peak_active and peak_waiting are left 0: nothing is
  // ranked by them.
  std::vector<base::Result<Figures>> figures(std::span<const std::vector<uint32_t>* const> sets,
                                             Scratch& scratch) const;

  // The same, but nothing for a set that cannot be estimated together with others. REQUIRES: has_lanes().
  std::vector<std::optional<Figures>> figures_in_lanes(std::span<const std::vector<uint32_t>* const> sets,
                                                       Scratch& scratch) const;
  bool has_lanes() const { return compiled_->program.possible; }
  // How many threads to estimate on: `asked`, or for 0 the number of cores, at most 8; but no more than there is memory
  // for. The memory is bounded by the size of the trace.
  unsigned worker_count(unsigned asked) const;
  // Visits that were not spent on lanes, because the budget is small.
  uint64_t visits_spared() const { return compiled_->visits_spared; }

  // The figures of one set, complete.
  base::Result<Figures> figures_of_one(std::span<const uint32_t> set, Scratch& scratch) const;

 private:
  struct Compiled {
    const Estimator& estimator;
    std::vector<std::string> reasons;  // by row; empty: it can be made
    std::vector<graph::Move> moves;    // by row
    graph::LaneProgram program;
    uint64_t visits_spared = 0;
    size_t worker_bytes = 1;  // of a Scratch
  };
  Batch() = default;

  std::shared_ptr<const Compiled> compiled_;
  std::vector<uint32_t> rows_;  // by improvement
};

}  // namespace contrafact::whatif
