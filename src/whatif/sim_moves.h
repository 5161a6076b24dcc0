// Operations that come earlier or later in a variant than in the recording: waits behind all that is handed out, permits
// that are given back before something else. Pure; linear in the operations.
#pragma once

#include <cstdint>
#include <vector>

#include "whatif/sim_sections.h"

namespace contrafact::whatif {

// The events at which permits are given, in their order: what EarlierGive::number counts.
std::vector<uint32_t> permit_gives(const model::Trace& trace);

// Rewrites the plan's operations, or the program's where the plan has none.
//
// A wait for a task of Variant::waits_later comes behind the last task of its batch. A batch is what one task, or one
// thread outside of tasks, hands out of these, in its order. Where these are handed out at several places, a new batch
// begins where a place comes again: the code that hands them out runs again, and what it did before is over. Of a single
// place all are one batch, for that is a loop.
//
// What a section of Variant::blocks_outside blocks for comes before it takes its lock: for how long the lock is held counts, not
// when.
//
// The time between two operations stays where it is.
void move_operations(const SimProgram& program, const Variant& variant, SectionPlan& plan);

}  // namespace contrafact::whatif
