// The input of the kinds of changes of tasks, one set of tasks at a time, and their proposals.
#pragma once

#include <string>
#include <vector>

#include "analysis/result_contracts.h"
#include "improve/kind.h"
#include "improve/task_candidates.h"

namespace contrafact::improve {

// What the events say about one task, beyond its row.
struct TaskFacts {
  model::TaskId spawner;  // the task that created or spawned it
  uint64_t path_hash = 0;
  bool waits_for_own = false;  // waits for a task that it spawned or created
  bool timed_out = false;      // some wait for it ended without its result
  bool cancelled = false;      // by any thread, at any time
  bool missed = false;         // some wait for it ended because it was cancelled
};

// The tasks that one place of the program hands out.
struct TaskSet {
  uint32_t number = 0;  // among all sets
  model::ContextId context;
  std::vector<model::TaskId> tasks;  // eligible ones
  model::MethodId body;              // of the first task; `bodies_differ` says whether all have it
  model::PoolId pool;
  bool bodies_differ = false;
  bool pools_differ = false;
};

class TaskProposals {
 public:
  // Everything must outlive it.
  TaskProposals(const model::Facts& known, const std::vector<TaskFacts>& facts, const CandidateOptions& options)
      : trace_(known.trace()),
        facts_(facts),
        options_(options),
        waits_(known.result_waits()),
        contracts_(analysis::result_contracts(trace_)),
        set_of_(trace_.tasks.size(), UINT32_MAX) {}

  const model::Trace& trace() const { return trace_; }
  const TaskFacts& facts(model::TaskId task) const { return facts_[task.index()]; }
  const CandidateOptions& options() const { return options_; }
  const std::vector<model::ResultWait>& waits() const { return waits_; }                 // by task
  const std::vector<analysis::ResultContract>& contracts() const { return contracts_; }  // likewise; empty: none
  void number_tasks(const TaskSet& set) {
    for (const model::TaskId task : set.tasks) set_of_[task.index()] = set.number;
  }
  bool is_in(const TaskSet& set, model::TaskId task) const { return set_of_[task.index()] == set.number; }
  // The method that all these tasks run; none if they differ.
  model::MethodId body_of(const std::vector<model::TaskId>& tasks) const;

  Candidate& propose(const Kind* kind, const TaskSet& set, std::vector<model::TaskId> tasks);
  void reject(const Kind* kind, const TaskSet& set, std::string reason, uint64_t tasks);
  Candidates take() { return std::move(result_); }

 private:
  const model::Trace& trace_;
  const std::vector<TaskFacts>& facts_;
  const CandidateOptions& options_;
  const std::vector<model::ResultWait>& waits_;
  const std::vector<analysis::ResultContract> contracts_;
  std::vector<uint32_t> set_of_;  // by task, for tasks in a set
  Candidates result_;
};

}  // namespace contrafact::improve
