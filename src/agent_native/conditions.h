// A condition variable's wait, shared by the POSIX and the C11 interposers: the thread releases the mutex, waits, and
// acquires the mutex again. Cancellation ends the wait with the mutex held, as the standard says; then too all is
// recorded.
#pragma once

#include "agent_native/lock_events.h"

namespace contrafact::agent_native {

struct ConditionWait {
  Client* client;
  uint64_t condition, mutex;  // recorder::lock_word
  uint64_t site;
};

void begin_wait(const ConditionWait& wait);
void end_wait(const ConditionWait& wait, Outcome outcome, bool has_mutex);
void wait_cancelled(void* wait);  // of a ConditionWait, by the thread that is being cancelled

// A macro, because the library's cleanup handlers are one: `call` is the library's wait; yields its result in `error`.
#define CONTRAFACT_CONDITION_WAIT(wait, error, call)                         \
  begin_wait(wait);                                                          \
  pthread_cleanup_push(wait_cancelled, const_cast<ConditionWait*>(&(wait))); \
  error = call;                                                              \
  pthread_cleanup_pop(0)

}  // namespace contrafact::agent_native
