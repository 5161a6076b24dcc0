#include "whatif/batch.h"

#include <algorithm>
#include <numeric>
#include <thread>

namespace contrafact::whatif {
namespace {

// The memory of all threads that estimate at a time, beside what they share. A command may use 100 MB, 400 bytes for
// each row and 60 for each event of a trace (test/bounds); the trace and its graph take the greater part.
size_t bytes_max(const Estimator& estimator) {
  constexpr size_t kBytes = 24'000'000, kBytesOfEvent = 24;
  return kBytes + kBytesOfEvent * estimator.dag().trace->event_count();
}

// The memory of a propagation: times, links and hand-overs by task and by body.
size_t propagation_bytes(const Estimator& estimator) {
  constexpr size_t kBytesOfTask = 64, kBytesOfBody = 64;
  return kBytesOfTask * estimator.dag().task_count() + kBytesOfBody * estimator.dag().bodies.size();
}

}  // namespace

Batch::Batch(const Estimator& estimator, const std::vector<Improvement>& improvements, uint64_t visits_max) {
  auto made = std::make_shared<Compiled>(Compiled{.estimator = estimator});
  rows_.resize(improvements.size());
  std::iota(rows_.begin(), rows_.end(), 0);
  for (const Improvement& improvement : improvements) {
    const base::Result<Placements> placed = estimator.place_all(std::span(&improvement, 1));
    made->reasons.push_back(placed ? "" : placed.error().message);
    graph::Move move{{}, placement_of(improvement.optimisation->treatment())};
    if (placed) move.tasks = improvement.tasks;
    made->moves.push_back(move);
  }
  const size_t count = made->moves.size();
  const uint64_t visits_of_lanes = kPassesOfLanes * estimator.visits_of_one();
  if (count >= kWorthLanes && count <= kPassesOfLanes && visits_max / 2 < visits_of_lanes)
    made->visits_spared = visits_of_lanes;
  else if (count >= kWorthLanes)
    made->program = graph::compile_lanes(estimator.dag(), made->moves, estimator.outermost(), bytes_max(estimator));
  made->worker_bytes = propagation_bytes(estimator);
  if (made->program.possible) made->worker_bytes += graph::LaneRunner::bytes(made->program, made->program.lanes);
  compiled_ = std::move(made);
}

Batch Batch::part(std::span<const uint32_t> improvements) const {
  Batch batch;
  batch.compiled_ = compiled_;
  for (uint32_t improvement : improvements) batch.rows_.push_back(rows_[improvement]);
  return batch;
}

base::Result<Figures> Batch::figures_of_one(std::span<const uint32_t> set, Scratch& scratch) const {
  scratch.placements.assign(estimator().dag().task_count(), graph::Placement::own_thread);
  for (uint32_t i : set) {
    const graph::Move& move = compiled_->moves[rows_[i]];
    for (model::TaskId task : move.tasks) scratch.placements[task.index()] = move.placement;
  }
  const uint64_t before = scratch.one.visits;
  base::Result<Figures> figures = estimator().figures(scratch.placements, scratch.one);
  scratch.visits += scratch.one.visits - before;
  return figures;
}

std::vector<std::optional<Figures>> Batch::figures_in_lanes(std::span<const std::vector<uint32_t>* const> sets,
                                                            Scratch& scratch) const {
  std::vector<graph::LaneResult> results(sets.size());
  std::vector<std::vector<uint32_t>> rows(sets.size());
  for (size_t i = 0; i < sets.size(); ++i) {
    for (uint32_t improvement : *sets[i]) rows[i].push_back(rows_[improvement]);
  }
  const std::vector<std::span<const uint32_t>> lanes(rows.begin(), rows.end());
  if (!scratch.many) scratch.many.emplace(compiled_->program);
  const size_t at_a_time = compiled_->program.lanes;
  for (size_t begin = 0; begin < sets.size(); begin += at_a_time) {
    const size_t count = std::min(at_a_time, sets.size() - begin);
    scratch.many->run(std::span(lanes).subspan(begin, count), std::span(results).subspan(begin, count));
    // An operation of all lanes takes about half the time of a vertex of one.
    scratch.visits += scratch.many->operations() / 2;
  }
  std::vector<std::optional<Figures>> figures(sets.size());
  for (size_t i = 0; i < sets.size(); ++i) {
    if (results[i].exact) figures[i] = estimator().figures_of(results[i], compiled_->program.answered);
  }
  return figures;
}

std::vector<base::Result<Figures>> Batch::figures(std::span<const std::vector<uint32_t>* const> sets,
                                                  Scratch& scratch) const {
  std::vector<std::optional<Figures>> together(sets.size());
  if (has_lanes()) together = figures_in_lanes(sets, scratch);
  std::vector<base::Result<Figures>> figures;
  for (size_t i = 0; i < sets.size(); ++i) {
    if (together[i]) {
      figures.emplace_back(*together[i]);
      continue;
    }
    ++scratch.alone;
    figures.push_back(figures_of_one(*sets[i], scratch));
  }
  return figures;
}

unsigned Batch::worker_count(unsigned asked) const {
  constexpr unsigned kMost = 8;
  const unsigned wanted = asked > 0 ? asked : std::clamp(std::thread::hardware_concurrency(), 1u, kMost);
  const size_t room = bytes_max(estimator()) / compiled_->worker_bytes;
  return static_cast<unsigned>(std::clamp<size_t>(room, 1, wanted));
}

}  // namespace contrafact::whatif
