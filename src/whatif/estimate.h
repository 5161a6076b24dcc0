// Estimates under fixed assignment (Rehype, sections 4.2 and 4.3): what the recorded run would have been with a set of
// improvements made. docs/estimates.md says how, and what is assumed.
//
// An Estimator is immutable and may be shared between threads; each caller's thread needs its own Scratch.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/lanes.h"
#include "graph/propagate.h"
#include "whatif/improvement.h"
#include "whatif/placement.h"
#include "whatif/use_peaks.h"

namespace contrafact::whatif {

// The figures by which a variant is judged. Thread counts as model/thread_state.h defines them; means over the whole
// duration.
struct Figures {
  int64_t duration_ns = 0;
  // The mean time of the outermost tasks from being handed out to the result. Outermost tasks are handed to a pool by
  // code outside any pooled task: a server's requests. Where tasks come at their own times, the duration does not show
  // how long each takes. 0: none.
  double mean_response_ns = 0;
  double mean_active = 0, mean_waiting = 0, mean_occupied = 0;
  uint32_t peak_active = 0, peak_waiting = 0, peak_occupied = 0;
  // False: the variant was estimated in lanes with others, and the first two peaks are left 0.
  bool complete = false;
  bool assumes = true;     // hand-overs for which the 5th and the 95th percentile differ
  uint32_t reordered = 0;  // tasks that a worker took in another order than recorded
  uint32_t detached = 0;   // parts that no recorded thread could run
};

// One edit, as made.
struct EditReport {
  std::string name;  // of the optimisation
  size_t tasks = 0;
  int64_t spent_ns = 0;  // by this tool
  bool switched_off = false;
};

struct EstimateOptions {
  bool trace = false;              // restore the estimated trace as well
  bool interval = true;            // two more propagations, where any hand-over is assumed
  const Figures* known = nullptr;  // of the same improvements, where they were estimated before
  bool bounded = false;            // refuse variants that take far more work than the unchanged run (kVisitsFactor)
  std::vector<const Optimisation*> switched_off;  // edits to leave out
};

struct Estimate {
  Figures figures;
  // The duration if all assumed hand-overs were as fast as the 5th, or as slow as the 95th percentile of the recorded
  // ones.
  int64_t duration_low_ns = 0, duration_high_ns = 0;
  std::vector<EditReport> edits;
  std::vector<std::string> notes;
  std::optional<model::Trace> trace;
};

// A variant whose workers take their tasks in quite another order than recorded takes up to a thousand times the work
// of one that keeps the order. Where many variants are estimated, one that takes more than kVisitsFactor times the work
// of the unchanged run is refused. In long traces the limit is kVisitsOfOne visits, but at least kVisitsFactorOfLong
// times that work.
inline constexpr uint64_t kVisitsFactor = 64;
inline constexpr uint64_t kVisitsOfOne = 16'000'000;  // a second
inline constexpr uint64_t kVisitsFactorOfLong = 4;

class Estimator {
 public:
  struct Scratch {
    explicit Scratch(const Estimator& estimator) : propagator(estimator.dag()) {}
    graph::Propagator propagator;
    UsePeaks peaks;
    uint64_t visits = 0;  // the work done so far (graph::Propagated)
  };

  // The trace of `facts` must outlive the estimator. Errors: it is empty, too large, or its DAG cannot be propagated
  // unchanged.
  static base::Result<Estimator> create(const model::Facts& facts);

  const graph::TraceDag& dag() const { return *dag_; }
  const Figures& base() const { return base_; }
  // Visits that the unchanged run takes.
  uint64_t visits_of_one() const { return dag_->vertices.size() + dag_->bodies.size(); }
  int64_t epilogue_ns() const { return epilogue_ns_; }
  std::span<const model::TaskId> outermost() const { return outermost_; }

  // The improvements' edits as one placement for each task. Errors say which task cannot be changed, and why.
  base::Result<Placements> place_all(std::span<const Improvement> improvements,
                                     std::vector<EditReport>* reports = nullptr,
                                     const std::vector<const Optimisation*>& switched_off = {}) const;

  base::Result<Estimate> estimate(std::span<const Improvement> improvements, const EstimateOptions& options = {}) const;

  // The figures alone. Errors: the variant would wait for itself, or takes too much work.
  base::Result<Figures> figures(std::span<const graph::Placement> placements, Scratch& scratch) const;

  // The figures of one lane, without the peaks of active and of waiting threads. `answered`: how many tasks' response
  // times the lane adds up.
  Figures figures_of(const graph::LaneResult& lane, int64_t answered) const;

 private:
  Estimator() = default;
  base::Error stuck_error(const std::vector<graph::Stuck>& stuck) const;
  base::Error too_much_work() const;
  void add_interval(std::span<const graph::Placement> placements, uint64_t visits_max, Scratch& scratch,
                    Estimate& estimate) const;
  uint64_t visits_max() const;
  Figures figures_of(const graph::Propagated& propagated, Scratch& scratch) const;
  int64_t duration_of(int64_t end_ns) const;  // kNever: only recorded code runs
  Figures figures_of(int64_t end_ns, int64_t active_ns, int64_t waiting_ns) const;

  std::unique_ptr<graph::TraceDag> dag_;
  Figures base_;
  int64_t epilogue_ns_ = 0;  // from the end of the unchanged DAG to the end of the trace
  int64_t begin_ns_ = 0;
  std::vector<model::TaskId> outermost_;
};

// Checks an estimated trace against the recorded one: no task is lost or run twice, and each task's own work takes as
// long as before.
base::Status verify_estimate(const model::Trace& recorded, const model::Trace& estimated);

}  // namespace contrafact::whatif
