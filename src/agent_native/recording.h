// What an interposer does to record: asks for the current thread's client, and appends events with it.
//
// A thread is `inside` while the recorder runs on it: whatever it calls meanwhile, and whatever a signal's handler
// calls there, goes through unrecorded. So neither can meet a half-written event or a lock of the recorder's own.
//
// A signal's handler may fork, between any two instructions. The child may then return into the interrupted interposed
// function with its parent's client, in memory that both share. So every append asks, once nothing can come between,
// whether the client is still its thread's own (is_own, Appending): a child appends nothing with its parent's client,
// and nothing for what its parent began. Code behind a call of the C library's function must ask this itself before it
// does more than append, such as read the clock, which a handler may have forbidden. A child forked inside gets a copy
// of its parent's memory (SharedLog::keep_to_this_process).
//
// Thread safety: all of it concerns the current thread. Cost: recording() is a load and a compare; an event about 15
// ns, a lock event that repeats an earlier one some 6 beside the clock.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

#include "agent_native/agent.h"
#include "agent_native/event_costs.h"
#include "agent_native/sets.h"
#include "recorder/event_clock.h"
#include "recorder/recorder.h"
#include "recorder/texts.h"

namespace contrafact::agent_native {

using format::BlockReason;
using format::EventKind;
using format::LockKind;
using format::Outcome;
using recorder::Client;
using recorder::Recorder;

struct ThreadLocal {
  Client* client = nullptr;                   // null: not attached
  recorder::RememberedPair* pairs = nullptr;  // the client's
  bool inside = false;
  bool over = false;          // the thread is not, or no longer, to be recorded
  bool has_no_clock = false;  // it may not read the processor's counter, nor may threads that it makes
  int until_timed = 0;        // events, until one is timed (event_costs.h); below 0: none was timed yet
  int64_t timed_since_ns = 0;
  int64_t last_event_ns = 0;
};
// The recording's clock; the kernel's before it begins.
struct EventTime {
  const recorder::EventClock* of;
  int64_t now_ns() const { return of->now_ns(); }
  int64_t earlier_ns() const { return of->earlier_ns(); }
};
extern constinit EventTime g_clock;

// Not a forked child's copy of the process.
inline bool is_original() {
  return g_original.is_original.load(std::memory_order_relaxed) != 0;
}

// In the static block: a thread that is being made has it already.
extern thread_local constinit ThreadLocal t_local __attribute__((tls_model("initial-exec")));

Client* recording_slow();

// The client to append with; null if this call is not to be recorded. Attaches a thread that is not attached yet.
inline Client* recording() {
  ThreadLocal& local = t_local;
  if (local.client != nullptr && !local.inside && is_original()) [[likely]]
    return local.client;
  return recording_slow();
}

// Whether the thread may append with the client that recording() gave it before: it is this process's, and recorded as
// before. A thread has one client in its life, a forked child another one. REQUIRES: `client` is not null.
inline bool is_own(const Client* client) {
  return t_local.client == client && is_original();
}

// The scope in which the thread is inside. Preserves errno: the program must not see ours.
class Inside {
 public:
  Inside() : errno_(errno), before_(t_local.inside) {
    t_local.inside = true;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~Inside() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    t_local.inside = before_;
    errno = errno_;
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  const int errno_;
  const bool before_;
};

// The scope in which the thread is not cancelled, whatever it calls: in functions of the program's that are no
// cancellation points, as fork.
class NotCancelled {
 public:
  NotCancelled() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~NotCancelled() { pthread_setcancelstate(before_, nullptr); }
  NotCancelled(const NotCancelled&) = delete;
  NotCancelled& operator=(const NotCancelled&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

// Inside, in order to append; false if the thread must not append with `client`.
class Appending {
 public:
  explicit Appending(const Client* client) : may_append_(is_own(client)) {}
  explicit operator bool() const { return may_append_; }

 private:
  const Inside inside_;  // first: nothing comes between the question and the scope's end
  const bool may_append_;
};

// Where the interposed function was called. Only in the interposer itself.
#define CONTRAFACT_SITE reinterpret_cast<uint64_t>(__builtin_return_address(0))

// Begins to time the event that is appended next; ends it. Nothing of that lies on the stack meanwhile, which may be small.
[[gnu::cold, gnu::noinline]] void begin_timed();
[[gnu::cold, gnu::noinline]] void end_timed(EventKind kind, bool reads_clock);

// Calls what appends one event, and times one call in kTimedPeriod. `reads_clock`: it reads the event's time itself, which
// its caller has done otherwise. REQUIRES: inside, in order to append.
template <typename Append>
[[gnu::always_inline]] inline void append_timed(EventKind kind, bool reads_clock, Append append_it) {
  if (--t_local.until_timed == 0) [[unlikely]]
    begin_timed();
  append_it();
  if (t_local.until_timed <= 0) [[unlikely]]
    end_timed(kind, reads_clock);
}

template <typename... Words>
inline void append(Client* client, EventKind kind, int64_t time_ns, Words... words) {
  t_local.inside = true;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (is_own(client)) [[likely]] {
    append_timed(kind, false,
                 [&] { Recorder::append_addressed(client, recorder::addressed_call(kind), time_ns, words...); });
    t_local.last_event_ns = time_ns;
  }
  std::atomic_signal_fence(std::memory_order_seq_cst);
  t_local.inside = false;
}

// An event with LOCK and CONTEXT.
inline void append_lock(Client* client, EventKind kind, int64_t time_ns, uint64_t lock, uint64_t site) {
  if (sets_are_on()) {
    const bool taken = kind == EventKind::lock_acquire || kind == EventKind::lock_acquire_shared;
    sets_before_event(client, kind, time_ns, lock, taken);
  }
  append(client, kind, time_ns, lock, lock >> 32, site, site >> 32);
}
// The same for an event that is appended again and again; `now` returns the time.
template <typename Now>
[[gnu::always_inline]] inline void append_lock_again(Client* client, EventKind kind, uint64_t lock, uint64_t site,
                                                     Now now) {
  if (sets_are_on()) return append_lock(client, kind, now(), lock, site);
  ThreadLocal& local = t_local;
  local.inside = true;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (is_own(client)) [[likely]] {
    append_timed(kind, kind != EventKind::lock_release,
                 [&] { local.last_event_ns = Recorder::append_pair(client, local.pairs, kind, lock, site, now); });
  }
  std::atomic_signal_fence(std::memory_order_seq_cst);
  local.inside = false;
}
// One with LOCK and OUTCOME.
inline void append_outcome(Client* client, EventKind kind, int64_t time_ns, uint64_t lock, Outcome outcome) {
  if (sets_are_on()) {
    const bool acquired = kind == EventKind::lock_acquired || kind == EventKind::lock_acquired_shared;
    sets_before_event(client, kind, time_ns, lock, acquired && outcome == Outcome::normal);
  }
  append(client, kind, time_ns, lock, lock >> 32, static_cast<uint32_t>(outcome));
}

// Appends the callers of `site`, for the next event with a CONTEXT. Only for calls that block anyway: it costs half a
// microsecond.
void append_stack(Client* client, uint64_t site);

// If the current thread is recorded.
void append_text(recorder::TextKind kind, uint32_t number, std::string_view key, std::string_view value);

inline Outcome outcome_of(int error) {
  if (error == 0 || error == EOWNERDEAD) return Outcome::normal;
  if (error == ETIMEDOUT) return Outcome::timeout;
  return error == EINTR ? Outcome::interrupted : Outcome::exception;
}

}  // namespace contrafact::agent_native
