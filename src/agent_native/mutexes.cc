// pthread_mutex_*: plain, recursive, error-checking, robust, adaptive, timed.
#include "agent_native/lock_events.h"
#include "agent_native/real.h"

using namespace contrafact::agent_native;

namespace {

uint64_t word(const pthread_mutex_t* mutex) {
  return contrafact::recorder::lock_word(mutex, LockKind::mutex);
}

}  // namespace

CONTRAFACT_INTERPOSE(int, pthread_mutex_lock, (pthread_mutex_t * mutex)) {
  CONTRAFACT_CALLED;
  Client* client = recording();
  if (!client) return real().pthread_mutex_lock(mutex);
  return acquire(
      client, {word(mutex), CONTRAFACT_SITE}, [&] { return real().pthread_mutex_trylock(mutex); },
      [&] { return real().pthread_mutex_lock(mutex); });
}

CONTRAFACT_INTERPOSE(int, pthread_mutex_trylock, (pthread_mutex_t * mutex)) {
  CONTRAFACT_CALLED;
  Client* client = recording();
  if (!client) return real().pthread_mutex_trylock(mutex);
  return try_acquire(client, {word(mutex), CONTRAFACT_SITE}, [&] { return real().pthread_mutex_trylock(mutex); });
}

CONTRAFACT_INTERPOSE(int, pthread_mutex_timedlock, (pthread_mutex_t * mutex, const timespec* until)) {
  CONTRAFACT_CALLED;
  called_.reads(until, sizeof *until);
  Client* client = recording();
  if (!client) return real().pthread_mutex_timedlock(mutex, until);
  return acquire(
      client, {word(mutex), CONTRAFACT_SITE}, [&] { return real().pthread_mutex_trylock(mutex); },
      [&] { return real().pthread_mutex_timedlock(mutex, until); });
}

CONTRAFACT_INTERPOSE(int, pthread_mutex_clocklock, (pthread_mutex_t * mutex, clock_id clock, const timespec* until)) {
  CONTRAFACT_CALLED;
  called_.reads(until, sizeof *until);
  Client* client = recording();
  if (!client) return real().pthread_mutex_clocklock(mutex, clock, until);
  return acquire(
      client, {word(mutex), CONTRAFACT_SITE}, [&] { return real().pthread_mutex_trylock(mutex); },
      [&] { return real().pthread_mutex_clocklock(mutex, clock, until); });
}

CONTRAFACT_INTERPOSE(int, pthread_mutex_unlock, (pthread_mutex_t * mutex)) {
  CONTRAFACT_CALLED;
  Client* client = recording();
  if (!client) return real().pthread_mutex_unlock(mutex);
  return release(client, word(mutex), CONTRAFACT_SITE, [&] { return real().pthread_mutex_unlock(mutex); });
}
