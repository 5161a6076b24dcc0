#include "whatif/lock_estimate.h"

#include <algorithm>

#include "base/check.h"
#include "base/saturating.h"

namespace contrafact::whatif {
namespace {

double gain(int64_t before_ns, int64_t after_ns) {
  return before_ns > 0 ? 1 - static_cast<double>(after_ns) / static_cast<double>(before_ns) : 0;
}

}  // namespace

LockEstimator::LockEstimator(const model::Trace& trace, std::span<const model::CriticalSection> sections,
                             const model::SectionSets& sets, const graph::SectionOrder& recorded,
                             const graph::SyncGraph& graph, const LockEstimateOptions& options)
    : trace_(trace),
      sections_(sections),
      sets_(sets),
      recorded_(recorded),
      graph_(graph),
      options_(options),
      simulator_(trace) {
  baseline_.recorded_ns = graph_.duration_ns();
  baseline_.retimed_ns = simulator_.retime_sections({});
  if (!options_.simulate) return;
  if (const auto check = simulator_.check_baseline({.cores = options_.cores}); check.ok()) {
    baseline_.simulated_ns = check->simulated_ns;
    baseline_.error = check->error;
    baseline_.trusted = check->trusted;
    baseline_.notes = check->notes;
  }
  for (uint64_t seed = 0; seed <= options_.seeds; ++seed) base_ns_.push_back(simulated_ns({}, seed));
}

int64_t LockEstimator::simulated_ns(std::span<const SectionEdit> edits, uint64_t seed) const {
  const base::Result<Simulation> run = simulator_.simulate_sections(edits, {.cores = options_.cores, .seed = seed});
  return run.ok() && run->stuck.empty() ? run->duration_ns : 0;
}

base::Result<LockEstimate> LockEstimator::estimate(std::span<const LockImprovement> improvements) const {
  CHECK(simulator_.sections().size() == sections_.size());
  base::Result<std::vector<SectionEdit>> edits = edits_of(trace_, sections_, improvements);
  if (!edits) return edits.error();
  LockEstimate estimate;
  estimate.recorded_order = gain(baseline_.retimed_ns, simulator_.retime_sections(*edits));
  const auto moves_conflicts = [](const LockImprovement& improvement) {
    return improvement.optimisation == LockOptimisation::shorten_section ||
           improvement.optimisation == LockOptimisation::make_atomic;
  };
  if (std::ranges::none_of(improvements, moves_conflicts)) estimate.floor = floor(improvements);
  estimate.others_waited = others_waited(improvements);
  std::vector<double> gains;
  for (uint64_t seed = 0; seed < base_ns_.size(); ++seed) {
    const int64_t after_ns = base_ns_[seed] > 0 ? simulated_ns(*edits, seed) : 0;
    if (after_ns > 0) gains.push_back(gain(base_ns_[seed], after_ns));
    estimate.simulated |= seed == 0 && after_ns > 0;
  }
  if (!estimate.simulated) return estimate;
  std::ranges::sort(gains);
  estimate.free_order_low = gains.front();
  estimate.free_order_high = gains.back();
  const size_t half = gains.size() / 2;
  estimate.free_order = gains.size() % 2 == 1 ? gains[half] : (gains[half - 1] + gains[half]) / 2;
  return estimate;
}

std::vector<bool> LockEstimator::locks_of(std::span<const LockImprovement> improvements) const {
  std::vector<bool> concerned(trace_.locks.size(), false);
  for (const LockImprovement& improvement : improvements) {
    for (const uint32_t s : improvement.sections) concerned[sections_[s].lock.index()] = true;
  }
  return concerned;
}

double LockEstimator::others_waited(std::span<const LockImprovement> improvements) const {
  const std::vector<bool> concerned = locks_of(improvements);
  int64_t waited_ns = 0;
  for (const model::CriticalSection& section : sections_) {
    if (!concerned[section.lock.index()]) waited_ns = base::add_saturated(waited_ns, section.wait_ns());
  }
  return graph_.duration_ns() > 0 ? static_cast<double>(waited_ns) / static_cast<double>(graph_.duration_ns()) : 0;
}

double LockEstimator::floor(std::span<const LockImprovement> improvements) const {
  const std::vector<bool> relax = locks_of(improvements);
  const auto [known, added] = floors_.try_emplace(relax, 0);
  if (added) {
    const graph::SectionOrder needed = graph::needed_order(trace_, sections_, sets_, recorded_, relax);
    known->second = gain(graph_.duration_ns(), graph::propagate(graph_, needed));
  }
  return known->second;
}

}  // namespace contrafact::whatif
