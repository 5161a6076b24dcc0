// Which threads count as users of tasks, and what each of them is doing at every instant: the one definition behind
// every thread-use figure (docs/metrics.md), for the measured, the estimated and the simulated run alike. It looks at
// events only, never at the kernel's context switches, because estimated runs have none and must be comparable.
//
// Pure functions; a trace may be shared between threads.
#pragma once

#include <vector>

#include "model/task_walk.h"
#include "model/trace.h"

namespace contrafact::model {

enum class ThreadState : uint8_t {
  outside,     // not counted: a daemon before, after or asleep between its dealings with tasks
  unoccupied,  // a pool's worker without a task
  active,      // executing a task, or code of its own
  blocked,     // active, but inside a recorded block: lock, queue, sleep, input or output
  waiting,     // asleep for another task's result
};
inline constexpr size_t kThreadStates = 5;

enum class ThreadRole : uint8_t {
  bystander,  // a daemon that never touches a task, or a thread in which a virtual machine ends: shutdown hooks,
              // too
  plain,      // a daemon that spawns, waits or runs tasks, but no thread waits for its own run
  own,        // the program's own, the main thread above all: all of its run counts, whether it touches a task or not
  joined,     // its own run is a task that some thread waits for: all of it counts, too
  worker,     // a thread of a pool
};

struct ThreadUse {
  ThreadRole role = ThreadRole::bystander;
  PoolId pool;           // a worker's home
  int64_t begin_ns = 0;  // it is counted from here ...
  int64_t end_ns = 0;    // ... to here
  bool has_run = false;  // its own run is a recorded task, though perhaps no thread waits for it
};

// Indexed by thread. Linear in the events.
std::vector<ThreadUse> thread_uses(const Trace& trace);

// Calls `emit(begin_ns, end_ns, state)` for the thread's states in order; intervals touch, are not empty, and cover
// exactly [use.begin_ns, use.end_ns).
template <typename Emit>
void for_each_state(const Trace& trace, ThreadId thread, const ThreadUse& use, Emit&& emit);

namespace detail {

// The state after the walk's latest event.
inline ThreadState state_of(const TaskWalk& walk, const Trace& trace, const ThreadUse& use) {
  if (walk.in(FrameKind::wait)) return ThreadState::waiting;
  TaskId task = walk.task();
  const bool own_run = !task.valid() || trace.tasks[task.index()].kind == TaskKind::thread;
  const bool blocked = walk.in(FrameKind::block);
  if (own_run && use.role == ThreadRole::worker) return ThreadState::unoccupied;
  if (own_run && use.role == ThreadRole::plain) return blocked ? ThreadState::outside : ThreadState::active;
  return blocked ? ThreadState::blocked : ThreadState::active;
}

}  // namespace detail

template <typename Emit>
void for_each_state(const Trace& trace, ThreadId thread, const ThreadUse& use, Emit&& emit) {
  if (use.role == ThreadRole::bystander || use.end_ns <= use.begin_ns) return;
  ThreadState state = use.role == ThreadRole::worker ? ThreadState::unoccupied : ThreadState::active;
  int64_t since_ns = use.begin_ns;
  for (TaskWalk walk(trace, thread); walk.next();) {
    const ThreadState next = detail::state_of(walk, trace, use);
    if (next == state) continue;
    const int64_t now_ns = walk.time_ns() < use.end_ns ? walk.time_ns() : use.end_ns;
    if (now_ns > since_ns) {
      emit(since_ns, now_ns, state);
      since_ns = now_ns;
    }
    state = next;
  }
  if (use.end_ns > since_ns) emit(since_ns, use.end_ns, state);
}

}  // namespace contrafact::model
