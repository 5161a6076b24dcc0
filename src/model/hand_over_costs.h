// What handing tasks over costs the threads that do it, beside the tasks' own work: gone where a task is called
// instead. Pure; linear in the events between each task's spawn and the next event, but for sorting by place.
//
//     spawner   spawn ─ queueing ─ wake ─ waking a worker ─ own code ─ next event
//     or        spawn ─ queueing ─ a worker's spawn ─ its start ─ pool_size ─ own code ─ next event
//     or        spawn ─ queueing, waking, starting ─ handed ─ own code ─ next event
//     worker    start ─ body ─ complete ─ wake ─ waking who waits ─ end
//
// A wake-up is a call into the kernel: 2 us, and some 10 where its core sleeps; with tasks of 20 us that is most of the
// run. The worker's side holds nothing but the library, so it is what a wake-up costs in this run. At the spawner's
// side the trace says where handing out is over (task_handed), of the JDK's pools since format 9. Elsewhere the
// program's own code follows without an event between. It is taken to be what the shortest gaps of the place
// hold beyond the shortest wake-ups (tenth percentiles), and what is taken for waking is on average no more than waking
// costs at the worker's side.
#pragma once

#include <vector>

#include "model/trace.h"

namespace contrafact::model {

struct HandOverCosts {
  // By task: of its spawner, within the gap from the spawn to the next event that is no wake-up.
  std::vector<int64_t> spawn_ns;
  // By task: the trace says when handing it out was over.
  std::vector<bool> handed;
  // By task: of its spawner, besides, for starting a thread that runs it, a worker of its pool. Cut at a millisecond.
  std::vector<int64_t> start_ns;
  // By task: the whole of that gap, cut at 100 us. Handing out took no longer, but how much of it was the program's own
  // code, nobody saw.
  std::vector<int64_t> spawn_most_ns;
  // By task: of who runs it, before its end: waking those who wait for it.
  std::vector<int64_t> answer_ns;
};

HandOverCosts hand_over_costs(const Trace& trace);

}  // namespace contrafact::model
