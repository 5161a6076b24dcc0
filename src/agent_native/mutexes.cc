// pthread_mutex_*: plain, recursive, error-checking, robust, adaptive, timed.
#include <linux/futex.h>

#include "agent_native/lock_events.h"
#include "agent_native/real.h"

using namespace contrafact::agent_native;

namespace {

uint64_t word(const pthread_mutex_t* mutex) {
  return contrafact::recorder::lock_word(mutex, LockKind::mutex);
}

// The kind and the lock's word are part of the C library's interface: its static initialisers hold the one, the kernel
// reads the other when an owner dies.
bool is_robust(const pthread_mutex_t* mutex) {
  constexpr int kRobust = 16;  // PTHREAD_MUTEX_ROBUST_NORMAL_NP of the C library
  return (__atomic_load_n(&mutex->__data.__kind, __ATOMIC_RELAXED) & kRobust) != 0;
}

// A try of a robust mutex that cannot be recovered leaves it locked for good (glibc 2.36). So the library is called
// once, and the word says whether another thread holds the mutex.
template <typename Wait>
int acquire_robust(Client* client, const Acquisition& what, const pthread_mutex_t* mutex, Wait wait) {
  const auto owner = static_cast<uint32_t>(__atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED)) & FUTEX_TID_MASK;
  if (owner == 0 || owner == own_thread_id()) return acquire_untried(client, what, wait);
  return acquire_busy(client, what, wait);
}

template <typename Wait>
int acquire_mutex(Client* client, uint64_t site, pthread_mutex_t* mutex, Wait wait) {
  const Acquisition what{word(mutex), site};
  if (is_robust(mutex)) [[unlikely]]
    return acquire_robust(client, what, mutex, wait);
  return acquire(client, what, [&] { return real().pthread_mutex_trylock(mutex); }, wait);
}

}  // namespace

CONTRAFACT_INTERPOSE(int, pthread_mutex_lock, (pthread_mutex_t * mutex)) {
  CONTRAFACT_CALLED;
  Client* client = recording();
  if (!client) return real().pthread_mutex_lock(mutex);
  return acquire_mutex(client, CONTRAFACT_LOCK_SITE, mutex, [&] { return real().pthread_mutex_lock(mutex); });
}

CONTRAFACT_INTERPOSE(int, pthread_mutex_trylock, (pthread_mutex_t * mutex)) {
  CONTRAFACT_CALLED;
  Client* client = recording();
  if (!client) return real().pthread_mutex_trylock(mutex);
  return try_acquire(client, {word(mutex), CONTRAFACT_LOCK_SITE}, [&] { return real().pthread_mutex_trylock(mutex); });
}

CONTRAFACT_INTERPOSE(int, pthread_mutex_timedlock, (pthread_mutex_t * mutex, const timespec* until)) {
  CONTRAFACT_CALLED;
  called_.reads(until, sizeof *until);
  Client* client = recording();
  if (!client) return real().pthread_mutex_timedlock(mutex, until);
  return acquire_mutex(client, CONTRAFACT_LOCK_SITE, mutex,
                       [&] { return real().pthread_mutex_timedlock(mutex, until); });
}

CONTRAFACT_INTERPOSE(int, pthread_mutex_clocklock, (pthread_mutex_t * mutex, clock_id clock, const timespec* until)) {
  CONTRAFACT_CALLED;
  called_.reads(until, sizeof *until);
  Client* client = recording();
  if (!client) return real().pthread_mutex_clocklock(mutex, clock, until);
  const auto wait = [&] { return real().pthread_mutex_clocklock(mutex, clock, until); };
  if (!is_known_clock(clock)) return acquire_untried(client, {word(mutex), CONTRAFACT_LOCK_SITE}, wait);
  return acquire_mutex(client, CONTRAFACT_LOCK_SITE, mutex, wait);
}

CONTRAFACT_INTERPOSE(int, pthread_mutex_unlock, (pthread_mutex_t * mutex)) {
  CONTRAFACT_CALLED;
  Client* client = recording();
  if (!client) return real().pthread_mutex_unlock(mutex);
  return release(client, word(mutex), CONTRAFACT_SITE, [&] { return real().pthread_mutex_unlock(mutex); });
}
