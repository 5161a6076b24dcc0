// Where locks and their like begin and end: pthread_*_init and _destroy, sem_*, mtx_*, cnd_*. A lock that lies at the
// place afterwards is another one (format/event.h). Memory that is used again without such a call is not noticed.
#include "agent_native/real.h"
#include "agent_native/recording.h"

using namespace contrafact::agent_native;

namespace {

template <typename Lock>
uint64_t word(Lock* lock, LockKind kind) {
  return contrafact::recorder::lock_word(const_cast<const void*>(static_cast<volatile const void*>(lock)), kind);
}

// This is no lock event: accesses in critical sections are reported at lock events only.
void append_life(Client* client, EventKind kind, int64_t time_ns, uint64_t lock, uint64_t site) {
  append(client, kind, time_ns, lock, lock >> 32, site, site >> 32);
}

// `library` returns 0 if it succeeded. The time is read after it: nobody uses the lock before.
template <typename Library>
int init(uint64_t lock, uint64_t site, Library library) {
  const int error = library();
  Client* client = error == 0 ? recording() : nullptr;
  if (client) append_life(client, EventKind::lock_init, g_clock.now_ns(), lock, site);
  return error;
}

// The time is read before it: afterwards the place may be used for something else.
template <typename Library>
int destroy(uint64_t lock, uint64_t site, Library library) {
  Client* client = recording();
  if (!client) return library();
  const int64_t now_ns = g_clock.now_ns();
  const int error = library();
  if (error == 0) append_life(client, EventKind::lock_destroy, now_ns, lock, site);
  return error;
}

}  // namespace

CONTRAFACT_INTERPOSE(int, pthread_mutex_init, (pthread_mutex_t * mutex, const pthread_mutexattr_t* attributes)) {
  CONTRAFACT_CALLED;
  called_.reads(attributes, sizeof *attributes);
  called_.wrote(mutex, sizeof *mutex);
  return init(word(mutex, LockKind::mutex), CONTRAFACT_SITE,
              [&] { return real().pthread_mutex_init(mutex, attributes); });
}
CONTRAFACT_INTERPOSE(int, pthread_mutex_destroy, (pthread_mutex_t * mutex)) {
  CONTRAFACT_CALLED;
  called_.wrote(mutex, sizeof *mutex);
  return destroy(word(mutex, LockKind::mutex), CONTRAFACT_SITE, [&] { return real().pthread_mutex_destroy(mutex); });
}

CONTRAFACT_INTERPOSE(int, pthread_rwlock_init, (pthread_rwlock_t * lock, const pthread_rwlockattr_t* attributes)) {
  CONTRAFACT_CALLED;
  called_.reads(attributes, sizeof *attributes);
  called_.wrote(lock, sizeof *lock);
  return init(word(lock, LockKind::rwlock), CONTRAFACT_SITE,
              [&] { return real().pthread_rwlock_init(lock, attributes); });
}
CONTRAFACT_INTERPOSE(int, pthread_rwlock_destroy, (pthread_rwlock_t * lock)) {
  CONTRAFACT_CALLED;
  called_.wrote(lock, sizeof *lock);
  return destroy(word(lock, LockKind::rwlock), CONTRAFACT_SITE, [&] { return real().pthread_rwlock_destroy(lock); });
}

CONTRAFACT_INTERPOSE(int, pthread_spin_init, (pthread_spinlock_t * lock, int shared)) {
  CONTRAFACT_CALLED;
  called_.wrote(const_cast<const int*>(lock), sizeof *lock);
  return init(word(lock, LockKind::spinlock), CONTRAFACT_SITE, [&] { return real().pthread_spin_init(lock, shared); });
}
CONTRAFACT_INTERPOSE(int, pthread_spin_destroy, (pthread_spinlock_t * lock)) {
  CONTRAFACT_CALLED;
  return destroy(word(lock, LockKind::spinlock), CONTRAFACT_SITE, [&] { return real().pthread_spin_destroy(lock); });
}

CONTRAFACT_INTERPOSE(int, pthread_cond_init, (pthread_cond_t * condition, const pthread_condattr_t* attributes)) {
  CONTRAFACT_CALLED;
  called_.reads(attributes, sizeof *attributes);
  called_.wrote(condition, sizeof *condition);
  return init(word(condition, LockKind::condition), CONTRAFACT_SITE,
              [&] { return real().pthread_cond_init(condition, attributes); });
}
CONTRAFACT_INTERPOSE(int, pthread_cond_destroy, (pthread_cond_t * condition)) {
  CONTRAFACT_CALLED;
  called_.wrote(condition, sizeof *condition);
  return destroy(word(condition, LockKind::condition), CONTRAFACT_SITE,
                 [&] { return real().pthread_cond_destroy(condition); });
}

CONTRAFACT_INTERPOSE(int, pthread_barrier_init,
                     (pthread_barrier_t * barrier, const pthread_barrierattr_t* attributes, unsigned count)) {
  CONTRAFACT_CALLED;
  called_.reads(attributes, sizeof *attributes);
  called_.wrote(barrier, sizeof *barrier);
  return init(word(barrier, LockKind::barrier), CONTRAFACT_SITE,
              [&] { return real().pthread_barrier_init(barrier, attributes, count); });
}
CONTRAFACT_INTERPOSE(int, pthread_barrier_destroy, (pthread_barrier_t * barrier)) {
  CONTRAFACT_CALLED;
  called_.wrote(barrier, sizeof *barrier);
  return destroy(word(barrier, LockKind::barrier), CONTRAFACT_SITE,
                 [&] { return real().pthread_barrier_destroy(barrier); });
}

CONTRAFACT_INTERPOSE(int, sem_init, (sem_t * semaphore, int shared, unsigned count)) {
  CONTRAFACT_CALLED;
  called_.wrote(semaphore, sizeof *semaphore);
  return init(word(semaphore, LockKind::semaphore), CONTRAFACT_SITE,
              [&] { return real().sem_init(semaphore, shared, count); });
}
CONTRAFACT_INTERPOSE(int, sem_destroy, (sem_t * semaphore)) {
  CONTRAFACT_CALLED;
  return destroy(word(semaphore, LockKind::semaphore), CONTRAFACT_SITE, [&] { return real().sem_destroy(semaphore); });
}

// The library builds these on its own functions without asking the loader. thrd_success is 0.
CONTRAFACT_INTERPOSE(int, mtx_init, (mtx_t * mutex, int type)) {
  CONTRAFACT_CALLED;
  called_.wrote(mutex, sizeof *mutex);
  return init(word(mutex, LockKind::mutex), CONTRAFACT_SITE, [&] { return real().mtx_init(mutex, type); });
}
CONTRAFACT_INTERPOSE(void, mtx_destroy, (mtx_t * mutex)) {
  CONTRAFACT_CALLED;
  called_.wrote(mutex, sizeof *mutex);
  destroy(word(mutex, LockKind::mutex), CONTRAFACT_SITE, [&] { return real().mtx_destroy(mutex), 0; });
}
CONTRAFACT_INTERPOSE(int, cnd_init, (cnd_t * condition)) {
  CONTRAFACT_CALLED;
  called_.wrote(condition, sizeof *condition);
  return init(word(condition, LockKind::condition), CONTRAFACT_SITE, [&] { return real().cnd_init(condition); });
}
CONTRAFACT_INTERPOSE(void, cnd_destroy, (cnd_t * condition)) {
  CONTRAFACT_CALLED;
  called_.wrote(condition, sizeof *condition);
  destroy(word(condition, LockKind::condition), CONTRAFACT_SITE, [&] { return real().cnd_destroy(condition), 0; });
}
