#include "improve/task_candidates.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "analysis/execution_path.h"
#include "analysis/result_contracts.h"
#include "improve/kinds/kinds.h"
#include "improve/task_change.h"
#include "improve/task_place.h"
#include "improve/task_proposals.h"
#include "model/task_walk.h"

namespace contrafact::improve {
namespace {

using analysis::path_token;
using analysis::PathBuilder;
using analysis::PathToken;
using model::EventKind;
using model::FrameKind;
using model::Outcome;
using model::TaskId;
using model::TaskKind;
using model::TaskRow;
using model::TaskWalk;
using model::ThreadId;
using model::Trace;

// Reasons that take single tasks out of their set, and reasons that rule out the whole set, as one source change would
// affect all of it.
enum class Reason : uint8_t {
  none,
  no_body,
  thread_run,
  stage,
  never_started,
  cut_off,
  delayed,
  timed_wait,
  cancelled,
  any_of_several,
  taken_as_it_comes
};
constexpr size_t kReasons = 11;

constexpr std::array<std::string_view, kReasons> kReasonTexts{
    "",
    "futures without a body: nothing to inline",
    "runs of a thread, not tasks of a pool",
    "run already on the thread that completes their source",
    "never started",
    "began before the recording or did not end in it",
    "delayed or periodic: their time of execution matters",
    "waited for with a time-out",
    "cancelled",
    "handed to invokeAny: the first of several results wins, which no call in place can say",
    "handed to an ExecutorCompletionService, whose results are taken in the order in which they come",
};

constexpr std::string_view kCancelledWhileRunning = "cancelled while they ran";

bool rules_out_set(Reason reason) {
  return reason == Reason::delayed || reason == Reason::timed_wait || reason == Reason::cancelled ||
         reason == Reason::any_of_several || reason == Reason::taken_as_it_comes;
}

class FactCollector {
 public:
  explicit FactCollector(const Trace& trace) : trace_(trace), sources_(trace), facts_(trace.tasks.size()) {}

  std::vector<TaskFacts> collect() {
    for (uint32_t i = 0; i < trace_.threads.size(); ++i) walk_thread(ThreadId(i));
    return std::move(facts_);
  }

 private:
  void walk_thread(ThreadId thread) {
    for (TaskWalk walk(trace_, thread); walk.next();) {
      note_path(walk);
      switch (walk.kind()) {
        case EventKind::task_create:
        case EventKind::task_spawn:
          note_spawn(TaskId(walk.a()), walk.task());
          break;
        case EventKind::task_complete:
          if (static_cast<Outcome>(walk.b()) == Outcome::cancelled) facts_[walk.a()].cancelled = true;
          break;
        case EventKind::wait_end:
          if (walk.has_closed()) note_wait(walk.closed().task, walk.task(), static_cast<Outcome>(walk.b()));
          if (walk.a() != TaskId::kNone) note_wait(TaskId(walk.a()), walk.task(), Outcome::normal);
          break;
        default:
          break;
      }
    }
  }

  void note_path(const TaskWalk& walk) {
    const size_t depth = walk.task_depth();
    if (walk.kind() == EventKind::task_start) {
      if (paths_.size() < depth) paths_.resize(depth);
      paths_[depth - 1].clear();
      if (depth >= 2) add_token(depth - 2, walk);
    } else if (walk.kind() == EventKind::task_end) {
      if (walk.has_closed()) facts_[walk.a()].path_hash = paths_[depth].hash();
    } else if (depth >= 1) {
      add_token(depth - 1, walk);
    }
  }

  void add_token(size_t level, const TaskWalk& walk) {
    const PathToken token = path_token(trace_, walk);
    if (token == 0) return;
    paths_[level].add(analysis::names_context(token) ? with_place(token) : token);
  }

  PathToken with_place(PathToken token) const {
    const model::ContextId context(static_cast<uint32_t>(token));
    return token >> 32 << 32 | sources_.of(context).value;
  }

  void note_spawn(TaskId task, TaskId spawner) {
    if (spawner.valid() && !facts_[task.index()].spawner.valid()) facts_[task.index()].spawner = spawner;
  }

  void note_wait(TaskId awaited, TaskId waiter, Outcome outcome) {
    if (!awaited.valid()) return;
    TaskFacts& facts = facts_[awaited.index()];
    if (outcome == Outcome::timeout) facts.timed_out = true;
    if (outcome == Outcome::cancelled) facts.cancelled = facts.missed = true;
    if (waiter.valid() && facts.spawner == waiter) facts_[waiter.index()].waits_for_own = true;
  }

  const Trace& trace_;
  const SourcePlaces sources_;
  std::vector<TaskFacts> facts_;
  std::vector<PathBuilder> paths_;  // by depth of nesting
};

// Whether it was cancelled while it ran, went on to its end, and nobody missed its result.
bool is_cancelled_at_its_end(const TaskRow& task, const TaskFacts& facts) {
  return facts.cancelled && !facts.missed && task.start.valid() && task.end.valid() && !task.truncated;
}

Reason reason_of(const TaskRow& task, const TaskFacts& facts) {
  if (task.kind == TaskKind::future) return Reason::no_body;
  if (task.kind == TaskKind::thread) return Reason::thread_run;
  if (task.kind == TaskKind::stage) return Reason::stage;
  if (task.delay_us > 0) return Reason::delayed;
  if (facts.timed_out) return Reason::timed_wait;
  if (facts.cancelled && !is_cancelled_at_its_end(task, facts)) return Reason::cancelled;
  if (!task.start.valid()) return Reason::never_started;
  if (!task.end.valid() || task.truncated) return Reason::cut_off;
  return Reason::none;
}

// One place of the program: task_place.h, and where the task was created.
struct Place {
  uint32_t create;
  uint32_t spawn;
  TaskKind kind;
  bool operator==(const Place&) const = default;
};
struct PlaceHash {
  size_t operator()(const Place& place) const {
    return (uint64_t{place.create} << 32 | place.spawn) * 0x9e3779b97f4a7c15u + static_cast<uint64_t>(place.kind);
  }
};

struct CountedSet : TaskSet {
  std::array<uint64_t, kReasons> reasons{};
  uint64_t cancelled_at_end = 0;  // of `tasks`
  int64_t run_ns = 0;
  uint32_t first_task = 0;
  Reason place_reason = Reason::none;

