// The way from translated code into C++ and back: saves all registers of the program, blocks its signals, changes to
// the thread's private stack, calls Translator::serve(), and goes on where serve() said.
//
// Thread safety: each thread is on its own way. fix_slow_path() is for handlers on the thread that was interrupted.
#pragma once

#include <ucontext.h>

#include <cstdint>

#include "translate/thread.h"

namespace contrafact::translate {

extern "C" {
// Jumped to from the cache, with the Thread in rax and the program's rax in slot 3; all else is the program's.
void contrafact_translate_slow();
// Where it jumps in the end: code in the cache that jumps to ThreadState::jump. Set before any thread comes here.
extern __attribute__((visibility("hidden"))) uint64_t contrafact_translate_continue;
}

// Where a signal's context has the registers, in the machine's order.
inline constexpr int kContextOrder[kRegisters] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                                  REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                                  REG_R12, REG_R13, REG_R14, REG_R15};

// If `pc` is on the way: gives `registers` those of the program, which is at ThreadState::target. `stub` is where the
// code in the cache that leads there begins. False if it lies elsewhere.
bool fix_slow_path(uint64_t pc, uint64_t stub, greg_t* registers);

}  // namespace contrafact::translate
