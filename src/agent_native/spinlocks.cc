// pthread_spin_*. Such a wait keeps its core busy; in the trace it is a wait all the same.
#include "agent_native/lock_events.h"
#include "agent_native/real.h"

using namespace contrafact::agent_native;

namespace {

uint64_t word(pthread_spinlock_t* lock) {
  return contrafact::recorder::lock_word(const_cast<const int*>(lock), LockKind::spinlock);
}

}  // namespace

CONTRAFACT_INTERPOSE(int, pthread_spin_lock, (pthread_spinlock_t * lock)) {
  CONTRAFACT_CALLED;
  Client* client = recording();
  if (!client) return real().pthread_spin_lock(lock);
  return acquire(
      client, {word(lock), CONTRAFACT_LOCK_SITE}, [&] { return real().pthread_spin_trylock(lock); },
      [&] { return real().pthread_spin_lock(lock); });
}

CONTRAFACT_INTERPOSE(int, pthread_spin_trylock, (pthread_spinlock_t * lock)) {
  CONTRAFACT_CALLED;
  Client* client = recording();
  if (!client) return real().pthread_spin_trylock(lock);
  return try_acquire(client, {word(lock), CONTRAFACT_LOCK_SITE}, [&] { return real().pthread_spin_trylock(lock); });
}

CONTRAFACT_INTERPOSE(int, pthread_spin_unlock, (pthread_spinlock_t * lock)) {
  CONTRAFACT_CALLED;
  Client* client = recording();
  if (!client) return real().pthread_spin_unlock(lock);
  return release(client, word(lock), CONTRAFACT_SITE, [&] { return real().pthread_spin_unlock(lock); });
}