  bool ruled_out() const {
    if (is_cancelled_often()) return true;
    for (size_t i = 0; i < kReasons; ++i) {
      if (reasons[i] > 0 && rules_out_set(static_cast<Reason>(i))) return true;
    }
    return false;
  }
  // A library that disposes of a task at its end cancels now and then one that is just ending. A program that cancels
  // what runs, to end it, does so more often.
  bool is_cancelled_often() const {
    constexpr uint64_t kRare = 20;  // at most one in so many
    return cancelled_at_end * kRare > tasks.size();
  }
};

Place place_of(const Trace& trace, const TaskPlaces& places, TaskId id) {
  const TaskRow& task = trace.tasks[id.index()];
  const uint32_t context = places.context(id).value;
  if (places.is_dependent(id)) return {context, UINT32_MAX, task.kind};
  return {places.made(id).value, context, task.kind};
}

// A condition that the place sets for its tasks' results rules all of them out, whatever became of single tasks.
Reason reason_of_place(const Trace& trace, model::ContextId context) {
  if (analysis::is_any_of_several(trace, context)) return Reason::any_of_several;
  return analysis::is_taken_as_it_comes(trace, context) ? Reason::taken_as_it_comes : Reason::none;
}

void add_to_set(const Trace& trace, TaskId id, Reason reason, const TaskFacts& facts, CountedSet& set) {
  const TaskRow& task = trace.tasks[id.index()];
  set.bodies_differ |= set.body != task.body;
  set.pools_differ |= set.pool != task.pool;
  ++set.reasons[static_cast<size_t>(reason)];
  if (reason != Reason::none) return;
  set.tasks.push_back(id);
  if (is_cancelled_at_its_end(task, facts)) ++set.cancelled_at_end;
  set.run_ns += trace.time_ns[task.end.index()] - trace.time_ns[task.start.index()];
}

std::vector<CountedSet> sets_of(const Trace& trace, const std::vector<TaskFacts>& facts) {
  const TaskPlaces places(trace);
  std::unordered_map<Place, uint32_t, PlaceHash> numbers;
  std::vector<CountedSet> sets;
  for (uint32_t i = 0; i < trace.tasks.size(); ++i) {
    const TaskRow& task = trace.tasks[i];
    const Place place = place_of(trace, places, TaskId(i));
    const auto [entry, is_new] = numbers.try_emplace(place, static_cast<uint32_t>(sets.size()));
    if (is_new) {
      CountedSet& fresh = sets.emplace_back();
      fresh.context = places.context(TaskId(i));
      fresh.body = task.body;
      fresh.pool = task.pool;
      fresh.first_task = i;
      fresh.place_reason = reason_of_place(trace, task.spawn_context);
    }
    CountedSet& set = sets[entry->second];
    const Reason own = reason_of(task, facts[i]);
    add_to_set(trace, TaskId(i), own == Reason::none ? set.place_reason : own, facts[i], set);
  }
  std::sort(sets.begin(), sets.end(), [](const CountedSet& x, const CountedSet& y) {
    return x.run_ns != y.run_ns ? x.run_ns > y.run_ns : x.first_task < y.first_task;
  });
  return sets;
}

void propose(const CountedSet& set, std::span<const TaskChange* const> kinds, TaskProposals& proposals) {
  const auto reject = [&](std::string_view reason, uint64_t tasks) {
    proposals.reject(kinds::convert_to_inline, set, std::string(reason), tasks);
  };
  for (size_t i = 1; i < kReasons; ++i) {
    if (set.reasons[i] > 0) reject(kReasonTexts[i], set.reasons[i]);
  }
  if (set.tasks.empty()) return;
  if (set.is_cancelled_often()) reject(kCancelledWhileRunning, set.cancelled_at_end);
  if (set.ruled_out()) return reject("others of the same place rule the change out", set.tasks.size());
  if (set.tasks.size() < proposals.options().set_tasks_min)
    return reject("fewer tasks than asked for", set.tasks.size());
  for (const TaskChange* kind : kinds) kind->propose(set, proposals);
}

std::vector<const TaskChange*> task_kinds() {
  std::vector<const TaskChange*> kinds;
  for (const Kind* kind : all_kinds()) {
    if (kind->target() == whatif::Target::tasks) kinds.push_back(static_cast<const TaskChange*>(kind));
  }
  return kinds;
}

}  // namespace

Candidates task_candidates(const model::Facts& facts, const CandidateOptions& options) {
  const std::vector<TaskFacts> of_tasks = FactCollector(facts.trace()).collect();
  std::vector<CountedSet> sets = sets_of(facts.trace(), of_tasks);
  TaskProposals proposals(facts, of_tasks, options);
  for (uint32_t i = 0; i < sets.size(); ++i) {
    sets[i].number = i;
    proposals.number_tasks(sets[i]);
  }
  const std::vector<const TaskChange*> kinds = task_kinds();
  for (const CountedSet& set : sets) propose(set, kinds, proposals);
  return proposals.take();
}

}  // namespace contrafact::improve
