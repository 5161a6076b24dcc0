// The keys that identify a task's execution path: the methods that it enters, and where it spawns and waits.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "whatif/improvement.h"

namespace contrafact::improve {

using PathKey = std::pair<whatif::PathCondition::Kind, uint32_t>;  // and the id of its method or context

// The keys of every task of a trace: keys of the task itself, without the tasks that run inside it. Few tasks differ in
// them, so each set of keys is stored once.
//
// Made in one pass over the events, however deep tasks nest. Immutable: may be shared between threads.
class PathKeyIndex {
 public:
  explicit PathKeyIndex(const model::Trace& trace);

  // The number of the task's set; 0, the empty one, for a task that never started.
  uint32_t set_of(model::TaskId task) const { return set_of_[task.index()]; }
  // Sorted, each once.
  std::span<const PathKey> keys(uint32_t set) const { return sets_[set]; }

 private:
  class Pass;
  uint32_t number_of(std::vector<PathKey>& keys);

  std::vector<uint32_t> set_of_;
  std::vector<std::vector<PathKey>> sets_{{}};
  std::unordered_multimap<uint64_t, uint32_t> by_hash_;
};

// As the function of that name in spec.h, for many branches of one trace.
std::vector<whatif::PathCondition> branch_conditions(const PathKeyIndex& index, std::span<const model::TaskId> branch,
                                                     std::span<const model::TaskId> others);

}  // namespace contrafact::improve
