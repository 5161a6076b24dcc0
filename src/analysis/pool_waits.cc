#include "analysis/pool_waits.h"

#include <algorithm>
#include <set>
#include <utility>

#include "model/task_walk.h"

namespace contrafact::analysis {
namespace {

using model::EventKind;
using model::TaskId;
using model::ThreadId;
using model::Trace;

// A fork-join pool lets a spare worker run while one of its workers waits, if the library knows of the wait. It does
// not in FutureTask, which parks the thread like any other.
bool keeps_worker(const Trace& trace, const model::ThreadUse& use, model::ContextId context) {
  if (use.role != model::ThreadRole::worker || trace.pools[use.pool.index()].kind != format::PoolKind::fork_join)
    return true;
  constexpr size_t kFramesMax = 4;  // the library's own frames are few, and the innermost
  for (size_t i = 0; i < kFramesMax && context.valid(); ++i) {
    const format::ContextRow& row = trace.contexts[context.index()];
    context = row.parent;
    if (!row.method.valid()) continue;
    if (trace.string(trace.methods[row.method.index()].class_name) == "java.util.concurrent.FutureTask") return true;
  }
  return false;
}

// Calls `emit` for each time that the thread slept for a result.
template <typename Emit>
void for_each_sleep(const Trace& trace, ThreadId thread, const model::ThreadUse& use, Emit&& emit) {
  const int64_t end_ns = trace.end_ns();
  ResultSleep sleep;
  model::EventIndex wait;  // that the thread sleeps in
  for (model::TaskWalk walk(trace, thread); walk.next();) {
    const bool asleep = walk.in(model::FrameKind::wait);
    if (asleep && wait == walk.stack().back().begin) continue;
    if (wait.valid()) {
      sleep.end_ns = walk.time_ns();
      const bool ended = walk.kind() == EventKind::wait_end;
      sleep.outcome = ended ? static_cast<model::Outcome>(walk.b()) : model::Outcome::normal;
      // Waits that the recording leaves open are closed in this way.
      sleep.open = ended && sleep.outcome == model::Outcome::interrupted && walk.a() == TaskId::kNone &&
                   walk.time_ns() >= end_ns;
      if (sleep.end_ns > sleep.begin_ns) emit(sleep);
    }
    wait = {};
    if (!asleep) continue;
    const model::Frame& frame = walk.stack().back();
    wait = frame.begin;
    const model::ContextId context(trace.b[wait.index()]);
    sleep = {.begin_ns = walk.time_ns(),
             .task = frame.task,
             .waiter = walk.task(),
             .thread = thread,
             .context = context,
             .keeps_worker = keeps_worker(trace, use, context)};
  }
}

// The edges that waits make between pools, and the pools that lie on circles of edges. Pools between two circles count,
// too: the callers look closer anyway.
class PoolGraph {
 public:
  explicit PoolGraph(size_t nodes) : out_(nodes), in_(nodes) {}

  void add(uint32_t from, uint32_t to) {
    if (!known_.emplace(from, to).second) return;
    out_[from].push_back(to);
    in_[to].push_back(from);
  }

  std::vector<bool> in_circles() const {
    std::vector<bool> left(out_.size(), true);
    trim(in_, out_, left);
    trim(out_, in_, left);
    return left;
  }

 private:
  using Edges = std::vector<std::vector<uint32_t>>;

  // Takes out pools that no pool in `left` leads to, until there are no such pools.
  static void trim(const Edges& sources, const Edges& targets, std::vector<bool>& left) {
    std::vector<size_t> leading(sources.size());
    std::vector<uint32_t> gone;
    for (uint32_t node = 0; node < sources.size(); ++node) {
      if (!left[node]) continue;
      leading[node] =
          static_cast<size_t>(std::ranges::count_if(sources[node], [&](uint32_t from) { return left[from]; }));
      if (leading[node] == 0) gone.push_back(node);
    }
    while (!gone.empty()) {
      const uint32_t node = gone.back();
      gone.pop_back();
      left[node] = false;
      for (const uint32_t target : targets[node]) {
        if (left[target] && --leading[target] == 0) gone.push_back(target);
      }
    }
  }

  Edges out_, in_;
  std::set<std::pair<uint32_t, uint32_t>> known_;
};

}  // namespace

std::span<const model::Dependency> dependencies_of(const Trace& trace, TaskId task) {
  const auto range = std::ranges::equal_range(trace.dependencies, task, {}, &model::Dependency::task);
  return {range.begin(), range.end()};
}

std::optional<int64_t> completed_ns(const Trace& trace, TaskId task) {
  const model::TaskRow& row = trace.tasks[task.index()];
  if (row.complete.valid()) return trace.time_ns[row.complete.index()];
  if (row.end.valid() && !row.truncated) return trace.time_ns[row.end.index()];
  return std::nullopt;
}

std::vector<TaskId> runnable_sources(const Trace& trace, TaskId task, size_t tasks_max) {
  std::vector<TaskId> found, open{task};
  std::set<TaskId> seen{task};
  while (!open.empty() && seen.size() <= tasks_max) {
    const TaskId next = open.back();
    open.pop_back();
    const model::TaskRow& row = trace.tasks[next.index()];
    if (row.spawn.valid() || row.start.valid()) found.push_back(next);
    for (const model::Dependency& dependency : dependencies_of(trace, next)) {
      if (seen.size() <= tasks_max && seen.insert(dependency.source).second) open.push_back(dependency.source);
    }
  }
  return found;
}

PoolCircles pools_in_circles(const Trace& trace, const std::vector<model::ThreadUse>& uses) {
  const auto others = static_cast<uint32_t>(trace.pools.size());
  PoolGraph graph(trace.pools.size() + 1);
  std::vector<bool> held(trace.pools.size() + 1);
  const auto node_of = [&](model::PoolId pool) { return pool.valid() ? pool.value : others; };
  constexpr size_t kSourcesMax = 64;
  for (uint32_t i = 0; i < uses.size(); ++i) {
    const uint32_t home = uses[i].role == model::ThreadRole::worker ? node_of(uses[i].pool) : others;
    for_each_sleep(trace, ThreadId(i), uses[i], [&](const ResultSleep& sleep) {
      if (!sleep.task.valid()) return;
      if (sleep.keeps_worker) held[home] = true;
      const model::TaskRow& row = trace.tasks[sleep.task.index()];
      if (dependencies_of(trace, sleep.task).empty()) {
        if (row.kind != model::TaskKind::future) graph.add(home, node_of(row.pool));
        return;
      }
      for (const TaskId source : runnable_sources(trace, sleep.task, kSourcesMax))
        graph.add(home, node_of(trace.tasks[source.index()].pool));
    });
  }
  return {graph.in_circles(), std::move(held)};
}

std::vector<std::vector<ResultSleep>> result_sleeps(const Trace& trace, const std::vector<model::ThreadUse>& uses) {
  std::vector<std::vector<ResultSleep>> sleeps(trace.threads.size());
  for (uint32_t i = 0; i < sleeps.size(); ++i) {
    for_each_sleep(trace, ThreadId(i), uses[i], [&](const ResultSleep& sleep) { sleeps[i].push_back(sleep); });
  }
  return sleeps;
}

}  // namespace contrafact::analysis
