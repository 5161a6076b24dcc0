#include "analysis/lock_likeness.h"

#include <algorithm>
#include <utility>

#include "base/saturating.h"

namespace contrafact::analysis {
namespace {

bool may_serve_as_lock(format::LockKind kind) {
  return kind == format::LockKind::condition || kind == format::LockKind::semaphore || kind == format::LockKind::futex;
}

}  // namespace

std::vector<bool> locks_by_use(const model::Trace& trace, std::span<const model::CriticalSection> sections,
                               std::span<const model::SyncWake> wakes) {
  std::vector<std::pair<uint32_t, uint32_t>> waiters;  // lock, thread
  for (const model::SyncWake& wake : wakes)
    waiters.emplace_back(sections[wake.wait].lock.value, sections[wake.wait].thread.value);
  std::ranges::sort(waiters);
  waiters.erase(std::unique(waiters.begin(), waiters.end()), waiters.end());

  std::vector<int64_t> woken_ns(trace.locks.size(), 0), passed_on_ns(trace.locks.size(), 0);
  for (const model::SyncWake& wake : wakes) {
    const model::CriticalSection& wait = sections[wake.wait];
    const uint32_t lock = wait.lock.value;
    if (!may_serve_as_lock(trace.locks[lock].kind)) continue;
    woken_ns[lock] = base::add_saturated(woken_ns[lock], wait.wait_ns());
    if (trace.kind[wake.cause.index()] != model::EventKind::sync_signal) continue;
    const std::pair waker(lock, trace.thread_of(wake.cause).value);
    if (std::ranges::binary_search(waiters, waker))
      passed_on_ns[lock] = base::add_saturated(passed_on_ns[lock], wait.wait_ns());
  }
  std::vector<bool> out(trace.locks.size());
  for (size_t lock = 0; lock < out.size(); ++lock)
    out[lock] = passed_on_ns[lock] > 0 && passed_on_ns[lock] >= woken_ns[lock] - passed_on_ns[lock];
  return out;
}

}  // namespace contrafact::analysis
