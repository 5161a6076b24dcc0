#include "translate/cache_door.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "translate/raw_system_call.h"

namespace contrafact::translate {
namespace {

// A thread that ended without Translator::detach() may have left its memory unmapped: so the kernel does the reading.
bool is_nobody_inside(const Thread* threads, int process) {
  for (const Thread* thread = threads; thread; thread = thread->next) {
    Mode mode = Mode::in_cache;
    const iovec to{&mode, sizeof mode};
    const iovec from{const_cast<Mode*>(&thread->state->mode), sizeof mode};
    const long got = raw_system_call(SYS_process_vm_readv, process, reinterpret_cast<long>(&to), 1,
                                     reinterpret_cast<long>(&from), 1, 0);
    if (got != sizeof mode || mode != Mode::native) return false;
  }
  return true;
}

}  // namespace

void CacheDoor::enable() {
  if (disabled_.fetch_sub(1) != 1) return;
  attention_.store(wants_clear_);
  if (is_disabled()) attention_.store(true);
}

// The kernel must be asked for its barriers before they are used; not by programs that never need them.
void CacheDoor::want_clear() {
  if (wants_clear_) return;
  wants_clear_ = raw_system_call(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0 &&
                 raw_system_call(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE) == 0;
  if (wants_clear_) attention_.store(true, std::memory_order_relaxed);
}

bool CacheDoor::try_close(int64_t now_ns, const Thread* threads, int process) {
  if (!wants_clear_) return false;
  look_at_ns_.store(now_ns + kLookEveryNs, std::memory_order_relaxed);
  if (is_closed() && now_ns > closed_until_ns_) {
    closed_.store(false, std::memory_order_relaxed);
    look_at_ns_.store(now_ns + kClearEveryNs, std::memory_order_relaxed);
    return false;
  }
  if (!is_closed()) closed_until_ns_ = now_ns + kClosedNs;
  closed_.store(true, std::memory_order_relaxed);
  raw_system_call(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED);
  return is_nobody_inside(threads, process);
}

void CacheDoor::open() {
  wants_clear_ = false;
  // Other cores forget what they fetched of the old code.
  raw_system_call(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE);
  attention_.store(false);
  if (is_disabled()) attention_.store(true);
  closed_.store(false, std::memory_order_release);
}

}  // namespace contrafact::translate
