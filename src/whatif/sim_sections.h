// From edits of critical sections to what the machine executes: the program's operations with locks replaced, left out,
// or moved past CPU time; and the state in which each lock begins. Pure; linear in the operations.
#pragma once

#include <span>
#include <vector>

#include "whatif/section_edit.h"
#include "whatif/sim_lock.h"
#include "whatif/sim_program.h"

namespace contrafact::whatif {

struct SectionPlan {
  base::Column<Op> ops;       // empty: the program's own, with its fibers
  std::vector<Fiber> fibers;  // by fiber, into `ops`
  std::vector<SimLock> locks;
  std::vector<uint32_t> made_from;  // by lock beyond the trace's: the recorded one whose sections it has
  std::vector<uint32_t> need;       // by section, under LockRule::recorded: see sim_lock.h
};

// `cpu_scales`: see Variant. REQUIRES: `edits` and `cpu_scales` are empty or parallel to program.sync.sections.
SectionPlan plan_sections(const SimProgram& program, std::span<const SectionEdit> edits, LockRule rule,
                          std::span<const float> cpu_scales = {});

}  // namespace contrafact::whatif
