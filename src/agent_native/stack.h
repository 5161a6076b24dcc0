// The callers of a call site, by the unwinder that exceptions use. Needs no frame pointers; since glibc 2.35 it finds
// its tables without a lock and allocates nothing. Takes some microseconds; some nanoseconds where the thread's stack
// is as it was at one of its latest walks.
#pragma once

#include <cstdint>
#include <span>

#include "recorder/recorder.h"

namespace contrafact::agent_native {

struct StackFrame {
  uint64_t address;        // where a call returns to, in the frame's function
  uint64_t stack_pointer;  // of that function, behind the return

  // Where the address lies, and what lies there now. REQUIRES: it is on the thread's stack.
  uint64_t slot() const { return stack_pointer - sizeof(uint64_t); }
  uint64_t content() const { return *reinterpret_cast<const volatile uint64_t*>(slot()); }
};

// The function that `site` lies in and its callers, innermost first; empty if the site is not on the stack. Valid until
// the thread's next walk. REQUIRES: the thread is inside (Inside).
std::span<const StackFrame> walk_stack(uint64_t site);
// A function begins there, as far as the unwinder's tables know.
bool is_function(uint64_t address);
// Makes the unwinder ready: its first walk ends with a system call, which a program that has restricted itself may not
// make.
void prepare_walks();

// The callers in such a walk, for the client's next event with a CONTEXT.
void append_callers(recorder::Client* client, std::span<const StackFrame> frames);

}  // namespace contrafact::agent_native
