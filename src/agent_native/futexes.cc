// syscall(SYS_futex, ...): programs with locks of their own wait there. A futex is known by its word's address. A wait
// at it and the call that ends the wait are seen; the lock that the program builds with them is not.
#include <linux/futex.h>
#include <sys/syscall.h>

#include <algorithm>

#include "agent_native/lock_events.h"
#include "agent_native/real.h"
#include "agent_native/signal_handlers.h"
#include "agent_native/sockets.h"

using namespace contrafact::agent_native;

namespace {

bool waits(long operation) {
  switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
    case FUTEX_LOCK_PI:
    case FUTEX_LOCK_PI2:
    case FUTEX_WAIT_REQUEUE_PI:
      return true;
    default:
      return false;
  }
}

// The result says how many threads it woke; of the last three, how many it woke or otherwise concerned.
bool wakes(long operation) {
  switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET:
    case FUTEX_WAKE_OP:
    case FUTEX_REQUEUE:
    case FUTEX_CMP_REQUEUE:
      return true;
    default:
      return false;
  }
}

uint64_t word(long address) {
  return contrafact::recorder::lock_word(reinterpret_cast<const void*>(address), LockKind::futex);
}

// The wait is written when it begins: a thread that never comes back shows it. A wait that does not begin, because the
// word's value is another one already (EAGAIN), counts as failed.
template <typename Library>
[[gnu::noinline]] long wait_at(Client* client, uint64_t futex, uint64_t site, Library library) {
  const int64_t begin_ns = g_clock.now_ns();
  if (sets_are_on()) sets_before_block(client, begin_ns);
  append_stack(client, site);
  append_lock_apart(client, EventKind::sync_wait, begin_ns, futex, site);
  const long result = library();
  if (!is_own(client)) return result;
  const int error = errno;
  append_outcome(client, EventKind::sync_woken, g_clock.now_ns(), futex, outcome_of(result == 0 ? 0 : error));
  errno = error;
  return result;
}

// The time is read before the call: a woken thread has a later one. `most`: how many the call may wake. A signal for
// each thread that it woke; one event where these were all that waited, or many.
template <typename Library>
[[gnu::noinline]] long wake_at(Client* client, uint64_t futex, uint64_t site, long most, Library library) {
  constexpr long kSignalsMax = 8;
  const int64_t now_ns = std::max(g_clock.now_ns(), t_local.last_event_ns);
  const long result = library();
  const long woken = std::min(result, most);
  if (woken <= 0 || !is_own(client)) return result;
  const int error = errno;
  const bool is_all = woken > 1 && (woken < most || woken > kSignalsMax);
  for (long i = 0; i < (is_all ? 1 : woken); ++i) {
    append_stack(client, site);
    append_lock_apart(client, is_all ? EventKind::sync_broadcast : EventKind::sync_signal, now_ns, futex, site);
  }
  errno = error;
  return result;
}

long ask_library(const long* call) {
  return real().syscall(call[0], call[1], call[2], call[3], call[4], call[5], call[6]);
}

// Apart from all else, which needs less stack.
[[gnu::noinline]] long at_futex(const long* call, uint64_t site) {
  Client* client = recording();
  const auto library = [call] { return ask_library(call); };
  if (!client) return library();
  const uint64_t futex = word(call[1]);
  return waits(call[2]) ? wait_at(client, futex, site, library)
                        : wake_at(client, futex, site, static_cast<uint32_t>(call[3]), library);
}

[[gnu::noinline]] long at_other_call(const long* call) {
  ProgramCall program_call(call);
  if (call[0] == SYS_rseq) note_restartable_area(reinterpret_cast<const void*>(call[1]));
  if (call[0] == SYS_close) descriptor_closed(static_cast<int>(call[1]));
  const uint32_t expected = expect_sets_change(call);
  const long result = ask_library(call);
  program_call.returned(result);
  if (call[0] == SYS_rt_sigaction && result == 0) show_own_handler(call[1], call[3]);
  invalidate_sets_by(call, result, expected);
  return result;
}

}  // namespace

// Six arguments are read whatever the call has: the others are whatever the registers held, as in the C library itself.
CONTRAFACT_INTERPOSE(long, syscall, (long number, long a, long b, long c, long d, long e, long f)) {
  CONTRAFACT_CALLED;
  const long call[] = {number, a, b, c, d, e, f};
  const bool is_futex = number == SYS_futex && (waits(b) || wakes(b));
  const long result = is_futex ? at_futex(call, CONTRAFACT_SITE) : at_other_call(call);
  return called_.effect(number, result, a, b, c, d, e, f);
}
