// Read and write sets of critical sections: between an interposed lock and the unlock after which the thread holds
// none, the thread runs translated (translate/translator.h), and each lock event is preceded by an `accesses` event
// with what was read and written since the last one.
//
//   program          interposer (native)                       program, translated
//   lock(m) ───────> SetsCall  real lock, lock_acquire
//                    ~SetsCall return address := code cache ─> counter++ ... write(fd, ...) ─┐
//                    SetsCall  real write, its effect noted <────────────────────────────────┘
//                    ~SetsCall return address := code cache ─> ... unlock(m) ─┐
//                    SetsCall  real unlock, accesses, lock_release <──────────┘
//   ...       <───── ~SetsCall
//
// Every interposer that translated code may call begins with CONTRAFACT_CALLED. One that does not is safe: the thread
// then goes on natively and the set says so.
//
// Where every access of every thread is wanted (Options::accesses), threads enter translated code at their beginning
// and with each interposed call's return, whether they hold a lock or not, and what they access goes into the thread's
// AccessLog (access_log.h); the sets of critical sections are gathered beside it.
//
// Thread safety: all of it concerns the current thread, but for what says otherwise. Cost where sets are not asked for:
// one load and a branch.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent_native/options.h"
#include "base/result.h"
#include "format/access_set.h"
#include "format/event.h"
#include "recorder/recorder.h"

namespace contrafact::translate {
class Translator;
}  // namespace contrafact::translate

namespace contrafact::agent_native {

struct SetsThread;

// Set once, before threads exist.
extern std::atomic<bool> g_sets;
inline bool sets_are_on() {
  return __builtin_expect(g_sets.load(std::memory_order_relaxed), 0);
}

// Makes the translator and lets signal handlers see the program as it is. The error says what is missing.
base::Status begin_sets(const Options& options);
// No thread enters translated code any more.
void end_sets();
// The same, and no system call is made for them once this returns (translate/kernel_calls.h).
void forbid_kernel_calls_of_sets();
// The restriction has failed. False if the sets have ended all the same.
bool allow_kernel_calls_of_sets();
bool sets_may_ask_kernel();
// The program asked the kernel for restartable sequences of its own, described at `area`.
void note_restartable_area(const void* area);
// In a forked child, whose code cache is its parent's: it records no sets.
void end_sets_in_child();
// When the child is recorded itself: it records sets again if its parent did. Not where it shares its parent's code
// cache: a signal's handler forked, and had interrupted the recorder or the way into translated code. Asks the loader
// nothing, because another thread of the parent may have held its lock.
base::Status begin_sets_in_child();
// Counts for `info`, as they are now. In a signal's handler, too.
void count_sets();
// Where the sets come from, for `info`. REQUIRES: the current thread, the client's, is inside.
void tell_sets(recorder::Client* client);
// Around what may unload libraries. Any thread.
void begin_unload_sets();
void end_unload_sets();
// Before and after a system call of the program's that may change which code lies where. `call`: its number and
// arguments; `expected`: what the first of the two returned. Any thread.
uint32_t expect_sets_change(const long* call);
void invalidate_sets_by(const long* call, long result, uint32_t expected);

// Whether the current thread is in a critical section that is observed.
bool is_in_observed_section();

// The current thread is about to be attached, and no handler of the program's runs on it. Where attaching comes first,
// as on threads that the C library makes for itself, the thread's own stack counts as memory like any other.
void prepare_to_attach_sets();
// The current thread is being attached, also in a handler; or ends. `from_its_beginning`: it has run no code of the
// program yet.
void attach_sets(recorder::Client* client, bool from_its_beginning);
void detach_sets();

// Where every access is wanted: sets_enter() gives the address to call instead of a thread's first `function`, so that
// it runs translated; sets_returned() follows its return. flush_sets() hands on the log before the recording ends.
uint64_t sets_enter(uint64_t function);
void sets_returned();
void flush_sets();

// A signal's handler of the program runs on the current thread, which was in an interposer, or in a function called
// there, not in translated code. The handler's accesses are not observed.
void sets_interrupted();

// An event with a LOCK is about to be appended: ends the segment before it. `taken`: it makes the thread hold the lock.
void sets_before_event(recorder::Client* client, format::EventKind kind, int64_t time_ns, uint64_t lock_word,
                       bool taken);

// An event of a block is about to be appended: a part of the segment ends at `time_ns`.
void sets_before_block(recorder::Client* client, int64_t time_ns);

// One call of an interposer. The return address lies behind the saved frame pointer.
class SetsCall {
 public:
  explicit SetsCall(void* frame) {
    if (sets_are_on()) begin(static_cast<uint64_t*>(frame) + 1);
  }
  ~SetsCall() {
    if (slot_) end();
  }
  SetsCall(const SetsCall&) = delete;
  SetsCall& operator=(const SetsCall&) = delete;

  // What the kernel read and wrote for the call, by the table of system calls: `number`, its result, its arguments.
  template <typename Result, typename... Arguments>
  Result effect(long number, Result result, Arguments... arguments) const {
    if (slot_) [[unlikely]] {
      const long call[7] = {number, (long)arguments...};  // integers and pointers of any type
      note(call, static_cast<long>(result));
    }
    return result;
  }
  // Only what it did to the kernel's state (translate/kernel_state.h): for calls whose effect on memory is noted apart.
  template <typename Result, typename... Arguments>
  Result kernel_effect(long number, Result result, Arguments... arguments) const {
    if (slot_) [[unlikely]] {
      const long call[7] = {number, (long)arguments...};
      note_kernel(call, static_cast<long>(result));
    }
    return result;
  }
  // The program's own code ran meanwhile, unobserved; or memory was touched in a way that is not known.
  void unobserved() const {
    if (slot_) [[unlikely]]
      note_unobserved();
  }
  // What the function reads or writes for its caller, noted at its begin.
  void reads(const void* begin, size_t bytes) const {
    if (slot_ && begin) [[unlikely]]
      note_read(begin, bytes);
  }
  void wrote(const void* begin, size_t bytes) const {
    if (slot_ && begin) [[unlikely]]
      note_written(begin, bytes);
  }

 private:
  friend struct SetsThread;
  friend void sets_before_event(recorder::Client*, format::EventKind, int64_t, uint64_t, bool);
  friend void sets_before_block(recorder::Client*, int64_t);
  void begin(uint64_t* slot);
  void end();
  void note(const long* call, long result) const;
  void note_kernel(const long* call, long result) const;
  bool notes_effects() const;
  void emit_parts() const;
  void log_until_now(SetsThread& thread) const;
  void note_unobserved() const;
  void note_range(const void* begin, size_t bytes, uint32_t flags) const;
  void note_read(const void* begin, size_t bytes) const;
  void note_written(const void* begin, size_t bytes) const;
  uint64_t stack_pointer() const { return reinterpret_cast<uint64_t>(slot_ + 1); }

  enum class From : uint8_t {
    translated,  // all since the last event was observed
    native,
    gate,     // the allocator, called by translated code: what is logged is whole, but must not go on from here
    foreign,  // a signal's handler, that interrupted translated code or us
  };
  uint64_t* slot_ = nullptr;  // of the return address; null: sets are off
  SetsCall* outer_ = nullptr;
  From from_ = From::native;
};

#define CONTRAFACT_CALLED const ::contrafact::agent_native::SetsCall called_(__builtin_frame_address(0))

}  // namespace contrafact::agent_native
