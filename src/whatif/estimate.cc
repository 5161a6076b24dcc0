#include "whatif/estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/counted.h"
#include "base/saturating.h"
#include "graph/restore.h"

namespace contrafact::whatif {

namespace {

// A task has no response time if it was cancelled, or completed by others, before it was due.
bool has_response(const model::Trace& trace, const model::TaskRow& task) {
  const model::EventIndex done = task.complete.valid() ? task.complete : task.end;
  if (!task.start.valid() || !done.valid()) return false;
  return trace.time_ns[done.index()] >= trace.time_ns[task.spawn.index()] + int64_t{task.delay_us} * 1000;
}

std::vector<model::TaskId> outermost_tasks(const model::Trace& trace) {
  std::vector<model::TaskId> tasks;
  auto pooled = [&](uint32_t task) { return trace.tasks[task].kind == model::TaskKind::pooled; };
  for (const model::EventRange& range : trace.thread_ranges) {
    uint32_t depth = 0;  // pooled tasks that are open
    for (uint32_t i = range.begin; i < range.end; ++i) {
      const model::EventKind kind = trace.kind[i];
      if (kind == model::EventKind::task_start && pooled(trace.a[i])) ++depth;
      if (kind == model::EventKind::task_end && pooled(trace.a[i])) --depth;
      if (kind != model::EventKind::task_spawn || depth > 0 || !pooled(trace.a[i])) continue;
      const model::TaskRow& task = trace.tasks[trace.a[i]];
      if (task.spawn.value == i && has_response(trace, task)) tasks.push_back(model::TaskId(trace.a[i]));
    }
  }
  return tasks;
}

}  // namespace

base::Result<Estimator> Estimator::create(const model::Facts& facts) {
  const model::Trace& trace = facts.trace();
  if (trace.event_count() == 0) return base::Error{"the trace has no events: there is nothing to estimate"};
  base::Result<graph::TraceDag> dag = graph::build_dag(facts);
  if (!dag) return dag.error();
  if (base::Status status = graph::verify(*dag); !status) return status.error();
  Estimator estimator;
  estimator.dag_ = std::make_unique<graph::TraceDag>(*std::move(dag));
  estimator.begin_ns_ = trace.begin_ns();
  estimator.outermost_ = outermost_tasks(trace);
  Scratch scratch(estimator);
  graph::Propagated unchanged = scratch.propagator.run({}, {.changes = true});
  if (!unchanged.stuck.empty()) return estimator.stuck_error(unchanged.stuck);
  if (unchanged.end_ns == graph::kNever) unchanged.end_ns = trace.end_ns();
  estimator.epilogue_ns_ = std::max<int64_t>(0, base::subtract_saturated(trace.end_ns(), unchanged.end_ns));
  estimator.base_ = estimator.figures_of(unchanged, scratch);
  return estimator;
}

base::Error Estimator::stuck_error(const std::vector<graph::Stuck>& stuck) const {
  const model::Trace& trace = *dag_->trace;
  auto label = [&](model::TaskId task) {
    return task.valid() ? fmt::format("task {} ({})", task.value, trace.method_label(trace.tasks[task.index()].body))
                        : std::string("a thread outside tasks");
  };
  // Reports the shortest story: a task that waits for another stuck task.
  const graph::Stuck* shortest = &stuck.front();
  for (const graph::Stuck& one : stuck) {
    if (one.task.valid() && one.waits_for.valid()) {
      shortest = &one;
      break;
    }
  }
  if (!shortest->waits_for.valid()) return {fmt::format("would deadlock: {} is never woken", label(shortest->task))};
  return {fmt::format("would deadlock: {} waits for {}, which cannot run before it", label(shortest->task),
                      label(shortest->waits_for))};
}

int64_t Estimator::duration_of(int64_t end_ns) const {
  return (end_ns == graph::kNever ? dag_->trace->end_ns() : end_ns + epilogue_ns_) - begin_ns_;
}

Figures Estimator::figures_of(int64_t end_ns, int64_t active_ns, int64_t waiting_ns) const {
  Figures figures;
  figures.duration_ns = duration_of(end_ns);
  const double duration = std::max<double>(1.0, static_cast<double>(figures.duration_ns));
  figures.mean_active = static_cast<double>(active_ns) / duration;
  figures.mean_waiting = static_cast<double>(waiting_ns) / duration;
  figures.mean_occupied = figures.mean_active + figures.mean_waiting;
  return figures;
}

Figures Estimator::figures_of(const graph::LaneResult& lane, int64_t answered) const {
  Figures figures = figures_of(lane.end_ns, lane.active_ns, lane.waiting_ns);
  figures.peak_occupied = lane.peak_occupied;
  if (answered > 0) figures.mean_response_ns = static_cast<double>(lane.response_ns) / static_cast<double>(answered);
  return figures;
}

Figures Estimator::figures_of(const graph::Propagated& propagated, Scratch& scratch) const {
  Figures figures = figures_of(propagated.end_ns, propagated.active_ns, propagated.waiting_ns);
  figures.complete = true;
  figures.assumes = propagated.assumes;
  figures.reordered = propagated.reordered;
  figures.detached = propagated.detached;
  const Peaks peaks = scratch.peaks.find(propagated.changes);
  figures.peak_active = peaks.active;
  figures.peak_waiting = peaks.waiting;
  figures.peak_occupied = peaks.occupied;
  int64_t response_ns = 0, answered = 0;
  for (model::TaskId task : outermost_) {
    const int64_t completed_ns = scratch.propagator.completed_ns(task);
    const int64_t available_ns = scratch.propagator.available_ns(task);
    if (completed_ns == graph::kNever || available_ns == graph::kNever) continue;
    response_ns = base::add_saturated(response_ns, base::subtract_saturated(completed_ns, available_ns));
    ++answered;
  }
  if (answered > 0) figures.mean_response_ns = static_cast<double>(response_ns) / static_cast<double>(answered);
  return figures;
}

static base::Status place_tasks(const graph::TraceDag& dag, const Improvement& improvement, Placements& placements) {
  const Optimisation& optimisation = *improvement.optimisation;
  if (optimisation.target() != Target::tasks) return base::Error{"no change of tasks: only a simulation knows it"};
  if (const std::string_view why = optimisation.fault(improvement); !why.empty()) return base::Error{std::string(why)};
  return place(dag, improvement.tasks, placement_of(optimisation.treatment()), placements);
}

base::Result<Placements> Estimator::place_all(std::span<const Improvement> improvements,
                                              std::vector<EditReport>* reports,
                                              const std::vector<const Optimisation*>& switched_off) const {
  Placements placements(dag_->task_count(), graph::Placement::own_thread);
  for (const Improvement& improvement : improvements) {
    const int64_t begin_ns = base::monotonic_ns();
    EditReport report{std::string(name_of(improvement.optimisation)), improvement.tasks.size()};
    report.switched_off =
        std::find(switched_off.begin(), switched_off.end(), improvement.optimisation) != switched_off.end();
    base::Status status;
    if (!report.switched_off) status = place_tasks(*dag_, improvement, placements);
    if (!status) return base::Error{fmt::format("{}: {}", name_of(improvement.optimisation), status.error().message)};
    report.spent_ns = base::monotonic_ns() - begin_ns;
    if (reports) reports->push_back(std::move(report));
  }
  return placements;
}

uint64_t Estimator::visits_max() const {
  const uint64_t unchanged = visits_of_one();
  return std::max(kVisitsFactorOfLong * unchanged, std::min(kVisitsFactor * unchanged, kVisitsOfOne));
}

base::Error Estimator::too_much_work() const {
  return {"tasks would run in quite another order than recorded, which would take too long to work out"};
}

base::Result<Figures> Estimator::figures(std::span<const graph::Placement> placements, Scratch& scratch) const {
  const graph::Propagated& propagated =
      scratch.propagator.run(placements, {.changes = true, .visits_max = visits_max()});
  scratch.visits += propagated.visits;
  if (propagated.gave_up) return too_much_work();
  if (!propagated.stuck.empty()) return stuck_error(propagated.stuck);
  return figures_of(propagated, scratch);
}

// Notes on the order in which tasks ran.
static std::vector<std::string> order_notes(const Figures& figures) {
  std::vector<std::string> notes;
  if (figures.reordered > 0) {
    notes.push_back(base::counted(figures.reordered, "task runs", "tasks run") +
                    " in another order on their worker than recorded");
  }
  if (figures.detached > 0) {
    notes.push_back(base::counted(figures.detached, "stage runs", "stages run") +
                    " on threads that the recording does not have");
  }
  return notes;
}

base::Result<Estimate> Estimator::estimate(std::span<const Improvement> improvements,
                                           const EstimateOptions& options) const {
  Estimate estimate;
  base::Result<Placements> placements = place_all(improvements, &estimate.edits, options.switched_off);
  if (!placements) return placements.error();
  std::optional<Scratch> scratch(std::in_place, *this);
  const uint64_t limit = options.bounded ? visits_max() : UINT64_MAX;
  if (options.known != nullptr && options.known->complete && !options.trace) {
    estimate.figures = *options.known;
  } else {
    const graph::Propagated& propagated =
        scratch->propagator.run(*placements, {.changes = true, .steps = options.trace, .visits_max = limit});
    if (propagated.gave_up) return too_much_work();
    if (!propagated.stuck.empty()) return stuck_error(propagated.stuck);
    estimate.figures = figures_of(propagated, *scratch);
    if (options.trace) {
      graph::Propagated kept = std::move(scratch->propagator).take_result();
      kept.changes = std::vector<graph::UseChange>();
      scratch.reset();  // the trace needs as much memory
      base::Result<model::Trace> trace = graph::restore(*dag_, *placements, kept, epilogue_ns_);
      if (!trace) return base::Error{"the estimated trace is not sound: " + trace.error().message};
      if (base::Status status = verify_estimate(*dag_->trace, *trace); !status) return status.error();
      estimate.trace = *std::move(trace);
    }
  }
  estimate.notes = order_notes(estimate.figures);
  estimate.duration_low_ns = estimate.duration_high_ns = estimate.figures.duration_ns;
  if (options.interval && estimate.figures.assumes) {
    if (!scratch) scratch.emplace(*this);
    add_interval(*placements, limit, *scratch, estimate);
  }
  return estimate;
}

// `scratch`: the one that the estimate was made with. Its results are lost afterwards.
void Estimator::add_interval(std::span<const graph::Placement> placements, uint64_t visits_max, Scratch& scratch,
                             Estimate& estimate) const {
  for (const graph::Latencies* latencies : {&dag_->low, &dag_->high}) {
    const graph::Propagated& bound =
        scratch.propagator.run(placements, {.latencies = latencies, .visits_max = visits_max});
    if (bound.gave_up || !bound.stuck.empty()) continue;
    const int64_t duration_ns = duration_of(bound.end_ns);
    estimate.duration_low_ns = std::min(estimate.duration_low_ns, duration_ns);
    estimate.duration_high_ns = std::max(estimate.duration_high_ns, duration_ns);
  }
}

}  // namespace contrafact::whatif
