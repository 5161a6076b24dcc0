// pthread_rwlock_*: readers share.
#include "agent_native/lock_events.h"
#include "agent_native/real.h"

using namespace contrafact::agent_native;

namespace {

uint64_t word(const pthread_rwlock_t* lock) {
  return contrafact::recorder::lock_word(lock, LockKind::rwlock);
}

}  // namespace

CONTRAFACT_INTERPOSE(int, pthread_rwlock_rdlock, (pthread_rwlock_t * lock)) {
  CONTRAFACT_CALLED;
  Client* client = recording();
  if (!client) return real().pthread_rwlock_rdlock(lock);
  return acquire(
      client, {word(lock), CONTRAFACT_LOCK_SITE, true}, [&] { return real().pthread_rwlock_tryrdlock(lock); },
      [&] { return real().pthread_rwlock_rdlock(lock); });
}

CONTRAFACT_INTERPOSE(int, pthread_rwlock_wrlock, (pthread_rwlock_t * lock)) {
  CONTRAFACT_CALLED;
  Client* client = recording();
  if (!client) return real().pthread_rwlock_wrlock(lock);
  return acquire(
      client, {word(lock), CONTRAFACT_LOCK_SITE}, [&] { return real().pthread_rwlock_trywrlock(lock); },
      [&] { return real().pthread_rwlock_wrlock(lock); });
}

CONTRAFACT_INTERPOSE(int, pthread_rwlock_tryrdlock, (pthread_rwlock_t * lock)) {
  CONTRAFACT_CALLED;
  Client* client = recording();
  if (!client) return real().pthread_rwlock_tryrdlock(lock);
  return try_acquire(client, {word(lock), CONTRAFACT_LOCK_SITE, true},
                     [&] { return real().pthread_rwlock_tryrdlock(lock); });
}

CONTRAFACT_INTERPOSE(int, pthread_rwlock_trywrlock, (pthread_rwlock_t * lock)) {
  CONTRAFACT_CALLED;
  Client* client = recording();
  if (!client) return real().pthread_rwlock_trywrlock(lock);
  return try_acquire(client, {word(lock), CONTRAFACT_LOCK_SITE}, [&] { return real().pthread_rwlock_trywrlock(lock); });
}

CONTRAFACT_INTERPOSE(int, pthread_rwlock_timedrdlock, (pthread_rwlock_t * lock, const timespec* until)) {
  CONTRAFACT_CALLED;
  called_.reads(until, sizeof *until);
  Client* client = recording();
  if (!client) return real().pthread_rwlock_timedrdlock(lock, until);
  const Acquisition what{word(lock), CONTRAFACT_LOCK_SITE, true};
  const auto wait = [&] { return real().pthread_rwlock_timedrdlock(lock, until); };
  if (!is_sound_time(until)) return acquire_untried(client, what, wait);
  return acquire(client, what, [&] { return real().pthread_rwlock_tryrdlock(lock); }, wait);
}

CONTRAFACT_INTERPOSE(int, pthread_rwlock_timedwrlock, (pthread_rwlock_t * lock, const timespec* until)) {
  CONTRAFACT_CALLED;
  called_.reads(until, sizeof *until);
  Client* client = recording();
  if (!client) return real().pthread_rwlock_timedwrlock(lock, until);
  const Acquisition what{word(lock), CONTRAFACT_LOCK_SITE};
  const auto wait = [&] { return real().pthread_rwlock_timedwrlock(lock, until); };
  if (!is_sound_time(until)) return acquire_untried(client, what, wait);
  return acquire(client, what, [&] { return real().pthread_rwlock_trywrlock(lock); }, wait);
}

CONTRAFACT_INTERPOSE(int, pthread_rwlock_clockrdlock,
                     (pthread_rwlock_t * lock, clock_id clock, const timespec* until)) {
  CONTRAFACT_CALLED;
  called_.reads(until, sizeof *until);
  Client* client = recording();
  if (!client) return real().pthread_rwlock_clockrdlock(lock, clock, until);
  const Acquisition what{word(lock), CONTRAFACT_LOCK_SITE, true};
  const auto wait = [&] { return real().pthread_rwlock_clockrdlock(lock, clock, until); };
  if (!is_known_clock(clock) || !is_sound_time(until)) return acquire_untried(client, what, wait);
  return acquire(client, what, [&] { return real().pthread_rwlock_tryrdlock(lock); }, wait);
}

CONTRAFACT_INTERPOSE(int, pthread_rwlock_clockwrlock,
                     (pthread_rwlock_t * lock, clock_id clock, const timespec* until)) {
  CONTRAFACT_CALLED;
  called_.reads(until, sizeof *until);
  Client* client = recording();
  if (!client) return real().pthread_rwlock_clockwrlock(lock, clock, until);
  const Acquisition what{word(lock), CONTRAFACT_LOCK_SITE};
  const auto wait = [&] { return real().pthread_rwlock_clockwrlock(lock, clock, until); };
  if (!is_known_clock(clock) || !is_sound_time(until)) return acquire_untried(client, what, wait);
  return acquire(client, what, [&] { return real().pthread_rwlock_trywrlock(lock); }, wait);
}

CONTRAFACT_INTERPOSE(int, pthread_rwlock_unlock, (pthread_rwlock_t * lock)) {
  CONTRAFACT_CALLED;
  Client* client = recording();
  if (!client) return real().pthread_rwlock_unlock(lock);
  return release(client, word(lock), CONTRAFACT_SITE, [&] { return real().pthread_rwlock_unlock(lock); });
}
