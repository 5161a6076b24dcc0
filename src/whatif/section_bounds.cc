#include "whatif/section_bounds.h"

#include <algorithm>

#include "base/check.h"
#include "base/saturating.h"

namespace contrafact::whatif {
namespace {

double gain(int64_t before_ns, int64_t after_ns) {
  return before_ns > 0 ? 1 - static_cast<double>(after_ns) / static_cast<double>(before_ns) : 0;
}

bool moves_conflicts(const Improvement& improvement) {
  return improvement.optimisation->moves_conflicts();
}

}  // namespace

SectionBounds::SectionBounds(const Simulator& simulator, const model::Trace& trace,
                             std::span<const model::CriticalSection> sections, const model::SectionSets& sets,
                             const graph::SectionOrder& recorded, const graph::SyncGraph& graph)
    : simulator_(simulator),
      trace_(trace),
      sections_(sections),
      sets_(sets),
      recorded_(recorded),
      graph_(graph),
      retimed_ns_(simulator.retime_sections({})) {
  CHECK(simulator_.sections().empty() || simulator_.sections().size() == sections_.size());
}

SectionGains SectionBounds::gains(std::span<const Improvement> improvements, std::span<const SectionEdit> edits) const {
  SectionGains gains;
  gains.recorded_order = gain(retimed_ns_, simulator_.retime_sections(edits));
  const std::vector<bool> concerned = locks_of(improvements);
  if (std::ranges::none_of(improvements, moves_conflicts)) gains.floor = floor(concerned);
  return gains;
}

std::vector<bool> SectionBounds::locks_of(std::span<const Improvement> improvements) const {
  std::vector<bool> concerned(trace_.locks.size(), false);
  for (const Improvement& improvement : improvements) {
    for (const uint32_t s : improvement.sections) concerned[sections_[s].lock.index()] = true;
  }
  return concerned;
}

double SectionBounds::floor(const std::vector<bool>& relaxed) const {
  {
    const std::scoped_lock lock(mutex_);
    if (const auto known = floors_.find(relaxed); known != floors_.end()) return known->second;
  }
  const graph::SectionOrder needed = graph::needed_order(trace_, sections_, sets_, recorded_, relaxed);
  const double share = gain(graph_.duration_ns(), graph::propagate(graph_, needed));
  const std::scoped_lock lock(mutex_);
  floors_.emplace(relaxed, share);
  return share;
}

}  // namespace contrafact::whatif
