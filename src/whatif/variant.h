// A variant: what a set of improvements makes of a program, as the simulation reads it. An overlay over the recorded
// run: empty members stay as recorded. Plain data.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/section_order.h"
#include "whatif/improvement.h"
#include "whatif/section_edit.h"

namespace contrafact::whatif {

struct PoolSize {
  model::PoolId pool;
  uint32_t workers = 0;
};

// Threads of the program's own that serve requests, by what their names have in common.
struct ThreadSize {
  std::string threads;
  uint32_t count = 0;
};

// Of these tasks, `size` neighbours become one (task_groups.h).
struct TaskMerge {
  std::vector<model::TaskId> tasks;
  uint32_t size = 1;
};

// Each of these tasks becomes about this many, which share its work evenly (task_parts.h).
struct TaskSplit {
  std::vector<model::TaskId> tasks;
  uint32_t parts = 1;
};

struct Variant {
  std::vector<Treatment> treatments = {};  // by task
  std::vector<SectionEdit> edits = {};     // parallel to model::critical_sections(trace)
  // Parallel to the sections: the factor by which a section's time on a core differs from the recorded one, whether
  // inside or moved outside. Below 1 where recording made the section longer.
  std::vector<float> cpu_scales = {};
  std::vector<TaskMerge> merges = {};
  std::vector<TaskSplit> splits = {};
  std::vector<PoolSize> pool_sizes = {};
  std::vector<ThreadSize> thread_sizes = {};    // known to simulations of loads alone
  std::vector<bool> waits_later = {};           // by task (sim_moves.h)
  std::vector<bool> blocks_outside = {};        // by section
  std::vector<EarlierGive> earlier_gives = {};  // sorted by number
  uint32_t cores = 0;                           // 0: those of SimulateOptions
  // Sections of the locks in `ordered` (by lock) keep this order and no other (LockRule::ordered); they have no edits.
  // Null: no lock does.
  std::shared_ptr<const graph::SectionOrder> order = nullptr;
  std::vector<bool> ordered = {};

  bool changes_nothing() const {
    return treatments.empty() && edits.empty() && cpu_scales.empty() && merges.empty() && splits.empty() &&
           pool_sizes.empty() && thread_sizes.empty() && !moves() && cores == 0 && !order;
  }
  bool changes_locks_alone() const {
    return treatments.empty() && merges.empty() && splits.empty() && pool_sizes.empty() && thread_sizes.empty() &&
           !moves() && cores == 0;
  }
  bool moves() const { return !waits_later.empty() || !earlier_gives.empty() || !blocks_outside.empty(); }
};

// The improvements made together; `sections` are model::critical_sections(trace). Later improvements of sections change
// what earlier ones left. Errors: two improvements treat one task differently; a task or section does not exist; a
// section was never held, or an earlier improvement has dropped its lock, or a wait at a condition needs it; two sizes
// for one pool, or two numbers of cores.
base::Result<Variant> variant_of(const model::Trace& trace, std::span<const model::CriticalSection> sections,
                                 std::span<const Improvement> improvements);

}  // namespace contrafact::whatif
