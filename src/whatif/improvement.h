// Improvement: one optimisation applied to one set of tasks, critical sections or to one resource, as a person would
// make it ("inline every task spawned here", "give this lock readers", "twelve workers instead of eight"). Plain data,
// safe to copy between threads. Candidates are found in src/improve and handed to this folder.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace.h"

namespace contrafact::whatif {

enum class Optimisation : uint8_t {
  convert_to_inline,      // the body runs at the spawn, on the spawning thread
  inline_at_wait,         // the body runs where the task is first waited for, on the thread that handed it out
  hoist_branch,           // convert-to-inline for the subset of tasks that take one branch
  convert_to_combinator,  // a task that spawns sub-tasks and waits for them becomes a chain of stages
  drop_lock,              // critical sections take no lock
  reader_writer_lock,     // critical sections take their lock as readers
  shared_look,            // critical sections look as readers, and take their lock alone only to change something
  split_lock,             // critical sections of one lock take several
  shorten_section,        // what needs no exclusion is done before and after the section
  make_atomic,            // critical sections become atomic operations
  pool_size,              // a pool has another number of workers
  cores,                  // the machine has another number of cores
};
inline constexpr std::array<std::string_view, 12> kOptimisationNames{
    "convert-to-inline", "inline-at-wait",     "hoist-branch", "convert-to-combinator",
    "drop-lock",         "reader-writer-lock", "shared-look",  "split-lock",
    "shorten-section",   "make-atomic",        "pool-size",    "cores"};
constexpr std::string_view name_of(Optimisation optimisation) {
  return kOptimisationNames[static_cast<size_t>(optimisation)];
}

// What an optimisation changes: which members of an Improvement it uses.
enum class Target : uint8_t { tasks, sections, pool, machine };
constexpr Target target_of(Optimisation optimisation) {
  if (optimisation <= Optimisation::convert_to_combinator) return Target::tasks;
  if (optimisation <= Optimisation::make_atomic) return Target::sections;
  return optimisation == Optimisation::pool_size ? Target::pool : Target::machine;
}

// What tells the tasks of a hoisted subset from the other tasks of the same context: their execution paths.
struct PathCondition {
  enum class Kind : uint8_t { enters_method, spawns_at, waits_at } kind = Kind::enters_method;
  model::MethodId method;    // for enters_method
  model::ContextId context;  // for spawns_at and waits_at
  bool holds = true;         // false: the tasks that do not
};

struct Improvement {
  Optimisation optimisation = Optimisation::convert_to_inline;
  std::vector<std::string> warnings = {};  // signs that the models do not hold for what changes

  // Target::tasks
  model::ContextId spawn_context = {};    // the dynamic context that all `tasks` share
  model::MethodId body = {};              // of the tasks; none if they differ
  std::vector<model::TaskId> tasks = {};  // sorted, unique: those that change
  uint32_t context_tasks = 0;             // all tasks of the context; more than `tasks` when a branch is hoisted
  std::vector<PathCondition> path = {};   // hoist_branch only

  // Target::sections
  std::vector<uint32_t> sections = {};  // that change: indexes into model::critical_sections(trace), ascending
  // split_lock: by position in `sections`; part 0 keeps the lock. shared_look: likewise, 1 for those that only look.
  std::vector<uint32_t> part = {};
  // split_lock: likewise the second part whose lock it takes, kAllParts, or its own part again: none. Empty: none does.
  static constexpr uint32_t kAllParts = UINT32_MAX;
  std::vector<uint32_t> also_part = {};
  // shorten_section: likewise, what moves out in front and behind. shared_look: in front, or empty.
  std::vector<int64_t> head_ns = {}, tail_ns = {};
  std::vector<int64_t> look_ns = {};  // shared_look: likewise, how long those look that change something

  // Target::pool and Target::machine
  model::PoolId pool = {};                   // none: of the machine
  uint32_t size_before = 0, size_after = 0;  // workers or cores
};

// Of critical sections.
inline Improvement section_improvement(Optimisation optimisation, std::vector<uint32_t> sections,
                                       std::vector<uint32_t> part = {}, std::vector<int64_t> head_ns = {},
                                       std::vector<int64_t> tail_ns = {}) {
  return {.optimisation = optimisation,
          .sections = std::move(sections),
          .part = std::move(part),
          .head_ns = std::move(head_ns),
          .tail_ns = std::move(tail_ns)};
}

}  // namespace contrafact::whatif
