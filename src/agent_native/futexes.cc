// syscall(SYS_futex, ...): what programs with locks of their own wait on. The wait is seen, not the lock.
#include <linux/futex.h>
#include <sys/syscall.h>

#include "agent_native/blocking.h"
#include "agent_native/real.h"
#include "agent_native/signal_handlers.h"

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

}  // namespace

// Six arguments are read whatever the call has: the others are whatever the registers held, as in the C library itself.
CONTRAFACT_INTERPOSE(long, syscall, (long number, long a, long b, long c, long d, long e, long f)) {
  CONTRAFACT_CALLED;
  if (number != SYS_futex || !waits(b)) {
    const long call[] = {number, a, b, c, d, e, f};
    before_program_call(call);
    if (number == SYS_rseq) note_restartable_area(reinterpret_cast<const void*>(a));
    const uint32_t expected = expect_sets_change(call);
    const long result = called_.effect(number, real().syscall(number, a, b, c, d, e, f), a, b, c, d, e, f);
    if (number == SYS_rt_sigaction && result == 0) show_own_handler(a, c);
    invalidate_sets_by(call, result, expected);
    return result;
  }
  const long result =
      block(BlockReason::futex, CONTRAFACT_SITE, [&] { return real().syscall(number, a, b, c, d, e, f); });
  return called_.effect(number, result, a, b, c, d, e, f);
}
