// Translator: runs a thread's code translated, from a return address on, and gathers what it reads and writes.
//
// The owner preloads functions into a program. When one of them has taken a lock it calls enter() and returns to the
// address that it got, in the code cache, instead of its caller's. From there on all that the thread runs is
// translated, into and out of libraries, until it calls one of the owner's functions (add_native): that one runs
// natively, and comes back into the cache by enter() or not at all.
//
// The program's stack holds the program's own return addresses, always. So the thread can go on natively at any
// instruction, and does whenever something is not understood; only the log ends there (ThreadState::left says why). A
// signal's handler that is announced with fix_context() sees the program as if it ran natively, and from there on the
// program does: exceptions, cancellation and longjmp out of handlers need nothing else.
//
// Not known here: locks, traces, threads' creation.
//
// Thread safety: all of it, but for what is said to concern the current thread. Translation is serialised; translated
// code runs without a lock. Allocates nothing after create() but pages. In a forked child: disable() at once.
#pragma once

#include <ucontext.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "base/result.h"
#include "translate/cache_door.h"
#include "translate/code_cache.h"
#include "translate/code_regions.h"
#include "translate/heap_lives.h"
#include "translate/instruction.h"
#include "translate/kernel_calls.h"
#include "translate/kernel_state.h"
#include "translate/thread.h"

namespace contrafact::translate {

struct Options {
  bool translates = true;  // else nothing ever enters the cache, and segments are what is noted
  size_t cache_bytes = size_t{64} << 20;
  uint64_t segment_accesses_max = 1 << 20;  // a longer segment goes on natively
  // Called in a segment before its log is emptied, where that is full or before an instruction that is executed apart,
  // with the program's stack pointer: the last chance to cut what the log holds (cut_segment). May be null.
  void (*before_flush)(uint64_t stack_pointer) = nullptr;
};

struct Statistics {
  uint32_t blocks = 0;
  uint64_t code_bytes = 0;
  uint64_t removed_blocks = 0;
  uint64_t clears = 0;           // how often the full cache was emptied
  uint64_t left[kReasons] = {};  // how often, by Reason
};

class Translator {
 public:
  // Asks the loader what is loaded.
  static base::Result<std::unique_ptr<Translator>> create(const Options& options);
  ~Translator();
  Translator(const Translator&) = delete;
  Translator& operator=(const Translator&) = delete;

  // In a forked child, whose cache is its parent's: another one, which knows of the owner what `parent` knew.
  static base::Result<std::unique_ptr<Translator>> create_in_child(const Translator& parent);

  // The owner's code. Before the first enter().
  void add_native(uint64_t begin, uint64_t end) { regions_.add_native(begin, end); }
  // A function that runs natively and whose accesses are not of interest; it must return, and neither unwind nor be
  // cancelled: an allocator's. `stand_in` is called instead, and may note() what is of interest. Before the first
  // enter().
  void add_gate(uint64_t function, uint64_t stand_in);

  // The current thread.
  // Pages for it; false if there are none. [stack_begin, stack_end): its own stack; empty if unknown.
  bool attach(uint64_t stack_begin, uint64_t stack_end);
  void detach();
  // The same in a forked child.
  void detach_in_child();
  bool is_attached() const { return t_thread.thread != nullptr; }
  // A segment begins; and ends, which yields the accesses in between. Memory below both stack pointers came into being
  // and went within the segment, and is left out, unless one of the two lies outside of the thread's own stack:
  // anything may lie below a coroutine's or a signal's. Valid until the next segment begins.
  void begin_segment(uint64_t stack_pointer);
  // One in whose place the next begins: as if at the same stack pointer.
  void continue_segment() { restart_segment(t_thread.thread->segment_begin_sp); }
  // Cuts the segment into parts; `begin` and `end` are its times, by the processor's clock. Cuts lie where the function
  // that began it, or a caller of that function, calls another one or gets back from it: at calls and returns
  // `ticks_min` or more apart, not before `earliest`, and no more than kCutsMax. Returns how many there are. As many
  // calls of next_part() yield the accesses up to each `cut`, the oldest first, and end_segment() the rest. The first
  // part has all accesses up to the last that was added by hand or preceded an emptying of the log: cut before adding
  // by hand, and in Options::before_flush.
  size_t cut_segment(uint64_t begin, uint64_t end, uint64_t ticks_min, uint64_t earliest);
  std::span<const Access> next_part(uint64_t stack_pointer, Cut* cut, bool* overflown);
  std::span<const Access> end_segment(uint64_t stack_pointer, bool* overflown);
  // Where to return to instead of `return_address`. REQUIRES: attached, mode native or the function that was called.
  uint64_t enter(uint64_t return_address);
  // Adds to the segment what a native function read or wrote for the program.
  void note(const void* begin, uint64_t length_bytes, uint32_t flags);
  // The same for a function that stood for a system call: its number and arguments, and the result.
  void note_system_call(const long* call, long result);
  // An allocator, called by a gate, has handed out a block; is about to take one back (heap_lives.h).
  void note_allocated(const void* block, uint64_t bytes);
  void note_freed(const void* block, uint64_t bytes);
  // The same of any thread, outside of segments.
  void note_freed_outside(const void* block, uint64_t bytes) { lives_.begin(reinterpret_cast<uint64_t>(block), bytes); }
  // It moved one: `life` is life_of(block) before that.
  void note_moved(uint64_t block, uint64_t bytes, uint16_t life);
  uint16_t life_of(uint64_t block) const { return lives_.at(block); }
  // Only what the call did to the kernel's state (kernel_state.h): what it did to memory is noted otherwise.
  void note_kernel_state(const long* call, long result);
  // Outside of segments: which descriptors it made.
  void note_descriptors(const long* call, long result) { translate::note_descriptors(call, result, open_files_); }
  // Every access of the thread from here on goes to `sink`, in order, at the latest with flush(). Null: no longer.
  void stream_to(AccessSink* sink);
  void flush();
  // The segment is over and none begins: only the sink gets what follows.
  void pause_segment();
  // Something is missing in the segment from here on.
  void note_gap(Reason reason);

