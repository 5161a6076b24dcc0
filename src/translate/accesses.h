// The accesses of instructions that translated code does not compute itself, from the registers before they run.
//
// Thread safety: pure functions of their arguments.
#pragma once

#include "translate/instruction.h"
#include "translate/thread.h"

namespace contrafact::translate {

// Adds them to the thread's segment. False if some are not known.
bool add_hooked_accesses(const Instruction& instruction, Thread& thread);

}  // namespace contrafact::translate
