// What the translator must know of an instruction: how it goes on, which memory it touches, and whether it can be
// copied.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "translate/decoder.h"
#include "translate/emitter.h"

namespace contrafact::translate {

enum class Flow : uint8_t {
  on,             // to the next instruction
  jump,           // to `target`
  condition,      // to `target` or the next, by the flags
  counter,        // the same by rcx: jrcxz, loop
  call,           // of `target`
  jump_indirect,  // to what the only operand says
  call_indirect,
  ret,
  system_call,
  native,  // not understood, or not to be copied: the thread leaves translated code here
};

struct MemoryAccess {
  MemoryAddress address;
  uint32_t size_bytes = 0;
  bool is_read = false;
  bool is_written = false;
  bool is_local = false;  // the address counts from the thread pointer
};

inline constexpr int kAccessesMax = 2;

// How the value that a write leaves is found out, to compare it with the one before.
enum class NewValue : uint8_t {
  unknown,    // not: vectors, several accesses, masks, and whatever gives memory away to other threads (locked, xchg)
  source,     // a register's, known before
  immediate,  // the same
  memory,     // by looking there afterwards
};

// Which changes of memory an instruction's change of it commutes with, if nobody uses the outcome.
enum class Commutes : uint8_t { with_none, with_additions, with_setting_bits, with_clearing_bits };

struct Analysis {
  Flow flow = Flow::on;
  uint64_t target = 0;
  // Its accesses are computed in C++ before it runs (add_hooked_accesses): index vectors, bit strings, %gs, save areas.
  bool needs_hook = false;
  bool is_repeated = false;  // rep movs and the like: the accesses are a pointer's way
  Commutes commutes = Commutes::with_none;
  bool is_atomic_addition = false;         // with a lock prefix: one of these, and, or, xor, xadd
  bool fetches = false;                    // likewise, xadd
  NewValue new_value = NewValue::unknown;  // of a write of 1, 2, 4 or 8 bytes, the only access
  Register source = no_register;
  uint64_t immediate = 0;
  bool is_rip_relative = false;
  int accesses = 0;
  MemoryAccess access[kAccessesMax];
};

Analysis analyse(const Instruction& instruction);

// Threads have registered restartable sequences of their own, described at that distance from %fs; those of the C
// library are known. What begins one runs natively from now on. Any thread.
void add_restartable_area(ptrdiff_t from_thread_pointer);

// The general register that is, or holds, `reg`; no_register for all others.
Register general_register(ZydisRegister reg);
// A constant place at or behind the thread pointer: the C library's own of the thread, such as the stack's guard.
bool is_in_control_block(const ZydisDecodedOperand& operand);
// Bits of the general registers that the instruction reads or writes, hidden ones too.
uint32_t registers_used(const Instruction& instruction);

// No later instruction can see the flags that `instruction` sets: they are overwritten, or the function ends. Looks
// ahead a few instructions, within the code that is known to be there.
bool are_flags_unused(const Instruction& instruction, uint64_t code_begin, uint64_t code_end);

}  // namespace contrafact::translate
