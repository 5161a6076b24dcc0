#include "model/request_moments.h"

#include "model/sends.h"
#include "model/task_walk.h"

namespace contrafact::model {

RequestMoments::RequestMoments(const ThreadSleeps& sleeps, const std::vector<Request>& requests,
                               std::span<const uint32_t> further, HandOuts& hand_outs)
    : sleeps_(sleeps), trace_(sleeps.trace()), threads_(trace_.threads.size()) {
  for (const Request& request : requests) {
    moments_[request.received];
    moments_[request.answered];
  }
  for (const uint32_t event : further) moments_[event];
  for (uint32_t i = 0; i < trace_.threads.size(); ++i) walk_thread(ThreadId(i), hand_outs);
}

void RequestMoments::walk_thread(ThreadId thread, HandOuts& hand_outs) {
  const EventRange range = trace_.thread_events(thread);
  Looking& looking = threads_[thread.index()];
  looking.looks_by = looks_by(thread);
  Moment now{.busy_before = range.begin, .busy_ns = range.size() > 0 ? trace_.time_ns[range.begin] : 0};
  TaskId polling;
  for (TaskWalk walk(trace_, thread); walk.next();) {
    const uint32_t event = walk.event().value;
    const EventKind kind = walk.kind();
    if (const auto found = moments_.find(event); found != moments_.end()) {
      now.task = walk.task();
      now.outermost = outermost_of(walk);
      now.has_polled = polling.valid() && polling == now.outermost;
      found->second = now;
    }
    if (kind == EventKind::block_end && static_cast<BlockReason>(walk.a()) == BlockReason::poll)
      polling = outermost_of(walk);
    hand_outs.note(walk);
    const bool goes_on =
        closes(kind) && kind != EventKind::method_exit && kind != EventKind::lock_acquired &&
        kind != EventKind::lock_acquired_shared &&
        !(kind == EventKind::block_end && walk.has_closed() && !sleeps_.is_sleep(walk.closed().begin.value));
    if (goes_on || kind == EventKind::task_start) now.busy_before = event + 1, now.busy_ns = walk.time_ns();
    if (kind != EventKind::block_end || !walk.has_closed()) continue;
    const uint32_t begin = walk.closed().begin.value;
    if (static_cast<BlockReason>(trace_.a[begin]) != looking.looks_by) continue;
    if (looking.looks_by == BlockReason::io && is_block_of_send(trace_, begin)) continue;
    now.before = now.last;
    now.last = {trace_.time_ns[begin], walk.time_ns(), event + 1};
    // Of calls that receive, those that are over soon are not recorded, so that one that took long without a wait says nothing of others.
    if (looking.looks_by == BlockReason::poll && !sleeps_.has_waited(thread, now.last.begin_ns, now.last.end_ns))
      looking.has_looked_without_wait = true;
  }
}

BlockReason RequestMoments::looks_by(ThreadId thread) const {
  const EventRange range = trace_.thread_events(thread);
  for (uint32_t i = range.begin; i < range.end; ++i) {
    const bool blocks = trace_.kind[i] == EventKind::block_begin;
    if (blocks && static_cast<BlockReason>(trace_.a[i]) == BlockReason::poll) return BlockReason::poll;
  }
  return BlockReason::io;
}

TaskId RequestMoments::outermost_of(const TaskWalk& walk) const {
  for (const Frame& frame : walk.stack()) {
    if (frame.kind == FrameKind::task && trace_.tasks[frame.task.index()].kind == TaskKind::pooled) return frame.task;
  }
  return TaskId::none();
}

}  // namespace contrafact::model