  // The current thread was interrupted by a signal at `context`. If that is in translated code, changes the context to
  // the program's own address and registers, where the thread then goes on natively.
  bool fix_context(ucontext_t* context);
  bool is_in_cache(uint64_t address) const { return cache_->holds(address); }

  // The program is about to make a system call, which may change which code lies where; `call`: its number and
  // arguments. No thread that comes to that code from here on runs what was translated of it: where the memory goes,
  // another thread may have other code there before this one is back. Returns what invalidate_by() wants.
  uint32_t expect(const long* call);
  // The call has returned `result`.
  void invalidate_by(const long* call, long result, uint32_t expected);
  // The same around what may unload libraries. Code of those that the program has loaded itself runs natively
  // meanwhile.
  void begin_unload();
  void end_unload();
  // The program is about to restrict its system calls: nothing enters the cache any more, and none of its threads makes
  // a system call for the Translator once this returns. A thread that is in translated code leaves it where it would
  // need one. Waits for threads that are in one, kForbidMs at most: one that left the slow path for good, by a jump out
  // of an unknown handler, would never come. Memory of threads that end later is kept.
  void forbid_kernel_calls();
  // The restriction has failed: takes that back. False if nothing enters the cache any more all the same, because
  // another restriction has not failed, or a thread would have needed a system call meanwhile.
  bool allow_kernel_calls();
  // For the owner's own system calls on the program's threads.
  KernelCalls& kernel_calls() { return kernel_calls_; }
  // Nothing enters the cache any more.
  bool is_disabled() const { return door_.is_disabled(); }
  void disable() { door_.disable(); }
  // Forgets all translated code, soon: at an enter() of any thread while none is in the cache (cache_door.h). Done when
  // the cache is full.
  void clear();

  Statistics statistics() const;

  // Called by translated code.
  void serve(Thread& thread);

 private:
  Translator() = default;
  static base::Result<std::unique_ptr<Translator>> create_empty(const Options& options);
  base::Status make_stubs();
  bool is_usable() const;
  bool may_enter();
  void try_clear(int64_t now_ns);
  uint64_t resolve(uint64_t guest, Reason& reason);
  uint64_t translate(uint64_t guest, Reason& reason);
  void change_mappings(const long* call, uint32_t expected, std::span<const MappingChange> made);
  void remove_code(uint64_t begin, uint64_t end);
  void leave(Reason reason);
  void restart_segment(uint64_t stack_pointer);
  std::span<const Access> named_ranges(Thread& thread, bool* overflown);
  void go_on_natively();
  bool any_thread_asks_kernel();
  void flush_log(Thread& thread);
  Reason full_segment(const Thread& thread) const;
  void serve_dispatch();
  void before_flush(const Thread& thread);
  void serve_log_full(Thread& thread);
  void serve_instruction(Thread& thread);
  bool before_system_call(Thread& thread);
  void after_system_call(Thread& thread);

  static constexpr size_t kGatesMax = 64;
  static constexpr int64_t kForbidMs = 2'000;

  Options options_;
  std::unique_ptr<CodeCache> cache_;
  CodeRegions regions_;
  struct Gate {
    uint64_t function, stand_in;
  };
  Gate gates_[kGatesMax];
  size_t gate_count_ = 0;
  uint64_t slow_stub_ = 0;
  int32_t state_offset_ = 0;
  uint64_t xsave_mask_ = 0;
  int process_ = 0;
  std::atomic<int> lock_{0};
  CacheDoor door_;
  KernelCalls kernel_calls_;
  OpenFiles open_files_;
  HeapLives lives_;
  size_t stub_end_ = 0;
  uint64_t default_lookup_ = 0;
  Thread* threads_ = nullptr;
  std::atomic<uint64_t> clears_{0};
  std::atomic<uint64_t> removed_{0};
  std::atomic<uint64_t> left_[kReasons] = {};
};

}  // namespace contrafact::translate
