#include "model/kept_workers.h"

#include <algorithm>
#include <set>
#include <utility>

#include "model/task_walk.h"

namespace contrafact::model {
namespace {

struct Polls {
  std::set<uint32_t> threads;
  std::vector<std::pair<int64_t, int>> changes;  // of the number of threads that poll
};

class Finder {
 public:
  Finder(const Trace& trace, const Requests& requests) : trace_(trace), polls_(trace.pools.size()) {
    kept_.assign(trace.pools.size(), 0);
    for (const Request& request : requests.all) {
      served_.push_back(request.received);
      if (request.answered != UINT32_MAX) served_.push_back(request.answered);
      first_ns_ = std::min(first_ns_, request.arrived_ns);
    }
    std::ranges::sort(served_);
  }

  std::vector<uint32_t> run() {
    for (uint32_t i = 0; i < trace_.threads.size(); ++i) walk(ThreadId(i));
    for (size_t pool = 0; pool < polls_.size(); ++pool) add_pollers(pool);
    return std::move(kept_);
  }

 private:
  // The innermost one that a pool runs, so that it has a worker. None: invalid.
  TaskId pooled(const TaskWalk& walk) const {
    for (auto frame = walk.stack().rbegin(); frame != walk.stack().rend(); ++frame) {
      if (frame->kind != FrameKind::task) continue;
      const TaskRow& row = trace_.tasks[frame->task.index()];
      if (row.kind == TaskKind::pooled && row.pool.valid()) return frame->task;
    }
    return TaskId::none();
  }

  void walk(ThreadId thread) {
    for (TaskWalk walk(trace_, thread); walk.next();) {
      if (walk.kind() == EventKind::task_start) note_task(TaskId(walk.a()));
      if (walk.kind() != EventKind::block_end || !walk.has_closed() || walk.closed().kind != FrameKind::block) continue;
      const uint32_t begin = walk.closed().begin.value;
      const TaskId task = pooled(walk);
      if (!task.valid() || static_cast<BlockReason>(trace_.a[begin]) != BlockReason::poll) continue;
      Polls& polls = polls_[trace_.tasks[task.index()].pool.index()];
      polls.threads.insert(thread.value);
      polls.changes.emplace_back(trace_.time_ns[begin], 1);
      polls.changes.emplace_back(walk.time_ns(), -1);
    }
  }

  void note_task(TaskId task) {
    const TaskRow& row = trace_.tasks[task.index()];
    const bool lasts = row.truncated || !row.end.valid();
    if (row.kind != TaskKind::pooled || !row.pool.valid() || !lasts || !row.start.valid()) return;
    if (trace_.time_ns[row.start.index()] >= first_ns_) return;
    const EventRange range = trace_.thread_events(trace_.thread_of(row.start));
    const auto served = std::ranges::lower_bound(served_, row.start.value);
    if (served == served_.end() || *served >= range.end) ++kept_[row.pool.index()];
  }

  void add_pollers(size_t pool) {
    Polls& polls = polls_[pool];
    std::ranges::sort(polls.changes);  // at one time, ends come first
    int now = 0, most = 0;
    for (const auto& [time_ns, change] : polls.changes) most = std::max(most, now += change);
    if (static_cast<size_t>(most) < polls.threads.size()) kept_[pool] += static_cast<uint32_t>(most);
  }

  const Trace& trace_;
  std::vector<uint32_t> served_;  // events, sorted
  int64_t first_ns_ = INT64_MAX;
  std::vector<Polls> polls_;  // by pool
  std::vector<uint32_t> kept_;
};

}  // namespace

std::vector<uint32_t> kept_workers(const Trace& trace, const Requests& requests) {
  return Finder(trace, requests).run();
}

}  // namespace contrafact::model
