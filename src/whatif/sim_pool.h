// The queues of one simulated pool. Workers are numbers of simulated threads; tasks are task numbers. Plain data with
// the rules of which worker takes which task next; the machine wakes, creates and times workers. Not thread-safe.
//
//  - thread pools: one queue, first in first out; idle workers wait in a queue of their own;
//  - fork-join pools: a worker takes its own newest task, then the oldest of the next worker that has one, then the
//    oldest that came from outside.
// A task that a helper takes out of turn stays in its queue and is skipped there: `is_queued` says so.
#pragma once

#include <cstdint>
#include <vector>

#include "base/fifo.h"
#include "model/pool_capacity.h"
#include "whatif/sim_latency.h"

namespace contrafact::whatif {

struct SimPool {
  format::PoolKind kind = format::PoolKind::other;
  uint32_t capacity = model::kUnboundedPool;
  uint32_t core = 0;      // a worker is created for every task until there are this many
  uint32_t recorded = 0;  // workers that the recorded run had
  // Cached pools: a task is handed to one idle worker. Other pools have a queue. A worker that has just ended its task
  // takes the next from it before woken workers arrive.
  bool hands_over = false;
  PoolLatency latency;
  bool fork_join() const { return kind == format::PoolKind::fork_join; }
  bool thread_per_task() const { return kind == format::PoolKind::thread_per_task; }

  struct Worker {
    uint32_t thread;
    base::Fifo<uint32_t> tasks;  // fork-join: its own, the newest at the back
  };
  std::vector<Worker> workers;
  base::Fifo<uint32_t> idle;  // positions in `workers`, the longest idle first
  base::Fifo<uint32_t> queue;
  std::vector<uint32_t> helpers;  // threads that wait and would run tasks meanwhile
  uint32_t queued = 0;            // tasks in all queues, the skipped ones not counted
  uint32_t waking = 0;            // workers on their way to look for tasks
  uint32_t active = 0;            // workers neither idle nor blocked in a wait
  int64_t last_end_ns = 0;        // when its latest task ended

  static constexpr uint32_t kNone = UINT32_MAX;

  // The next task for a worker, kNone if there is none. `is_queued(task)`: still waiting for a worker.
  template <typename IsQueued>
  uint32_t take(uint32_t worker, IsQueued&& is_queued) {
    if (queued == 0) return kNone;
    if (fork_join()) {
      if (const uint32_t own = take_back(workers[worker].tasks, is_queued); own != kNone) return own;
      for (size_t i = 1; i < workers.size(); ++i) {
        const uint32_t other = take_oldest(static_cast<uint32_t>((worker + i) % workers.size()), is_queued);
        if (other != kNone) return other;
      }
    }
    return take_front(queue, is_queued);
  }

  // The oldest task of a fork-join worker's own.
  template <typename IsQueued>
  uint32_t take_oldest(uint32_t worker, IsQueued&& is_queued) {
    return take_front(workers[worker].tasks, is_queued);
  }

  // The newest of `tasks`, or in the second function the oldest, if it is wanted. Otherwise all stay where they are.
  template <typename IsQueued, typename IsWanted>
  uint32_t take_newest_part(base::Fifo<uint32_t>& tasks, IsQueued&& is_queued, IsWanted&& is_wanted) {
    while (!tasks.empty() && !is_queued(tasks.back())) tasks.pop_back();
    return tasks.empty() || !is_wanted(tasks.back()) ? kNone : take_back(tasks, is_queued);
  }
  template <typename IsQueued, typename IsWanted>
  uint32_t take_oldest_part(base::Fifo<uint32_t>& tasks, IsQueued&& is_queued, IsWanted&& is_wanted) {
    while (!tasks.empty() && !is_queued(tasks.front())) tasks.pop_front();
    return tasks.empty() || !is_wanted(tasks.front()) ? kNone : take_front(tasks, is_queued);
  }

 private:
  template <typename IsQueued>
  uint32_t take_front(base::Fifo<uint32_t>& tasks, IsQueued& is_queued) {
    while (!tasks.empty()) {
      const uint32_t task = tasks.front();
      tasks.pop_front();
      if (!is_queued(task)) continue;
      --queued;
      return task;
    }
    return kNone;
  }
  template <typename IsQueued>
  uint32_t take_back(base::Fifo<uint32_t>& tasks, IsQueued& is_queued) {
    while (!tasks.empty()) {
      const uint32_t task = tasks.back();
      tasks.pop_back();
      if (!is_queued(task)) continue;
      --queued;
      return task;
    }
    return kNone;
  }
};

}  // namespace contrafact::whatif
