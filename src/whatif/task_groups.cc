#include "whatif/task_groups.h"

#include <fmt/format.h>

#include <algorithm>

#include "whatif/sim_periods.h"
#include "whatif/sim_program.h"

namespace contrafact::whatif {
namespace {

// Whether the thread may have to wait here for what the tasks do that it has handed out before.
bool may_wait_for_tasks(OpCode code) {
  switch (code) {
    case OpCode::wait:
    case OpCode::take_next:
    case OpCode::token_wait:
    case OpCode::sem_take:
    case OpCode::barrier:
    case OpCode::permit_take:
    case OpCode::credit_wait:
      return true;
    default:
      return false;
  }
}

class NeighbourFinder {
 public:
  NeighbourFinder(const SimProgram& program, std::span<const model::TaskId> tasks)
      : program_(program), wanted_(program.task_count()) {
    for (const model::TaskId task : tasks) {
      if (task.index() < wanted_.size() && can_join(task.value)) wanted_[task.index()] = true;
    }
  }

  std::vector<std::vector<uint32_t>> run() {
    for (const Fiber& fiber : program_.fibers) {
      bool hands_out = false;  // what handing out waits for, as the lock of a queue, is no end of the run
      for (uint32_t pc = fiber.begin; pc < fiber.end; ++pc) {
        const Op& op = program_.ops[pc];
        if (op.code == OpCode::spawn) {
          const auto task = static_cast<uint32_t>(op.value);
          hands_out = program_.costs->handed[task];
          if (wanted_[task]) run_.push_back(task);
          wanted_[task] = false;  // a damaged trace may hand it out twice
        } else if (op.code == OpCode::handed) {
          hands_out = false;
        } else if (may_wait_for_tasks(op.code) && !hands_out) {
          end_run();
        }
      }
      end_run();
    }
    return std::move(runs_);
  }

 private:
  bool can_join(uint32_t task) const {
    const model::TaskRow& row = program_.trace->tasks[task];
    const bool is_timed =
        row.delay_us > 0 || (!program_.periodic_due_ns.empty() && program_.periodic_due_ns[task] != kNoDueTime);
    if (!row.spawn.valid() || !row.start.valid() || is_timed || program_.dynamic[task] || !program_.fibers[task].runs())
      return false;
    if (row.kind == model::TaskKind::pooled) return !program_.called[task];
    const size_t runner = program_.trace->thread_of(row.start).index();
    return row.kind == model::TaskKind::thread && program_.uses[runner].role != model::ThreadRole::worker;
  }

  void end_run() {
    if (run_.size() > 1) runs_.push_back(std::move(run_));
    run_.clear();
  }

  const SimProgram& program_;
  std::vector<bool> wanted_;
  std::vector<uint32_t> run_;
  std::vector<std::vector<uint32_t>> runs_;
};

void divide(std::span<const uint32_t> run, uint32_t size, TaskGroups& groups) {
  for (size_t from = 0; from < run.size(); from += size) {
    const size_t to = std::min(run.size(), from + size);
    if (to - from < 2) continue;
    const auto group = static_cast<uint32_t>(groups.begin.size() - 1);
    for (const uint32_t task : run.subspan(from, to - from)) {
      groups.of_task[task] = group;
      groups.members.push_back(task);
    }
    groups.begin.push_back(static_cast<uint32_t>(groups.members.size()));
  }
}

}  // namespace

std::vector<std::vector<uint32_t>> neighbours(const SimProgram& program, std::span<const model::TaskId> tasks) {
  return NeighbourFinder(program, tasks).run();
}

base::Result<TaskGroups> task_groups(const SimProgram& program, std::span<const TaskMerge> merges) {
  TaskGroups groups;
  if (merges.empty()) return groups;
  groups.of_task.assign(program.task_count(), TaskGroups::kNone);
  for (const TaskMerge& merge : merges) {
    for (const std::vector<uint32_t>& run : neighbours(program, merge.tasks)) {
      const auto twice = std::ranges::find_if(run, [&](uint32_t task) { return groups.has(task); });
      if (twice != run.end()) return base::Error{fmt::format("task {} cannot be merged in two ways", *twice)};
      divide(run, std::max<uint32_t>(1, merge.size), groups);
    }
  }
  return groups;
}

}  // namespace contrafact::whatif
