// From edits of critical sections to what the machine executes: the program's operations with locks replaced, left out,
// or moved past CPU time; and the state in which each lock begins. Pure; linear in the operations.
#pragma once

#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "whatif/section_edit.h"
#include "whatif/sim_lock.h"
#include "whatif/sim_program.h"
#include "whatif/variant.h"

namespace contrafact::whatif {

struct SectionPlan {
  base::Column<Op> ops;       // empty: the program's own, with its fibers
  std::vector<Fiber> fibers;  // by fiber, into `ops`
  std::vector<SimLock> locks;
  std::vector<uint32_t> made_from;  // by lock beyond the trace's: the recorded lock whose sections it takes over
  // Under LockRule::recorded, see sim_lock.h: by section for the first lock that it takes, by operation for others.
  std::vector<uint32_t> need;
  std::unordered_map<uint64_t, uint32_t> need_of_further;  // by lock_value, as if not shared
  // Under LockRule::ordered, by section: those before it; and the last one before it of its recorded thread and lock. A
  // pool may give the two to different threads.
  std::shared_ptr<const graph::SectionOrder> order;
  std::vector<uint32_t> own_before;
  std::vector<bool> never_over;  // by section: nothing ends it in the simulation, so no other one waits for it

  uint32_t need_of(uint64_t lock_value) const {
    if (need_of_further.empty()) return need[section_of(lock_value)];
    const auto further = need_of_further.find(whatif::lock_value(section_of(lock_value), lock_of(lock_value), false));
    return further == need_of_further.end() ? need[section_of(lock_value)] : further->second;
  }
};

// `cpu_scales`: see Variant. REQUIRES: `edits` and `cpu_scales` are empty or parallel to program.sync.sections.
SectionPlan plan_sections(const SimProgram& program, std::span<const SectionEdit> edits, LockRule rule,
                          std::span<const float> cpu_scales = {});
// That of a variant, with its order.
SectionPlan plan_sections(const SimProgram& program, const Variant& variant, LockRule rule);

}  // namespace contrafact::whatif
