// Bounds of the gain of improvements of critical sections, in addition to a simulation:
//
//   recorded order  estimated: each lock is still acquired in the recorded order; re-timed (retime.h). This is the
//                   cautious bound
//   conflicts       estimated: under the locks concerned, only sections that conflict keep their recorded order. All
//                   other locks keep theirs. The run has as many cores as it takes. Shortened sections and atomics have
//                   no such bound: they change what conflicts. This is no limit: another order of these sections, or of
//                   other locks, may allow more
//
// Gains are shares of the duration that the same model gives the unchanged run.
//
// The arguments must outlive it. May be shared between threads. Cost of a call: one pass over the events for each
// bound; bounds by conflicts are remembered.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "graph/section_order.h"
#include "graph/sync_graph.h"
#include "whatif/simulate.h"

namespace contrafact::whatif {

struct SectionGains {
  double recorded_order = 0;
  std::optional<double> floor;
};

class SectionBounds {
 public:
  SectionBounds(const Simulator& simulator, const model::Trace& trace, std::span<const model::CriticalSection> sections,
                const model::SectionSets& sets, const graph::SectionOrder& recorded, const graph::SyncGraph& graph);

  // The gains of those of `improvements` that change sections. `edits`: the edits that follow from all of these
  // together.
  SectionGains gains(std::span<const Improvement> improvements, std::span<const SectionEdit> edits) const;

 private:
  std::vector<bool> locks_of(std::span<const Improvement> improvements) const;
  double floor(const std::vector<bool>& relaxed) const;

  const Simulator& simulator_;
  const model::Trace& trace_;
  const std::span<const model::CriticalSection> sections_;
  const model::SectionSets& sets_;
  const graph::SectionOrder& recorded_;
  const graph::SyncGraph& graph_;
  const int64_t retimed_ns_;  // of the unchanged run
  mutable std::mutex mutex_;
  mutable std::map<std::vector<bool>, double> floors_;  // by the locks whose order is reduced; under mutex_
};

}  // namespace contrafact::whatif
