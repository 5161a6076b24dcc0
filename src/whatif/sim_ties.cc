#include "whatif/sim_ties.h"

#include <algorithm>

#include "model/task_walk.h"
#include "whatif/sim_latency.h"
#include "whatif/sim_periods.h"

namespace contrafact::whatif {
namespace {

using model::EventIndex;
using model::EventKind;
using model::Frame;
using model::FrameKind;
using model::Outcome;
using model::TaskId;
using model::TaskKind;
using model::TaskRow;
using model::TaskWalk;
using model::ThreadRole;
using model::Trace;

constexpr uint32_t kNoEvent = UINT32_MAX;
// Events of a completion and of what it sets off are stamped one after the other, in either order.
constexpr int64_t kStampSlackNs = 100'000;

class TieFinder {
 public:
  explicit TieFinder(SimProgram& program) : program_(program), trace_(*program.trace) {}

  std::vector<uint32_t> run() {
    program_.external_help.assign(trace_.pools.size(), false);
    find_dynamic();
    find_called();
    find_counted();
    find_helped();
    find_background();
    return std::move(first_depends_);
  }

 private:
  const TaskRow& task(uint64_t id) const { return trace_.tasks[id]; }
  int64_t time(EventIndex event) const { return trace_.time_ns[event.index()]; }

  // The time by which the task's sources must have been complete if they set it off.
  int64_t set_off_ns(const TaskRow& row, TaskId id) const {
    if (row.spawn.valid()) return time(row.spawn);
    if (row.start.valid()) return std::max(time(row.start), row.end.valid() ? time(row.end) : 0);
    return completion_ns(trace_, id);
  }

  void find_dynamic() {
    const size_t tasks = trace_.tasks.size();
    program_.dynamic.assign(tasks, false);
    program_.needs.assign(tasks, 0);
    std::vector<bool> announced(tasks);
    first_depends_.assign(tasks, kNoEvent);
    for (uint32_t i = 0; i < trace_.event_count(); ++i) {
      if (trace_.kind[i] == EventKind::task_depends && first_depends_[trace_.a[i]] == kNoEvent)
        first_depends_[trace_.a[i]] = i;
    }
    const auto& all = trace_.dependencies;
    for (size_t i = 0; i < all.size();) {
      const TaskId id = all[i].task;
      const TaskRow& row = task(id.index());
      const int64_t limit_ns = set_off_ns(row, id);
      size_t sources = 0, ready = 0;
      bool any = false;
      for (; i < all.size() && all[i].task == id; ++i, ++sources) {
        any |= all[i].mode == format::DependsMode::any;
        const int64_t done_ns = completion_ns(trace_, all[i].source);
        ready += done_ns != INT64_MAX && limit_ns != INT64_MAX && done_ns <= limit_ns + kStampSlackNs;
      }
      const size_t needed = any ? 1 : sources;
      const bool announced_somewhere = row.create.valid() || first_depends_[id.index()] != kNoEvent;
      if (ready < needed || !announced_somewhere || row.kind == TaskKind::thread) continue;
      program_.dynamic[id.index()] = true;
      program_.needs[id.index()] = static_cast<uint32_t>(needed);
    }
    index_dependents();
  }

