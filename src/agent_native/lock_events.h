// The events around one acquisition, the same for every kind of lock. `Try` and `Wait` are the library's functions,
// bound to the lock; both return 0 or an error.
//
// The try comes first: a free lock costs one event and its time, and a failed try is what makes an acquisition
// contended. There is no try where it could hide what the library would report, or change the lock: there the library
// is called once (acquire_untried).
#pragma once

#include <time.h>

#include <algorithm>

#include "agent_native/lock_sites.h"
#include "agent_native/recording.h"

namespace contrafact::agent_native {

struct Acquisition {
  uint64_t lock;  // recorder::lock_word
  uint64_t site;
  bool shared = false;

  EventKind acquire() const { return shared ? EventKind::lock_acquire_shared : EventKind::lock_acquire; }
  EventKind request() const { return shared ? EventKind::lock_request_shared : EventKind::lock_request; }
  EventKind acquired() const { return shared ? EventKind::lock_acquired_shared : EventKind::lock_acquired; }
};

// A try failed because the lock is held.
constexpr bool is_busy(int error) {
  return error == EBUSY;
}
// The lock is held although the call returned an error: its last owner died.
constexpr bool is_held(int error) {
  return error == 0 || error == EOWNERDEAD;
}

// Where a lock is tried first, the library does not look at the clock and the time of a timed wait. Some functions
// refuse bad ones even if the lock is free: those functions are called without a try.
inline bool is_known_clock(clockid_t clock) {
  return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
}
inline bool is_sound_time(const timespec* until) {
  return until && until->tv_nsec >= 0 && until->tv_nsec < 1'000'000'000;
}

// The callers' walk takes 1.5 KiB of the stack, so what lies above it on the stack is kept small (harm_stacks): these
// are functions of their own, and so is acquire_busy().
void append_lock_apart(Client* client, EventKind kind, int64_t time_ns, uint64_t lock, uint64_t site);  // append_lock()
void append_request(Client* client, const Acquisition& what);
void append_end_of_wait(Client* client, const Acquisition& what, int waited);

void append_watched_acquire(Client* client, const Acquisition& what);

inline void append_acquire(Client* client, const Acquisition& what) {
  if (is_asked(what.site)) [[unlikely]]
    return append_watched_acquire(client, what);
  append_lock_again(client, what.acquire(), what.lock, what.site, [] { return g_clock.now_ns(); });
}

// The lock was busy.
template <typename Wait>
[[gnu::noinline]] int acquire_busy(Client* client, const Acquisition& what, Wait wait) {
  append_request(client, what);
  const int waited = wait();
  if (is_own(client)) append_end_of_wait(client, what, waited);
  return waited;
}

// REQUIRES, here and below: `client` was recording() before the library's function is called.
template <typename Try, typename Wait>
inline int acquire(Client* client, const Acquisition& what, Try try_it, Wait wait) {
  const int tried = try_it();
  if (is_held(tried)) [[likely]] {
    append_acquire(client, what);
    return tried;
  }
  if (!is_busy(tried)) return wait();  // it says what is wrong
  return acquire_busy(client, what, wait);
}

template <typename Wait>
inline int acquire_untried(Client* client, const Acquisition& what, Wait wait) {
  const int waited = wait();
  if (is_held(waited)) append_acquire(client, what);
  return waited;
}

template <typename Try>
inline int try_acquire(Client* client, const Acquisition& what, Try try_it) {
  const int tried = try_it();
  if (is_held(tried)) {
    append_acquire(client, what);
  } else if (is_busy(tried) && is_own(client)) {
    append_lock(client, EventKind::lock_busy, g_clock.now_ns(), what.lock, what.site);
  }
  return tried;
}

// The time is read before the release, the event written after: sections do not overlap, and the event's cost is
// outside.
template <typename Unlock>
inline int release(Client* client, uint64_t lock, uint64_t site, Unlock unlock) {
  const int64_t now_ns = std::max(g_clock.earlier_ns(), t_local.last_event_ns);
  const int error = unlock();
  if (error != 0) return error;
  append_lock_again(client, EventKind::lock_release, lock, site, [&] { return now_ns; });
  if (t_lock_sites.is_watching) [[unlikely]]
    watched_released(client, lock, site);
  return 0;
}

}  // namespace contrafact::agent_native
