// ThreadState: what generated code keeps of a thread, in static thread-local memory that it reaches through %fs; and
// Thread, the larger part, on pages of its own. The layouts are shared between C++ and the code that emitter.h writes.
//
// Thread safety: each thread has its own. A signal's handler on the same thread may read `mode` at any time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "translate/heap_lives.h"
#include "translate/segment.h"

namespace contrafact::translate {

// Where the thread is. Only from `native`, and from `calling` at the function that was called, may it enter the cache:
// in all other modes the slots below may hold the program's registers, and the caller is a signal's handler.
enum class Mode : uint32_t {
  native,            // in the program's own code
  in_cache,          // in translated code
  calling,           // in a function that runs natively and may go on in the cache when it returns (CallKind::call_out)
  gate,              // in a function that runs natively and returns into the cache (CallKind::call_and_return)
  gate_interrupted,  // the same, and a signal's handler came, which may have left it for good
  slow,              // in C++, on behalf of translated code
};

// Why a thread is not, or no longer, in translated code.
enum class Reason : uint32_t {
  none,
  generated_code,  // it lies where code may change: writable or anonymous memory
  unsupported,     // an instruction that is not translated
  cache_full,
  system_call,  // one that must run at its own address: fork, exec, exit, sigreturn, ...
  signal,       // a handler came in between
  long_section,
  not_resumed,      // a native function did not come back
  disabled,         // the translator was turned off, or this is a forked child
  gather,           // accesses of an instruction were not all computed; the thread stays in the cache
  unknown_effect,   // a system call whose effect on memory is not known; the thread stays in the cache
  overflow,         // the segment's set is full: what follows in it is not worth its cost
  not_wanted,       // the sink said so
  called_natively,  // a native function called the program's own code and came back: the thread stays in the cache
};
inline constexpr uint32_t kReasons = 14;

// What translated code asks C++ for.
enum class Request : uint32_t { dispatch, log_full, before_instruction, after_system_call, leave };

struct Thread;

struct ThreadState {
  uint64_t slot[4];      // registers of the program, spilled
  uint64_t log;          // lowest entry of the log (log.h)
  uint64_t target;       // address in the program where to go on
  uint64_t jump;         // where generated code jumps last
  uint64_t resume_sp;    // calling: where the return address lies
  uint64_t gate_return;  // gate: the return address
  uint64_t gate_sp;      // gate: where it lies
  uint64_t link;         // number of the link that a dispatch came through, plus one; 0: none
  uint64_t minus_frame;  // the negative of the stack pointer where the segment began: code there is its own function
  Thread* thread;
  Mode mode;
  Request request;
  Reason left;         // of the current segment: the first reason that something is missing
  uint8_t is_outside;  // of the current segment, the thread went on natively: what it accesses is not logged
  uint8_t reserved[3];
};

// Where a segment is cut: what was logged at `log` and above came before `clock`, the processor's, and before a call
// that returns to `call`, or after it.
struct Cut {
  uint64_t log;
  uint64_t clock;
  uint64_t call;
  bool is_after;
};
inline constexpr size_t kCutsMax = 16;

inline constexpr size_t kRegisters = 16;
// Of it the translator needs 16 KiB; the rest is for the handler of a fault in it.
inline constexpr size_t kPrivateStackBytes = 256 << 10;
inline constexpr size_t kXsaveBytesMax = 4096;  // of the components that C++ may change: AVX-512 ends at 2,696

// The registers of the program while C++ works for it; slow_path.cc's assembly knows the offsets. The private stack
// ends where it begins.
struct alignas(64) Thread {
  uint8_t xsave[kXsaveBytesMax];
  uint64_t registers[kRegisters];  // in the machine's order: rax rcx rdx rbx rsp rbp rsi rdi r8 ...
  uint64_t flags;
  uint64_t xsave_mask;
  uint64_t signal_mask;      // the program's, while C++ works for it with all signals blocked
  uint64_t asks_kernel;      // 1 while it is in slow_path.cc, where system calls of ours are made
  uint64_t may_not_ask;      // 1: it must leave translated code without any (kernel_calls.h)
  const ThreadState* state;  // in the thread's own memory
  class Translator* translator;
  Thread *next, *previous;  // of the translator's threads
  uint64_t log_top;         // of the empty log
  uint64_t mapping_bytes;
  uint64_t mapping;
  uint64_t stack_begin, stack_end;  // of the program's stack; 0: unknown
  uint64_t segment_begin_sp;        // stack pointer at the segment's begin
  bool system_call_runs;            // it may have been executed, and its effect was not noted yet
  uint32_t system_call_expected;    // what Translator::expect() said of it
  long system_call[7];              // number and arguments of the one that runs
  uint64_t log_end;                 // below it is what the segment does not have yet
  Cut cuts[kCutsMax];               // of the segment that ended, the newest first
  size_t cut_count;
  Segment segment;
  SegmentBlocks blocks;
  Access named[Segment::kRangesMax];  // the segment's, with lives in their addresses
};
static_assert(offsetof(Thread, registers) == 4096 && offsetof(Thread, flags) == 4224 &&
              offsetof(Thread, xsave_mask) == 4232 && offsetof(Thread, signal_mask) == 4240 &&
              offsetof(Thread, asks_kernel) == 4248 && offsetof(Thread, may_not_ask) == 4256 &&
              offsetof(Thread, state) == 4264);
static_assert(offsetof(ThreadState, slot[3]) == 24 && offsetof(ThreadState, target) == 40 &&
              offsetof(ThreadState, jump) == 48 && offsetof(ThreadState, mode) == 104 &&
              offsetof(ThreadState, left) == 112 && offsetof(ThreadState, is_outside) == 116 &&
              static_cast<int>(Mode::native) == 0 && static_cast<int>(Reason::disabled) == 8);

// Pages for a thread, all zero but for the log's place and that of the mapping; null if there are none.
Thread* map_thread();
void unmap_thread(Thread* thread);

// In the static block, so that its distance from %fs is the same in every thread.
extern thread_local constinit ThreadState t_thread __attribute__((tls_model("initial-exec")));

}  // namespace contrafact::translate
