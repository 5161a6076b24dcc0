#include "whatif/batch.h"

#include <algorithm>
#include <thread>

namespace contrafact::whatif {

Batch::Batch(const Estimator& estimator, const std::vector<Improvement>& improvements) : estimator_(estimator) {
  for (const Improvement& improvement : improvements) {
    const base::Result<Placements> placed = estimator.place_all(std::span(&improvement, 1));
    reasons_.push_back(placed ? "" : placed.error().message);
    graph::Move move{{}, placement_of(improvement.optimisation)};
    if (placed) move.tasks = improvement.tasks;
    moves_.push_back(move);
  }
  if (moves_.size() >= kWorthLanes) program_ = graph::compile_lanes(estimator.dag(), moves_, estimator.outermost());
}

base::Result<Figures> Batch::figures_of_one(std::span<const uint32_t> set, Scratch& scratch) const {
  scratch.placements.assign(estimator_.dag().task_count(), graph::Placement::own_thread);
  for (uint32_t i : set) {
    for (model::TaskId task : moves_[i].tasks) scratch.placements[task.index()] = moves_[i].placement;
  }
  const uint64_t before = scratch.one.visits;
  base::Result<Figures> figures = estimator_.figures(scratch.placements, scratch.one);
  scratch.visits += scratch.one.visits - before;
  return figures;
}

std::vector<std::optional<Figures>> Batch::figures_in_lanes(std::span<const std::vector<uint32_t>* const> sets,
                                                            Scratch& scratch) const {
  std::vector<graph::LaneResult> results(sets.size());
  std::vector<std::span<const uint32_t>> lanes;
  for (const std::vector<uint32_t>* set : sets) lanes.emplace_back(*set);
  if (!scratch.many) scratch.many.emplace(program_);
  scratch.many->run(lanes, results);
  // An operation of all lanes takes about half the time of a vertex of one.
  scratch.visits += scratch.many->operations() / 2;
  std::vector<std::optional<Figures>> figures(sets.size());
  for (size_t i = 0; i < sets.size(); ++i) {
    if (results[i].exact) figures[i] = estimator_.figures_of(results[i], program_.answered);
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

unsigned worker_count(unsigned asked) {
  constexpr unsigned kMost = 8;
  return asked > 0 ? asked : std::clamp(std::thread::hardware_concurrency(), 1u, kMost);
}

}  // namespace contrafact::whatif
