// pthread_cond_*.
#include "agent_native/conditions.h"

#include "agent_native/real.h"

namespace contrafact::agent_native {

void begin_wait(const ConditionWait& wait) {
  const int64_t now_ns = g_clock.now_ns();
  append_lock_apart(wait.client, EventKind::lock_release, now_ns, wait.mutex, wait.site);
  append_stack(wait.client, wait.site);
  append_lock_apart(wait.client, EventKind::sync_wait, now_ns, wait.condition, wait.site);
}

void end_wait(const ConditionWait& wait, Outcome outcome, bool has_mutex) {
  if (!is_own(wait.client)) return;
  const int64_t now_ns = g_clock.now_ns();
  append_outcome(wait.client, EventKind::sync_woken, now_ns, wait.condition, outcome);
  if (has_mutex) append_lock(wait.client, EventKind::lock_acquire, now_ns, wait.mutex, wait.site);
}

void wait_cancelled(void* wait) {
  end_wait(*static_cast<ConditionWait*>(wait), Outcome::cancelled, true);
}

}  // namespace contrafact::agent_native

using namespace contrafact::agent_native;

namespace {

uint64_t word(const pthread_cond_t* condition) {
  return contrafact::recorder::lock_word(condition, LockKind::condition);
}
uint64_t word(const pthread_mutex_t* mutex) {
  return contrafact::recorder::lock_word(mutex, LockKind::mutex);
}

// Else the mutex was not the thread's, or is nobody's any more.
bool has_mutex(int error) {
  return error != EPERM && error != ENOTRECOVERABLE;
}

}  // namespace

CONTRAFACT_INTERPOSE(int, pthread_cond_wait, (pthread_cond_t * condition, pthread_mutex_t* mutex)) {
  CONTRAFACT_CALLED;
  Client* client = recording();
  if (!client) return real().pthread_cond_wait(condition, mutex);
  const ConditionWait wait{client, word(condition), word(mutex), CONTRAFACT_SITE};
  int error;
  CONTRAFACT_CONDITION_WAIT(wait, error, real().pthread_cond_wait(condition, mutex));
  end_wait(wait, outcome_of(error), has_mutex(error));
  return error;
}

CONTRAFACT_INTERPOSE(int, pthread_cond_timedwait,
                     (pthread_cond_t * condition, pthread_mutex_t* mutex, const timespec* until)) {
  CONTRAFACT_CALLED;
  called_.reads(until, sizeof *until);
  Client* client = recording();
  if (!client) return real().pthread_cond_timedwait(condition, mutex, until);
  const ConditionWait wait{client, word(condition), word(mutex), CONTRAFACT_SITE};
  int error;
  CONTRAFACT_CONDITION_WAIT(wait, error, real().pthread_cond_timedwait(condition, mutex, until));
  end_wait(wait, outcome_of(error), has_mutex(error));
  return error;
}

CONTRAFACT_INTERPOSE(int, pthread_cond_clockwait,
                     (pthread_cond_t * condition, pthread_mutex_t* mutex, clock_id clock, const timespec* until)) {
  CONTRAFACT_CALLED;
  called_.reads(until, sizeof *until);
  Client* client = recording();
  if (!client) return real().pthread_cond_clockwait(condition, mutex, clock, until);
  const ConditionWait wait{client, word(condition), word(mutex), CONTRAFACT_SITE};
  int error;
  CONTRAFACT_CONDITION_WAIT(wait, error, real().pthread_cond_clockwait(condition, mutex, clock, until));
  end_wait(wait, outcome_of(error), has_mutex(error));
  return error;
}

// The event comes first: so the woken thread has a later time.
CONTRAFACT_INTERPOSE(int, pthread_cond_signal, (pthread_cond_t * condition)) {
  CONTRAFACT_CALLED;
  if (Client* client = recording()) {
    append_lock(client, EventKind::sync_signal, g_clock.now_ns(), word(condition), CONTRAFACT_SITE);
  }
  return real().pthread_cond_signal(condition);
}

CONTRAFACT_INTERPOSE(int, pthread_cond_broadcast, (pthread_cond_t * condition)) {
  CONTRAFACT_CALLED;
  if (Client* client = recording()) {
    append_lock(client, EventKind::sync_broadcast, g_clock.now_ns(), word(condition), CONTRAFACT_SITE);
  }
  return real().pthread_cond_broadcast(condition);
}
