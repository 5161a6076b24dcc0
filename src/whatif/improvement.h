// Improvement: one optimisation applied to one set of tasks, critical sections or to one resource, as a person would
// make it ("inline every task spawned here", "give this lock readers", "twelve workers instead of eight"). Plain data,
// safe to copy between threads. Candidates are found in src/improve and handed to this folder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/trace.h"
#include "whatif/optimisation.h"

namespace contrafact::whatif {

// What distinguishes the tasks of a hoisted subset from the other tasks of the same context: their execution paths.
struct PathCondition {
  enum class Kind : uint8_t { enters_method, spawns_at, waits_at } kind = Kind::enters_method;
  model::MethodId method;    // for enters_method
  model::ContextId context;  // for spawns_at and waits_at
  bool holds = true;         // false: the tasks that do not
};

// A permit that is given back earlier than in the recording.
struct EarlierGive {
  uint32_t number = 0;  // of its giving among all of the trace, in the order of the events
  int64_t by_ns = 0;
};

struct Improvement {
  const Optimisation* optimisation = nullptr;
  std::vector<std::string> warnings = {};  // signs that the models do not hold for this change

  // Target::tasks, Target::grain and Target::moves
  model::ContextId spawn_context = {};    // the dynamic context that all `tasks` share
  model::MethodId body = {};              // of the tasks; none if they differ
  std::vector<model::TaskId> tasks = {};  // sorted, unique: those that change
  uint32_t context_tasks = 0;             // all tasks of the context; more than `tasks` when a branch is hoisted
  std::vector<PathCondition> path = {};   // hoist_branch only

  // Target::moves: `tasks` that are waited for later; or permits of `pool` that are given back before `before`; or
  // `sections` that block outside of their lock.
  model::ContextId before = {};
  std::vector<EarlierGive> earlier_gives = {};  // sorted by number

  // Target::sections
  std::vector<uint32_t> sections = {};  // that change: indexes into model::critical_sections(trace), ascending
  // By position in `sections`. split_lock: the section's part; part 0 keeps the lock. shared_look and double_check: 1
  // for sections that only look.
  std::vector<uint32_t> part = {};
  // By position, for split_lock: the second part whose lock the section takes, or kAllParts. The section's own part
  // stands for none. Empty: no section takes a second lock.
  static constexpr uint32_t kAllParts = UINT32_MAX;
  std::vector<uint32_t> also_part = {};
  // By position. shorten_section: the time that moves out in front and behind. shared_look: in front, or empty.
  std::vector<int64_t> head_ns = {}, tail_ns = {};
  // shared_look and double_check: by position, how long sections that change something look.
  std::vector<int64_t> look_ns = {};

  // Target::pool and Target::machine: workers or cores. Target::grain: how many neighbours become one task, how many
  // parts a task gets, or the deepest level of a recursion that is still handed out; `size_before` is 1, or the deepest
  // level recorded.
  model::PoolId pool = {};  // none: the machine, or `threads`
  // Of threads of the program's own that serve requests, what their names have in common (request_run.h); or with `is_resource` the name
  // of a bounded resource of the program's own (own_resources.h).
  std::string threads = {};
  bool is_resource = false;
  uint32_t size_before = 0, size_after = 0;
};

// Makes an improvement of critical sections.
inline Improvement section_improvement(const Optimisation* optimisation, std::vector<uint32_t> sections,
                                       std::vector<uint32_t> part = {}, std::vector<int64_t> head_ns = {},
                                       std::vector<int64_t> tail_ns = {}) {
  return {.optimisation = optimisation,
          .sections = std::move(sections),
          .part = std::move(part),
          .head_ns = std::move(head_ns),
          .tail_ns = std::move(tail_ns)};
}

}  // namespace contrafact::whatif
