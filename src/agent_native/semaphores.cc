// sem_*: a wait is an acquisition (contended if the count was 0), a post wakes.
#include "agent_native/lock_events.h"
#include "agent_native/real.h"

using namespace contrafact::agent_native;

namespace {

uint64_t word(const sem_t* semaphore) {
  return contrafact::recorder::lock_word(semaphore, LockKind::semaphore);
}

// These return -1 and errno; acquire() wants the error. Busy is EAGAIN here.
int error_of(int result) {
  if (result == 0) return 0;
  return errno == EAGAIN ? EBUSY : errno;
}

int result_of(int error) {
  if (error == 0) return 0;
  errno = error == EBUSY ? EAGAIN : error;
  return -1;
}

// `is_sound`: the time that it waits until.
template <typename Wait>
int wait_for(Client* client, sem_t* semaphore, uint64_t site, bool is_sound, Wait wait) {
  const Acquisition what{word(semaphore), site};
  const int before = errno;
  int error = 0;
  if (is_sound) {
    error = acquire(
        client, what, [&] { return error_of(real().sem_trywait(semaphore)); }, [&] { return error_of(wait()); });
  } else {
    error = acquire_untried(client, what, [&] { return error_of(wait()); });
  }
  if (error == 0) errno = before;
  return result_of(error);
}

}  // namespace

CONTRAFACT_INTERPOSE(int, sem_wait, (sem_t * semaphore)) {
  CONTRAFACT_CALLED;
  Client* client = recording();
  if (!client) return real().sem_wait(semaphore);
  pthread_testcancel();  // as the library does, even where it need not wait
  return wait_for(client, semaphore, CONTRAFACT_SITE, true, [&] { return real().sem_wait(semaphore); });
}

CONTRAFACT_INTERPOSE(int, sem_trywait, (sem_t * semaphore)) {
  CONTRAFACT_CALLED;
  Client* client = recording();
  if (!client) return real().sem_trywait(semaphore);
  const int before = errno;
  const int error =
      try_acquire(client, {word(semaphore), CONTRAFACT_SITE}, [&] { return error_of(real().sem_trywait(semaphore)); });
  if (error == 0) errno = before;
  return result_of(error);
}

CONTRAFACT_INTERPOSE(int, sem_timedwait, (sem_t * semaphore, const timespec* until)) {
  CONTRAFACT_CALLED;
  called_.reads(until, sizeof *until);
  Client* client = recording();
  if (!client) return real().sem_timedwait(semaphore, until);
  if (is_sound_time(until)) pthread_testcancel();
  return wait_for(client, semaphore, CONTRAFACT_SITE, is_sound_time(until),
                  [&] { return real().sem_timedwait(semaphore, until); });
}

CONTRAFACT_INTERPOSE(int, sem_clockwait, (sem_t * semaphore, clock_id clock, const timespec* until)) {
  CONTRAFACT_CALLED;
  called_.reads(until, sizeof *until);
  Client* client = recording();
  if (!client) return real().sem_clockwait(semaphore, clock, until);
  return wait_for(client, semaphore, CONTRAFACT_SITE, is_known_clock(clock) && is_sound_time(until),
                  [&] { return real().sem_clockwait(semaphore, clock, until); });
}

// May be called by a signal's handler.
CONTRAFACT_INTERPOSE(int, sem_post, (sem_t * semaphore)) {
  CONTRAFACT_CALLED;
  if (Client* client = recording()) {
    append_lock(client, EventKind::sync_signal, g_clock.now_ns(), word(semaphore), CONTRAFACT_SITE);
  }
  return real().sem_post(semaphore);
}
