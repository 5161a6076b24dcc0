#include "model/thread_state.h"

#include <algorithm>

namespace contrafact::model {
namespace {

// The thread runs that some thread waits for.
std::vector<bool> joined_runs(const Trace& trace) {
  std::vector<bool> joined(trace.tasks.size());
  for (size_t i = 0; i < trace.event_count(); ++i) {
    if (trace.kind[i] != EventKind::wait_begin || trace.a[i] == TaskId::kNone) continue;
    joined[trace.a[i]] = trace.tasks[trace.a[i]].kind == TaskKind::thread;
  }
  for (const Dependency& dependency : trace.dependencies) {
    if (trace.tasks[dependency.source.index()].kind == TaskKind::thread) joined[dependency.source.index()] = true;
  }
  return joined;
}

// What one thread's events say about its role.
struct Evidence {
  PoolId pool;      // of the first worker event
  PoolId runs_for;  // pool of the first task that it took over from another thread outside any task
  TaskId own_run;   // thread task
  int64_t own_begin_ns = 0, own_end_ns = 0;
  bool own_ended = false;
  bool deals = false;                 // any dealing with a task other than its own run
  int64_t first_ns = 0, last_ns = 0;  // of these dealings
  bool open_at_end = false;           // a wait or a task never ended
  bool thread_ended = false;
};

bool is_dealing(EventKind kind) {
  switch (kind) {
    case EventKind::task_create:
    case EventKind::task_spawn:
    case EventKind::task_start:
    case EventKind::task_end:
    case EventKind::task_complete:
    case EventKind::wait_begin:
    case EventKind::wait_end:
      return true;
    default:
      return false;
  }
}

// True for a pooled task that starts on `thread` outside other tasks and was spawned elsewhere: only workers do that. A
// caller that runs a rejected task itself has spawned it.
bool taken_over(const Trace& trace, ThreadId thread, const TaskWalk& walk) {
  const TaskRow& task = trace.tasks[walk.task().index()];
  if (task.kind != TaskKind::pooled) return false;
  const auto& stack = walk.stack();
  if (stack.size() > 2) return false;
  if (stack.size() == 2 &&
      (stack[0].kind != FrameKind::task || trace.tasks[stack[0].task.index()].kind != TaskKind::thread))
    return false;
  return !task.spawn.valid() || trace.thread_of(task.spawn) != thread;
}

void note_dealing(const TaskWalk& walk, Evidence& evidence) {
  const bool names_task = walk.kind() != EventKind::wait_begin && walk.kind() != EventKind::wait_end;
  if (names_task && TaskId(walk.a()) == evidence.own_run) return;
  if (!evidence.deals) evidence.first_ns = walk.time_ns();
  evidence.deals = true;
  evidence.last_ns = walk.time_ns();
}

Evidence gather(const Trace& trace, ThreadId thread) {
  Evidence evidence;
  TaskWalk walk(trace, thread);
  while (walk.next()) {
    const EventKind kind = walk.kind();
    if ((kind == EventKind::worker_idle || kind == EventKind::worker_busy) && !evidence.pool.valid())
      evidence.pool = PoolId(walk.a());
    if (kind == EventKind::task_start) {
      const TaskId task(walk.a());
      if (trace.tasks[task.index()].kind == TaskKind::thread && !evidence.own_run.valid()) {
        evidence.own_run = task;
        evidence.own_begin_ns = walk.time_ns();
      } else if (!evidence.runs_for.valid() && taken_over(trace, thread, walk)) {
        evidence.runs_for = trace.tasks[task.index()].pool;
      }
    }
    if (kind == EventKind::task_end && TaskId(walk.a()) == evidence.own_run) {
      evidence.own_ended = true;
      evidence.own_end_ns = walk.time_ns();
    }
    if (kind == EventKind::thread_end) evidence.thread_ended = true;
    if (is_dealing(kind)) note_dealing(walk, evidence);
  }
  for (const Frame& frame : walk.stack()) {
    if (frame.kind == FrameKind::wait || (frame.kind == FrameKind::task && frame.task != evidence.own_run))
      evidence.open_at_end = true;
  }
  return evidence;
}

// A program's work outside tasks could be a task, and the other way round. So whether a thread counts must not depend
// on whether it deals with tasks: each thread that is no daemon counts. Virtual threads are daemons in name only.
bool is_programs_own(const Trace& trace, ThreadId thread) {
  const format::ThreadRow& row = trace.threads[thread.index()];
  return row.kind == format::ThreadKind::virtual_thread || !row.daemon;
}

// The threads of a virtual machine that ends: the one that waits for all others' end, and the shutdown hooks, which it
// starts and joins. They begin when the program is over, however long that took. (Where they counted, a program that
// logged, and so had a hook, seemed to end no sooner than it was recorded to, whatever was changed.)
std::vector<bool> shutdown_threads(const Trace& trace) {
  std::vector<bool> ends(trace.threads.size());
  for (uint32_t i = 0; i < ends.size(); ++i) {
    if (trace.string(trace.threads[i].name) != "DestroyJavaVM") continue;
    ends[i] = true;
    const EventRange range = trace.thread_events(ThreadId(i));
    for (uint32_t event = range.begin; event < range.end; ++event) {
      if (trace.kind[event] != EventKind::task_spawn) continue;
      const TaskRow& hook = trace.tasks[trace.a[event]];
      if (hook.kind == TaskKind::thread && hook.start.valid()) ends[trace.thread_of(hook.start).index()] = true;
    }
  }
  return ends;
}

ThreadUse use_of(const Trace& trace, ThreadId thread, const Evidence& evidence, bool joined, int64_t trace_end_ns) {
  const EventRange range = trace.thread_events(thread);
  ThreadUse use;
  if (range.size() == 0) return use;
  const bool goes_on = evidence.open_at_end && !evidence.thread_ended;
  use.has_run = evidence.own_run.valid();
  use.pool = evidence.pool.valid() ? evidence.pool : evidence.runs_for;
  if (use.pool.valid()) {
    use.role = ThreadRole::worker;
    use.begin_ns = trace.time_ns[range.begin];
    use.end_ns = evidence.thread_ended ? trace.time_ns[range.end - 1] : trace_end_ns;
  } else if (joined) {
    use.role = ThreadRole::joined;
    use.begin_ns = evidence.own_begin_ns;
    use.end_ns = evidence.own_ended ? evidence.own_end_ns : trace_end_ns;
  } else if (is_programs_own(trace, thread)) {
    use.role = ThreadRole::own;
    use.begin_ns = use.has_run ? evidence.own_begin_ns : trace.time_ns[range.begin];
    use.end_ns = evidence.own_ended      ? evidence.own_end_ns
                 : evidence.thread_ended ? trace.time_ns[range.end - 1]
                                         : trace_end_ns;
  } else if (evidence.deals) {
    use.role = ThreadRole::plain;
    use.begin_ns = evidence.first_ns;
    use.end_ns = goes_on ? trace_end_ns : evidence.last_ns;
  }
  return use;
}

}  // namespace

std::vector<ThreadUse> thread_uses(const Trace& trace) {
  const std::vector<bool> joined = joined_runs(trace);
  const std::vector<bool> ends = shutdown_threads(trace);
  const int64_t end_ns = trace.end_ns();
  std::vector<ThreadUse> uses(trace.threads.size());
  for (size_t i = 0; i < uses.size(); ++i) {
    if (ends[i]) continue;
    const ThreadId thread(static_cast<uint32_t>(i));
    const Evidence evidence = gather(trace, thread);
    const bool is_joined = evidence.own_run.valid() && joined[evidence.own_run.index()];
    uses[i] = use_of(trace, thread, evidence, is_joined, end_ns);
  }
  return uses;
}

}  // namespace contrafact::model
