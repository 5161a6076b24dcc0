// Task granularity by class of tasks: how long its tasks are on a core, what handing them out costs beside that, what the
// machine does while they are active, and whether they are too fine, too coarse or unbalanced ("Analyzing Task
// Granularity on the JVM", TOPLAS 2019, sections 3 to 5, 9 and 10). Which executions count: analysis/task_executions.h.
//
// Pure functions. Cost: linear in events and switches, with logarithms of pauses, of threads that live at once, and of the
// tasks of a class. Memory: some 60 bytes for each task, a few hundred for each class.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/class_activity.h"
#include "analysis/duration_stats.h"
#include "analysis/granularity_verdict.h"
#include "analysis/task_classes.h"
#include "analysis/task_executions.h"
#include "model/facts.h"

namespace contrafact::analysis {

// What a class's tasks cost beside their own work, summed (model/hand_over_costs.h), time on cores alone.
struct HandingOut {
  int64_t spawn_ns = 0;   // handing them out, and waking workers for them; the spawners bear it
  int64_t start_ns = 0;   // starting workers, or the tasks' own threads
  int64_t take_ns = 0;    // from a worker's previous task, or its wake-up, to the task's start
  int64_t answer_ns = 0;  // waking those who wait for the tasks
  int64_t all_ns() const { return spawn_ns + start_ns + take_ns + answer_ns; }
};

// Where a class's tasks were made and handed out. A context is where the program calls; equal ones mean one loop (section 10).
struct ClassContexts {
  model::ContextId create, spawn;  // of the first task
  bool create_known = true;  // the recording says of each where it was made; else `create` is where it was handed out
  bool one_create = true, one_spawn = true;
  bool made_where_spawned = true;  // each was made by the method that handed it out
};

struct ClassGranularity {
  model::MethodId body;                            // none if the class mixes several
  model::ContextId context;                        // as in TaskClass, but one for each line; none if it mixes several
  model::PoolId pool;                              // none if it mixes several or has none
  model::TaskKind kind = model::TaskKind::future;  // of the first task
  uint64_t count = 0;                              // executions
  uint64_t exceptions = 0;                         // of these, ended by an exception
  uint64_t handed_out = 0;                         // of these, handed to a pool or a thread
  uint64_t never = 0;                              // handed out and never executed to their end
  uint64_t nested = 0;        // of `count`, executed within another task: by a worker that waited, and helped
  uint64_t aggregated = 0;    // tasks that are parts of its tasks
  int64_t inner_core_ns = 0;  // of threads: the time on a core of other tasks that count and ran in them
  DurationStats core;         // time on a core, by task
  DurationStats queueing;     // from the spawn, or the time it was to wait for, to the start
  HandingOut cost;
  ClassContexts contexts;
  ClassActivity activity;
  uint64_t outliers = 0;  // tasks of a hundred times the median, or more
  Judgement judgement;
};

struct Outlier {
  model::TaskId task;
  uint32_t of_class = 0;
  int64_t core_ns = 0;
  double times_median = 0;
};

struct GranularityOptions {
  ClassKey key = ClassKey::body_and_context;
  bool aggregate = true;
  // The share of a run by which repeated runs differ: less is not worth a change.
  double tellable_share = 0.02;
  size_t bins = 0;   // for pictures: parts of the run
  size_t drawn = 0;  // for pictures: the classes of most core time that are drawn
  size_t outliers_max = 50;
};

struct Granularity {
  TaskExecutions executions;
  std::vector<uint32_t> of_task;          // by task: its class, or kNoClass
  std::vector<ClassGranularity> classes;  // with executions; the longest total first
  std::vector<Outlier> outliers;          // the longest first
  uint64_t outliers_all = 0;
  uint64_t worker_runs = 0;  // runs of pools' workers, which contain other tasks: no class
  uint32_t cores = 0;        // 0: the trace does not say; then nothing is known of activity, and there are no verdicts
  RunActivity run;
  std::vector<ActivityBin> bins;
  std::vector<std::vector<float>> active_shares;  // of the first `drawn` classes, by bin
};

inline constexpr int64_t kOutlierTimes = 100;

Granularity granularity(const model::Facts& facts, const GranularityOptions& options = {});

// The cumulative distribution of a class's times on a core: the times that 0, 1/points, ... 1 of its tasks do not exceed.
// Linear in the trace's tasks, with a sort of the class's.
std::vector<int64_t> core_distribution(const Granularity& granularity, uint32_t of_class, size_t points);

}  // namespace contrafact::analysis
