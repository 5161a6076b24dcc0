#include "analysis/task_executions.h"

#include <algorithm>

#include "analysis/stopped_time.h"
#include "model/on_core.h"
#include "model/task_walk.h"

namespace contrafact::analysis {
namespace {

using model::FrameKind;
using model::TaskId;
using model::TaskRow;
using model::TaskWalk;
using model::ThreadId;
using model::Trace;

class Executions {
 public:
  Executions(const Trace& trace, bool aggregate) : trace_(trace), aggregate_(aggregate), stopped_(trace.pauses) {
    const size_t tasks = trace.tasks.size();
    result_.state.resize(tasks, ExecutionState::never);
    result_.outer.resize(tasks);
    result_.owner.resize(tasks);
    result_.core_ns.resize(tasks);
    result_.core_known = model::has_switches(trace);
  }

  TaskExecutions run() {
    for (uint32_t i = 0; i < trace_.threads.size(); ++i) walk_thread(ThreadId(i));
    for (size_t i = 0; i < result_.state.size(); ++i) {
      const TaskRow& row = trace_.tasks[i];
      // Futures that are completed by hand, or by others, have nothing to execute.
      result_.never += result_.state[i] == ExecutionState::never && (row.spawn.valid() || row.body.valid());
      result_.unfinished += result_.state[i] == ExecutionState::unfinished;
      result_.aggregated += result_.state[i] == ExecutionState::aggregated;
    }
    return std::move(result_);
  }

 private:
  void walk_thread(ThreadId thread) {
    static const std::vector<model::CpuGap> no_gaps;
    const auto& gaps = thread.index() < trace_.cpu.size() ? trace_.cpu[thread.index()] : no_gaps;
    const bool is_virtual = trace_.threads[thread.index()].kind == format::ThreadKind::virtual_thread;
    const bool by_kernel = result_.core_known && !is_virtual;
    RunningTime running(gaps, stopped_);
    TaskId owner;  // whose time passes before the event at hand
    bool asleep = false;
    int64_t since_ns = 0;
    for (TaskWalk walk(trace_, thread); walk.next();) {
      const int64_t now_ns = walk.time_ns();
      if (owner.valid() && now_ns > since_ns && (by_kernel || !asleep))
        result_.core_ns[owner.index()] += running.within(since_ns, now_ns);
      if (walk.kind() == model::EventKind::task_start) {
        begin(thread, walk);
        result_.has_virtual |= is_virtual;
      }
      owner = walk.task().valid() ? result_.owner[walk.task().index()] : TaskId::none();
      asleep = !walk.stack().empty() && walk.stack().back().kind != FrameKind::task;
      since_ns = now_ns;
    }
  }

  // A task has begun: the uppermost frame. The tasks around it have been decided on.
  void begin(ThreadId thread, const TaskWalk& walk) {
    const TaskId task = walk.task();
    if (!task.valid()) return;
    const TaskRow& row = trace_.tasks[task.index()];
    bool waits = false;
    TaskId outer;
    for (size_t i = walk.stack().size() - 1; i > 0 && !outer.valid(); --i) {
      const model::Frame& frame = walk.stack()[i - 1];
      if (frame.kind == FrameKind::task) outer = frame.task;
      waits |= frame.kind == FrameKind::wait;
    }
    result_.outer[task.index()] = outer;
    result_.owner[task.index()] = task;
    result_.state[task.index()] =
        row.truncated || !row.end.valid() ? ExecutionState::unfinished : ExecutionState::counted;
    const bool in_task = outer.valid() && trace_.tasks[outer.index()].kind != model::TaskKind::thread;
    if (aggregate_ && (in_task ? is_part_of_task(thread, row, waits) : is_part_of_thread(thread, row))) {
      result_.owner[task.index()] = outer.valid() ? result_.owner[outer.index()] : TaskId::none();
      result_.state[task.index()] = ExecutionState::aggregated;
    } else if (in_task && result_.state[task.index()] == ExecutionState::counted) {
      ++result_.nested;
    }
  }

  bool is_part_of_task(ThreadId thread, const TaskRow& row, bool waits) const {
    if (!row.spawn.valid()) return true;
    return !waits && trace_.thread_of(row.spawn) == thread;
  }

  bool is_part_of_thread(ThreadId thread, const TaskRow& row) const {
    return !row.spawn.valid() && row.create.valid() && trace_.thread_of(row.create) == thread;
  }

  const Trace& trace_;
  const bool aggregate_;
  StoppedTime stopped_;
  TaskExecutions result_;
};

}  // namespace

TaskExecutions task_executions(const model::Trace& trace, bool aggregate) {
  return Executions(trace, aggregate).run();
}

}  // namespace contrafact::analysis
