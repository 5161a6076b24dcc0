// pthread_barrier_wait. The thread that comes last wakes the others: the analysis finds it by the times.
#include "agent_native/real.h"
#include "agent_native/recording.h"

using namespace contrafact::agent_native;

CONTRAFACT_INTERPOSE(int, pthread_barrier_wait, (pthread_barrier_t * barrier)) {
  CONTRAFACT_CALLED;
  Client* client = recording();
  if (!client) return real().pthread_barrier_wait(barrier);
  const uint64_t site = CONTRAFACT_SITE;
  const uint64_t lock = contrafact::recorder::lock_word(barrier, LockKind::barrier);
  append_stack(client, site);
  append_lock(client, EventKind::sync_wait, g_clock.now_ns(), lock, site);
  const int result = real().pthread_barrier_wait(barrier);
  if (!is_own(client)) return result;
  const bool passed = result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD;
  append_outcome(client, EventKind::sync_woken, g_clock.now_ns(), lock, passed ? Outcome::normal : Outcome::exception);
  return result;
}
