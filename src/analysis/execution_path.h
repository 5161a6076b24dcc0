// The execution path of one task: which function, spawn, wait, block and stage events it went through, in order, with
// loops collapsed, so that tasks that took the same branches have equal paths whatever their durations and iteration
// counts.
//
// What counts: methods entered (where recorded), spawns and creations (their context), waits (their context), blocks
// that the code asks for (sleep, io; their context) and stages run at once. What does not: blocking in a lock, at a
// latch or for a condition, which is luck, and tasks that the thread happened to run while it helped in a wait.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/task_walk.h"
#include "model/trace.h"

namespace contrafact::analysis {

// A step of a path: the event's kind in the high half, and the id that it names in the low half.
using PathToken = uint64_t;

class PathBuilder {
 public:
  // Adds a step. If the steps since its last occurrence repeat what went before, removes them again, together with the
  // new step (loops of up to kLoopMax steps; inner loops first). Amortised O(kLoopMax).
  void add(PathToken token);
  uint64_t hash() const;
  void clear() {
    tokens_.clear();
    folded_ = 0;
  }
  const std::vector<PathToken>& tokens() const { return tokens_; }

 private:
  static constexpr size_t kLoopMax = 32;
  // Longer paths keep only the hash of their first half: memory stays bounded for tasks that run for ever.
  static constexpr size_t kTokensMax = 4096;
  std::vector<PathToken> tokens_;
  uint64_t folded_ = 0;
};

// The step that the walk's latest event is in the path of the innermost task (for task_start: of the task around it); 0
// if it is no step.
PathToken path_token(const model::Trace& trace, const model::TaskWalk& walk);

// Whether the step's low half names a context. REQUIRES: token is not 0.
bool names_context(PathToken token);

// Walks one task again. REQUIRES: it has a start and an end.
std::vector<PathToken> path_of(const model::Trace& trace, model::TaskId task);

// "spawn at Feed.load (Feed.java:41); wait at ...", at most `steps_max` steps; "nothing recorded" if empty.
std::string path_text(const model::Trace& trace, const std::vector<PathToken>& path, size_t steps_max);

}  // namespace contrafact::analysis
