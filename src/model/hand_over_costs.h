// The cost for threads of handing tasks over, in addition to the tasks' own work. The cost is gone where a task is
// called instead. Pure; linear in the events between each task's spawn and the next event, but for sorting by place.
//
//     spawner   spawn ─ queueing ─ wake ─ waking a worker ─ own code ─ next event
//     or        spawn ─ queueing ─ a worker's spawn ─ its start ─ pool_size ─ own code ─ next event
//     or        spawn ─ queueing, waking, starting ─ handed ─ own code ─ next event
//     worker    start ─ body ─ complete ─ wake ─ waking who waits ─ end
//
// A wake-up is a call into the kernel. It takes 2 us, and some 10 where the core of the woken thread sleeps; with tasks
// of 20 us that is most of the run. The worker's side contains library code only, so its length is the cost of a
// wake-up in this run. On the spawner's side the trace says where handing out ends (task_handed), for the JDK's pools
// since format 9. Elsewhere the program's own code follows without an event between. There, the cost of handing out is
// taken to be the shortest gap of the place less the shortest wake-up (tenth percentiles), and the cost of waking is on
// average no more than on the worker's side.
#pragma once

#include <vector>

#include "model/trace.h"

namespace contrafact::model {

struct HandOverCosts {
  // By task: its spawner's cost, within the gap from the spawn to the next event that is no wake-up.
  std::vector<int64_t> spawn_ns;
  // By task: the trace says when handing it out ended.
  std::vector<bool> handed;
  // By task: its spawner's further cost of starting a worker of the task's pool that runs it. At most a millisecond.
  std::vector<int64_t> start_ns;
  // By task: the whole gap from the spawn to the next event that is no wake-up, at most 100 us. Handing out took no
  // longer than that. How much of the gap was the program's own code is not recorded.
  std::vector<int64_t> spawn_most_ns;
  // By task: the cost, before its end, of waking the threads that wait for it. The thread that runs the task bears it.
  std::vector<int64_t> answer_ns;
};

HandOverCosts hand_over_costs(const Trace& trace);

}  // namespace contrafact::model
