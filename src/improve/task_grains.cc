#include "improve/task_grains.h"

#include <algorithm>
#include <map>
#include <utility>

#include "improve/source_places.h"
#include "model/task_walk.h"

namespace contrafact::improve {
namespace {

using model::ContextId;
using model::TaskId;
using model::TaskRow;
using model::Trace;

bool is_handed_out(const model::Facts& facts, const TaskRow& row) {
  if (!row.spawn.valid() || !row.start.valid() || !row.end.valid() || row.delay_us > 0 || !row.body.valid())
    return false;
  if (row.kind == model::TaskKind::pooled) return true;
  const size_t runner = facts.trace().thread_of(row.start).index();
  return row.kind == model::TaskKind::thread && facts.uses()[runner].role != model::ThreadRole::worker;
}

// By task: the task that handed it out; of one that nobody handed out, the task in which it was called. Of the tasks that
// invokeAll gets, it hands out all but one, and calls that one itself.
std::vector<TaskId> parents_of(const Trace& trace) {
  std::vector<TaskId> parents(trace.tasks.size());
  for (uint32_t i = 0; i < trace.threads.size(); ++i) {
    TaskId outer;
    for (model::TaskWalk walk(trace, model::ThreadId(i)); walk.next(); outer = walk.task()) {
      if (walk.a() >= parents.size()) continue;
      const bool is_called = walk.kind() == model::EventKind::task_start && !trace.tasks[walk.a()].spawn.valid();
      if (walk.kind() == model::EventKind::task_spawn || is_called) parents[walk.a()] = outer;
    }
  }
  return parents;
}

// By task: how many tasks of its body led to it. A task that was called has no body in the trace: it is taken to have its
// caller's.
std::vector<uint32_t> levels_of(const Trace& trace) {
  constexpr uint32_t kUnknown = UINT32_MAX;
  const std::vector<TaskId> parents = parents_of(trace);
  std::vector<uint32_t> levels(trace.tasks.size(), kUnknown);
  std::vector<model::MethodId> bodies(trace.tasks.size());
  std::vector<uint32_t> path;
  for (uint32_t i = 0; i < levels.size(); ++i) {
    // Up to a task whose level is known. A damaged trace may have a circle: in it, a task on the path comes again with a
    // level that is set below.
    path.clear();
    for (TaskId at(i); at.valid() && levels[at.index()] == kUnknown; at = parents[at.index()]) {
      levels[at.index()] = 0;
      path.push_back(at.value);
    }
    for (auto task = path.rbegin(); task != path.rend(); ++task) {
      const TaskId by = parents[*task];
      const TaskRow& row = trace.tasks[*task];
      bodies[*task] = row.body.valid() || row.spawn.valid() || !by.valid() ? row.body : bodies[by.index()];
      const bool goes_on = by.valid() && bodies[*task].valid() && bodies[by.index()] == bodies[*task];
      levels[*task] = goes_on ? levels[by.index()] + 1 : 0;
    }
  }
  return levels;
}

}  // namespace

std::vector<TaskGrain> task_grains(const model::Facts& facts) {
  const Trace& trace = facts.trace();
  const SourcePlaces sources(trace);
  const std::vector<uint32_t> levels = levels_of(trace);
  std::vector<bool> recursive(trace.methods.size());
  for (uint32_t i = 0; i < levels.size(); ++i) {
    if (levels[i] > 0 && is_handed_out(facts, trace.tasks[i])) recursive[trace.tasks[i].body.index()] = true;
  }
  std::vector<TaskGrain> grains;
  std::map<std::pair<uint32_t, uint64_t>, size_t> known;  // by body and place
  const auto place_of = [&](ContextId context) -> uint64_t {
    const ContextId frame = trace.program_frame(sources.of(context));
    if (!frame.valid()) return UINT64_MAX;
    const format::ContextRow& row = trace.contexts[frame.index()];
    return uint64_t{row.method.value} << 32 | row.line;
  };
  for (uint32_t i = 0; i < trace.tasks.size(); ++i) {
    const TaskRow& row = trace.tasks[i];
    if (!is_handed_out(facts, row)) continue;
    const bool is_recursive = recursive[row.body.index()];
    const uint64_t place = is_recursive ? 0 : place_of(row.spawn_context);
    const auto [at, is_new] = known.try_emplace({row.body.value, place}, grains.size());
    if (is_new) grains.push_back({row.body, row.spawn_context, {}, {}, 0, row.kind == model::TaskKind::thread});
    TaskGrain& grain = grains[at->second];
    grain.tasks.emplace_back(i);
    if (!is_recursive) continue;
    grain.levels.push_back(levels[i]);
    grain.deepest = std::max(grain.deepest, levels[i]);
  }
  return grains;
}

}  // namespace contrafact::improve
