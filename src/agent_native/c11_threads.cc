// <threads.h>: mtx_* and cnd_*. The library builds them on its own pthread functions without asking the loader, so they
// need interposers of their own; thrd_* are with the threads, call_once with pthread_once.
#include "agent_native/conditions.h"
#include "agent_native/real.h"

using namespace contrafact::agent_native;

namespace {

uint64_t word(const mtx_t* mutex) {
  return contrafact::recorder::lock_word(mutex, LockKind::mutex);
}
uint64_t word(const cnd_t* condition) {
  return contrafact::recorder::lock_word(condition, LockKind::condition);
}

int error_of(int result) {
  switch (result) {
    case thrd_success:
      return 0;
    case thrd_busy:
      return EBUSY;
    case thrd_timedout:
      return ETIMEDOUT;
    default:
      return EINVAL;
  }
}
int result_of(int error) {
  switch (error) {
    case 0:
      return thrd_success;
    case EBUSY:
      return thrd_busy;
    case ETIMEDOUT:
      return thrd_timedout;
    default:
      return thrd_error;
  }
}

}  // namespace

CONTRAFACT_INTERPOSE(int, mtx_lock, (mtx_t * mutex)) {
  CONTRAFACT_CALLED;
  Client* client = recording();
  if (!client) return real().mtx_lock(mutex);
  return result_of(acquire(
      client, {word(mutex), CONTRAFACT_LOCK_SITE}, [&] { return error_of(real().mtx_trylock(mutex)); },
      [&] { return error_of(real().mtx_lock(mutex)); }));
}

CONTRAFACT_INTERPOSE(int, mtx_trylock, (mtx_t * mutex)) {
  CONTRAFACT_CALLED;
  Client* client = recording();
  if (!client) return real().mtx_trylock(mutex);
  return result_of(
      try_acquire(client, {word(mutex), CONTRAFACT_LOCK_SITE}, [&] { return error_of(real().mtx_trylock(mutex)); }));
}

CONTRAFACT_INTERPOSE(int, mtx_timedlock, (mtx_t * mutex, const timespec* until)) {
  CONTRAFACT_CALLED;
  called_.reads(until, sizeof *until);
  Client* client = recording();
  if (!client) return real().mtx_timedlock(mutex, until);
  return result_of(acquire(
      client, {word(mutex), CONTRAFACT_LOCK_SITE}, [&] { return error_of(real().mtx_trylock(mutex)); },
      [&] { return error_of(real().mtx_timedlock(mutex, until)); }));
}

CONTRAFACT_INTERPOSE(int, mtx_unlock, (mtx_t * mutex)) {
  CONTRAFACT_CALLED;
  Client* client = recording();
  if (!client) return real().mtx_unlock(mutex);
  return result_of(release(client, word(mutex), CONTRAFACT_SITE, [&] { return error_of(real().mtx_unlock(mutex)); }));
}

CONTRAFACT_INTERPOSE(int, cnd_wait, (cnd_t * condition, mtx_t* mutex)) {
  CONTRAFACT_CALLED;
  Client* client = recording();
  if (!client) return real().cnd_wait(condition, mutex);
  const ConditionWait wait{client, word(condition), word(mutex), CONTRAFACT_SITE};
  int result;
  CONTRAFACT_CONDITION_WAIT(wait, result, real().cnd_wait(condition, mutex));
  end_wait(wait, outcome_of(error_of(result)), true);
  return result;
}

CONTRAFACT_INTERPOSE(int, cnd_timedwait, (cnd_t * condition, mtx_t* mutex, const timespec* until)) {
  CONTRAFACT_CALLED;
  called_.reads(until, sizeof *until);
  Client* client = recording();
  if (!client) return real().cnd_timedwait(condition, mutex, until);
  const ConditionWait wait{client, word(condition), word(mutex), CONTRAFACT_SITE};
  int result;
  CONTRAFACT_CONDITION_WAIT(wait, result, real().cnd_timedwait(condition, mutex, until));
  end_wait(wait, outcome_of(error_of(result)), true);
  return result;
}

CONTRAFACT_INTERPOSE(int, cnd_signal, (cnd_t * condition)) {
  CONTRAFACT_CALLED;
  if (Client* client = recording()) {
    append_lock(client, EventKind::sync_signal, g_clock.now_ns(), word(condition), CONTRAFACT_SITE);
  }
  return real().cnd_signal(condition);
}

CONTRAFACT_INTERPOSE(int, cnd_broadcast, (cnd_t * condition)) {
  CONTRAFACT_CALLED;
  if (Client* client = recording()) {
    append_lock(client, EventKind::sync_broadcast, g_clock.now_ns(), word(condition), CONTRAFACT_SITE);
  }
  return real().cnd_broadcast(condition);
}
