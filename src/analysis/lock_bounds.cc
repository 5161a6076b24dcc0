#include "analysis/lock_bounds.h"

#include <algorithm>
#include <cmath>

#include "model/event_parts.h"
#include "model/lock_waits.h"

namespace contrafact::analysis {
namespace {

bool is_held_by_one(format::LockKind kind) {
  return kind == format::LockKind::monitor || kind == format::LockKind::mutex || kind == format::LockKind::rwlock;
}

// The share of the time for which a lock is held that so many threads wait for. `scale`: 1 of holds that vary as
// exponential times do, 2 of equal ones.
double held_share(double waiting, double scale) {
  const double x = scale * waiting;
  return (std::sqrt(x * x + 4 * x) - x) / 2;
}

// For how long the thread had no core in that time although it could have gone on.
int64_t without_core_ns(const model::Trace& trace, model::ThreadId thread, int64_t begin_ns, int64_t end_ns) {
  if (!thread.valid() || thread.index() >= trace.cpu.size()) return 0;
  const std::vector<model::CpuGap>& gaps = trace.cpu[thread.index()];
  int64_t found_ns = 0;
  for (auto gap = std::ranges::upper_bound(gaps, begin_ns, {}, &model::CpuGap::in_ns); gap != gaps.end(); ++gap) {
    if (gap->out_ns >= end_ns) break;
    if (gap->preempted) found_ns += std::min(end_ns, gap->in_ns) - std::max(begin_ns, gap->out_ns);
  }
  return found_ns;
}

// Where threads work for requests, or in a task that is not their own run.
model::EventParts work_of(const model::Trace& trace, const model::Requests& requests) {
  model::EventParts parts;
  for (const model::TaskRow& task : trace.tasks) {
    const bool is_thread = task.kind == model::TaskKind::thread;
    if (!is_thread && task.start.valid() && task.end.valid()) parts.add(task.start.value, task.end.value);
  }
  for (const model::Request& request : requests.all) {
    for (const model::Stretch& stretch : {request.first, request.second}) {
      if (stretch.exists()) parts.add(stretch.before, stretch.until);
    }
  }
  parts.finish();
  return parts;
}

}  // namespace

std::vector<LockBound> lock_bounds(const model::Facts& facts, const model::Requests& requests) {
  constexpr uint64_t kWaitsMin = 10;  // fewer say how often they come to no better than a third (1 / sqrt(10))
  constexpr double kHeldMin = 0.02;
  const model::Trace& trace = facts.trace();
  std::vector<LockBound> bounds;
  if (model::has_lock_events(trace)) return bounds;
  const int64_t begin_ns = requests.all.front().arrived_ns;
  int64_t end_ns = begin_ns;
  for (const model::Request& request : requests.all) end_ns = std::max(end_ns, request.answered_ns);
  const auto count = static_cast<double>(requests.all.size());
  const double per_second = end_ns > begin_ns ? count * 1e9 / static_cast<double>(end_ns - begin_ns) : 0;
  const model::EventParts work = work_of(trace, requests);
  int64_t longest_ns = 0;
  std::vector<double> waits_ns;  // by bound
  for (const model::LockWait& wait : model::lock_waits(trace)) {
    if (!wait.lock.valid() || !is_held_by_one(trace.locks[wait.lock.index()].kind)) continue;
    if (wait.end_ns < begin_ns || wait.end_ns > end_ns || !work.contain(wait.begin.value)) continue;
    if (bounds.empty() || bounds.back().lock != wait.lock) {
      bounds.push_back({.lock = wait.lock});
      waits_ns.push_back(0);
      longest_ns = -1;
    }
    ++bounds.back().waits;
    // A holder that another thread keeps from its core holds for longer than the lock needs: what lacks is a core.
    waits_ns.back() +=
        static_cast<double>(wait.wait_ns() - without_core_ns(trace, wait.holder, wait.begin_ns, wait.end_ns));
    if (wait.wait_ns() <= longest_ns) continue;
    longest_ns = wait.wait_ns();
    bounds.back().site = wait.site;
    bounds.back().holder_at = wait.holder_at;
  }
  for (size_t i = 0; i < bounds.size() && end_ns > begin_ns; ++i) {
    const double waiting = waits_ns[i] / static_cast<double>(end_ns - begin_ns);
    bounds[i].held = held_share(waiting, 1);
    if (bounds[i].held <= 0) continue;
    bounds[i].per_second = per_second / bounds[i].held;
    bounds[i].low_per_second = per_second / held_share(waiting, 2);
  }
  std::erase_if(bounds, [](const LockBound& bound) { return bound.waits < kWaitsMin || bound.held < kHeldMin; });
  std::ranges::stable_sort(bounds, {}, &LockBound::per_second);
  return bounds;
}

}  // namespace contrafact::analysis
