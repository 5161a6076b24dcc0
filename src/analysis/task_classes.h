// Tasks grouped by what they run and by where they were spawned: how many, how long, how much of it waiting, blocked,
// on a core, and how long they queued. Definitions: docs/metrics.md.
//
// Pure function; linear in the events, but for the sort by class.
#pragma once

#include <optional>
#include <vector>

#include "analysis/duration_stats.h"
#include "model/trace.h"

namespace contrafact::analysis {

enum class ClassKey : uint8_t { body, context, body_and_context };

struct TaskClass {
  model::MethodId body;      // none if the class mixes several (ClassKey::context)
  model::ContextId context;  // of the spawn, or where the program made the task if that shows none
                             // of its code; none if the class mixes several (ClassKey::body)
  model::PoolId pool;        // none if it mixes several or has none; the pool that workers serve
  model::TaskKind kind = model::TaskKind::future;  // of the first task
  bool workers = false;                            // each task is the whole run of a worker of `pool`
  uint64_t count = 0;
  uint64_t started = 0;
  uint64_t finished = 0;    // have an end
  uint64_t dropped = 0;     // rejected, cancelled, left in the queue
  uint64_t exceptions = 0;  // ended by an exception
  uint64_t waiters = 0;     // waits that named a task of the class
  DurationStats duration;   // start to end
  DurationStats queueing;   // spawn (plus the delay asked for) to start
  DurationStats wait;       // of each finished task: its own time asleep for other tasks' results
  DurationStats block;      // of each finished task: its own time in recorded blocks
  int64_t self_ns = 0;      // all finished tasks: duration without the tasks that ran nested in them
  double wait_share = 0;    // of self_ns
  double block_share = 0;
  std::optional<double> cpu_share;  // known only where the kernel reported when threads left their cores
};

// The classes, the longest total duration first. The runs of pools' workers, which contain other tasks, come last: one
// class for each pool, whatever the key.
std::vector<TaskClass> task_classes(const model::Trace& trace, ClassKey key = ClassKey::body_and_context);

}  // namespace contrafact::analysis