  void index_dependents() {
    auto& begin = program_.dependents_begin;
    begin.assign(trace_.tasks.size() + 1, 0);
    for (const model::Dependency& d : trace_.dependencies) ++begin[d.source.index() + 1];
    for (size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
    program_.dependents.resize(trace_.dependencies.size());
    std::vector<uint32_t> at(begin.begin(), begin.end() - 1);
    for (const model::Dependency& d : trace_.dependencies) program_.dependents[at[d.source.index()]++] = d.task.value;
  }

  void find_called() {
    program_.called.assign(trace_.tasks.size(), false);
    program_.completes_by_op.assign(trace_.tasks.size(), false);
    spawners_.assign(trace_.tasks.size(), TaskId());
    completers_.assign(trace_.tasks.size(), TaskId());
    for (uint32_t thread = 0; thread < trace_.threads.size(); ++thread) {
      if (!program_.is_simulated(thread)) continue;
      for (TaskWalk walk(trace_, model::ThreadId(thread)); walk.next();) {
        if (walk.kind() == EventKind::task_spawn) spawners_[walk.a()] = walk.task();
        if (walk.kind() == EventKind::task_complete) note_complete(walk);
        if (walk.kind() == EventKind::task_start) note_start(walk, thread);
      }
    }
  }

  void note_complete(const TaskWalk& walk) {
    const bool has_body = task(walk.a()).start.valid();
    if (has_body || !program_.dynamic[walk.a()]) program_.completes_by_op[walk.a()] = true;
    completers_[walk.a()] = walk.task();
  }

  // A task with fork-join sub-tasks, completed after its own end by one of those below it.
  bool is_counted(uint32_t id, const std::vector<bool>& has_children) const {
    const TaskRow& row = task(id);
    if (!has_children[id] || !row.start.valid() || !row.complete.valid() || program_.dynamic[id]) return false;
    const bool within = row.complete.value > row.start.value && row.complete.value < row.end.value;
    if (within) return false;
    // The bound is for damaged traces, in which tasks may spawn each other in a circle.
    size_t levels = trace_.tasks.size();
    for (TaskId at = completers_[id]; at.valid() && levels > 0; at = spawners_[at.index()], --levels) {
      if (at.value == id) return true;
    }
    return false;
  }

  void find_counted() {
    const auto tasks = static_cast<uint32_t>(trace_.tasks.size());
    std::vector<bool> has_children(tasks);
    std::vector<uint32_t> parents(tasks, UINT32_MAX);
    for (uint32_t id = 0; id < tasks; ++id) {
      const TaskRow& row = task(id);
      const bool forked = row.pool.valid() && trace_.pools[row.pool.index()].kind == format::PoolKind::fork_join;
      if (!forked || !row.start.valid() || !spawners_[id].valid()) continue;
      parents[id] = spawners_[id].value;
      has_children[parents[id]] = true;
    }
    std::vector<bool> counted(tasks);
    bool any = false;
    for (uint32_t id = 0; id < tasks; ++id) any |= counted[id] = is_counted(id, has_children);
    if (!any) return;
    program_.counted = std::move(counted);
    program_.parents = std::move(parents);
  }

  bool is_forked(TaskId id) const {
    const model::PoolId pool = id.valid() ? task(id.index()).pool : model::PoolId();
    return pool.valid() && trace_.pools[pool.index()].kind == format::PoolKind::fork_join;
  }

  void find_helped() {
    if (!program_.conventions.waiters_run_tasks) return;
    std::vector<uint32_t> helped(trace_.tasks.size(), UINT32_MAX);
    bool any = false;
    for (const model::Dependency& dependency : trace_.dependencies) {
      const uint32_t id = dependency.task.value;
      if (!program_.dynamic[id] || task(id).start.valid() || !is_forked(dependency.source)) continue;
      helped[id] = task(dependency.source.index()).pool.value;
      any = true;
    }
    if (!any) return;
    program_.helped = std::move(helped);
    program_.parents.assign(trace_.tasks.size(), UINT32_MAX);
    for (uint32_t id = 0; id < trace_.tasks.size(); ++id) {
      if (task(id).start.valid() && is_forked(TaskId(id)) && is_forked(spawners_[id]))
        program_.parents[id] = spawners_[id].value;
    }
  }

  // True for a thread whose last event was added because the recording ended while it blocked or ran.
  bool was_cut_off(uint32_t thread) const {
    const model::EventRange range = trace_.thread_events(model::ThreadId(thread));
    if (range.size() == 0) return true;
    const uint32_t last = range.end - 1;
    switch (trace_.kind[last]) {
      case EventKind::block_end:
        return trace_.time_ns[last] == trace_end_ns_;
      case EventKind::wait_end:
        return trace_.time_ns[last] == trace_end_ns_ && static_cast<Outcome>(trace_.b[last]) == Outcome::interrupted;
      case EventKind::task_end:
        return task(trace_.a[last]).truncated;
      default:
        return false;
    }
  }

  // True for a thread that waited or was blocked when the recording ended.
  bool was_waiting(uint32_t thread) const {
    const model::EventRange range = trace_.thread_events(model::ThreadId(thread));
    std::vector<uint32_t> open;
    bool waiting = false;
    for (uint32_t i = range.begin; i < range.end; ++i) {
      if (model::opens(trace_.kind[i])) open.push_back(i);
      if (!model::closes(trace_.kind[i]) || open.empty()) continue;
      waiting |= trace_.kind[i] != EventKind::task_end && trace_.kind[i] != EventKind::method_exit &&
                 trace_.time_ns[i] == trace_end_ns_ && trace_.time_ns[open.back()] < trace_end_ns_;
      open.pop_back();
    }
    return waiting;
  }

  // The threads that ran when a program that ends with its main thread was cut off while that one waited for others.
  // The recorded part of these threads is all that shows how long the run takes. None: not such a program.
  std::vector<bool> cut_off_at_work() const {
    std::vector<bool> at_work(trace_.threads.size(), false);
    if (!program_.conventions.ends_with_main_thread || trace_.threads.empty() || !was_waiting(0)) return at_work;
    for (uint32_t i = 1; i < trace_.threads.size(); ++i) {
      const bool begins = trace_.thread_events(model::ThreadId(i)).size() > 0;
      at_work[i] = begins && !trace_.threads[i].daemon && was_cut_off(i) && !was_waiting(i);
    }
    return at_work;
  }

  void find_background() {
    trace_end_ns_ = trace_.end_ns();
    const size_t tasks = trace_.tasks.size();
    program_.background.assign(tasks + trace_.threads.size(), false);
    for (size_t id = 0; id < tasks; ++id) {
      const bool periodic = !program_.periodic_due_ns.empty() && program_.periodic_due_ns[id] != kNoDueTime;
      program_.background[id] = task(id).truncated || task(id).delay_us > 0 || periodic;
    }
    const std::vector<bool> at_work = cut_off_at_work();
    const bool main_waits = std::ranges::find(at_work, true) != at_work.end();
    for (size_t i = 0; i < trace_.threads.size(); ++i) {
      const ThreadRole role = program_.uses[i].role;
      const bool daemon = (role == ThreadRole::plain || role == ThreadRole::own) && trace_.threads[i].daemon;
      // It lasts as long as its main thread, also if both were cut off; unless the main thread only waited for those at
      // work.
      const bool lasts = at_work[i] || (program_.conventions.ends_with_main_thread && i == 0 && !main_waits);
      program_.background[tasks + i] =
          role == ThreadRole::worker || daemon || (!lasts && was_cut_off(static_cast<uint32_t>(i)));
    }
  }

  void note_start(const TaskWalk& walk, uint32_t thread) {
    const uint32_t id = walk.a();
    const TaskRow& row = task(id);
    const auto& stack = walk.stack();
    const bool in_wait = stack.size() >= 2 && stack[stack.size() - 2].kind == FrameKind::wait;
    if (row.kind == TaskKind::stage) {
      program_.called[id] = !program_.dynamic[id];
    } else if (row.kind == TaskKind::thread) {
      program_.called[id] = true;  // by its thread's own run
    } else if (in_wait) {
      if (program_.uses[thread].role != ThreadRole::worker && row.pool.valid())
        program_.external_help[row.pool.index()] = true;
    } else if (row.spawn.valid() && trace_.thread_of(row.spawn) == model::ThreadId(thread)) {
      // Spawned and run by the same thread inside the same run: the pool's caller ran what the pool rejected.
      const bool nested = stack.size() >= 2;
      const Frame around = nested ? stack[stack.size() - 2] : Frame{};
      const bool in_task =
          nested && around.kind == FrameKind::task && task(around.task.index()).kind != TaskKind::thread;
      const bool worker = program_.uses[thread].role == ThreadRole::worker;
      program_.called[id] = in_task ? row.spawn.value > around.begin.value : !worker;
    }
  }

  SimProgram& program_;
  const Trace& trace_;
  std::vector<uint32_t> first_depends_;  // by task
  std::vector<TaskId> spawners_;         // by task: the task inside which it was spawned
  std::vector<TaskId> completers_;       // by task: the task inside which it was completed
  int64_t trace_end_ns_ = 0;
};

}  // namespace

std::vector<uint32_t> find_ties(SimProgram& program) {
  return TieFinder(program).run();
}

}  // namespace contrafact::whatif
