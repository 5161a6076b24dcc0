#include "improve/task_candidates.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <unordered_map>

#include "analysis/execution_path.h"
#include "analysis/result_contracts.h"
#include "improve/task_place.h"
#include "model/result_waits.h"
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
using whatif::Optimisation;

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

// Why tasks cannot run at their wait, by model::Asker.
constexpr std::array<std::string_view, 5> kNotAtWait{"nobody waits for them", "",
                                                     "not only their spawner waits for them", "a stage depends on them",
                                                     "a wait for them ended without a result, or they were cancelled"};
constexpr std::string_view kTimedAtWait =
    "waited for with a time limit, which nothing keeps where they run at the wait";

constexpr std::string_view kAllAtOnce =
    "handed out and waited for by one call, invokeAll: no wait of their own to run at";

constexpr std::string_view kCancelledWhileRunning = "cancelled while they ran";

bool rules_out_set(Reason reason) {
  return reason == Reason::delayed || reason == Reason::timed_wait || reason == Reason::cancelled ||
         reason == Reason::any_of_several || reason == Reason::taken_as_it_comes;
}

// What the events say of one task, beyond its row.
struct TaskFacts {
  TaskId spawner;  // the task that created or spawned it
  uint64_t path_hash = 0;
  bool waits_for_own = false;  // waits for a task that it spawned or created
  bool timed_out = false;      // some wait for it ended without its result
  bool cancelled = false;      // by anybody, at any time
  bool missed = false;         // some wait for it ended because it was cancelled
};

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

struct TaskSet {
  model::ContextId context;
  std::vector<TaskId> tasks;  // eligible ones
  std::array<uint64_t, kReasons> reasons{};
  uint64_t cancelled_at_end = 0;  // of `tasks`
  int64_t run_ns = 0;
  model::MethodId body;  // of the first task; `bodies_differ` says whether it is all's
  model::PoolId pool;
  bool bodies_differ = false;
  bool pools_differ = false;
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

// What the place asks of its tasks' results rules all of them out, whatever became of single ones.
Reason reason_of_place(const Trace& trace, model::ContextId context) {
  if (analysis::is_any_of_several(trace, context)) return Reason::any_of_several;
  return analysis::is_taken_as_it_comes(trace, context) ? Reason::taken_as_it_comes : Reason::none;
}

void add_to_set(const Trace& trace, TaskId id, Reason reason, const TaskFacts& facts, TaskSet& set) {
  const TaskRow& task = trace.tasks[id.index()];
  set.bodies_differ |= set.body != task.body;
  set.pools_differ |= set.pool != task.pool;
  ++set.reasons[static_cast<size_t>(reason)];
  if (reason != Reason::none) return;
  set.tasks.push_back(id);
  if (is_cancelled_at_its_end(task, facts)) ++set.cancelled_at_end;
  set.run_ns += trace.time_ns[task.end.index()] - trace.time_ns[task.start.index()];
}

std::vector<TaskSet> sets_of(const Trace& trace, const std::vector<TaskFacts>& facts) {
  const TaskPlaces places(trace);
  std::unordered_map<Place, uint32_t, PlaceHash> numbers;
  std::vector<TaskSet> sets;
  for (uint32_t i = 0; i < trace.tasks.size(); ++i) {
    const TaskRow& task = trace.tasks[i];
    const Place place = place_of(trace, places, TaskId(i));
    const auto [entry, is_new] = numbers.try_emplace(place, static_cast<uint32_t>(sets.size()));
    if (is_new) {
      TaskSet& fresh = sets.emplace_back();
      fresh.context = places.context(TaskId(i));
      fresh.body = task.body;
      fresh.pool = task.pool;
      fresh.first_task = i;
      fresh.place_reason = reason_of_place(trace, task.spawn_context);
    }
    TaskSet& set = sets[entry->second];
    const Reason own = reason_of(task, facts[i]);
    add_to_set(trace, TaskId(i), own == Reason::none ? set.place_reason : own, facts[i], set);
  }
  std::sort(sets.begin(), sets.end(), [](const TaskSet& x, const TaskSet& y) {
    return x.run_ns != y.run_ns ? x.run_ns > y.run_ns : x.first_task < y.first_task;
  });
  return sets;
}

class Proposer {
 public:
  Proposer(const model::Facts& known, const std::vector<TaskFacts>& facts, const CandidateOptions& options)
      : trace_(known.trace()),
        facts_(facts),
        options_(options),
        waits_(known.result_waits()),
        contracts_(analysis::result_contracts(trace_)),
        set_of_(trace_.tasks.size(), UINT32_MAX) {}

  Candidates run() {
    const std::vector<TaskSet> sets = sets_of(trace_, facts_);
    for (uint32_t i = 0; i < sets.size(); ++i) {
      for (const TaskId task : sets[i].tasks) set_of_[task.index()] = i;
    }
    for (uint32_t i = 0; i < sets.size(); ++i) propose(sets[i], i);
    return std::move(result_);
  }

 private:
  void propose(const TaskSet& set, uint32_t number) {
    for (size_t i = 1; i < kReasons; ++i) {
      if (set.reasons[i] > 0) reject(set, std::string(kReasonTexts[i]), set.reasons[i]);
    }
    if (set.tasks.empty()) return;
    if (set.is_cancelled_often()) reject(set, std::string(kCancelledWhileRunning), set.cancelled_at_end);
    if (set.ruled_out()) return reject(set, "others of the same place rule the change out", set.tasks.size());
    if (set.tasks.size() < options_.set_tasks_min) return reject(set, "fewer tasks than asked for", set.tasks.size());
    propose_one(set, number, Optimisation::convert_to_inline, set.tasks);
    propose_at_wait(set, number);
    propose_branches(set, number);
    std::vector<TaskId> coordinators;
    for (const TaskId task : set.tasks) {
      if (facts_[task.index()].waits_for_own) coordinators.push_back(task);
    }
    if (coordinators.empty()) return;
    const model::MethodId body = body_of(coordinators);
    propose_one(set, number, Optimisation::convert_to_combinator, std::move(coordinators)).improvement.body = body;
  }

  Candidate& propose_one(const TaskSet& set, uint32_t number, Optimisation optimisation, std::vector<TaskId> tasks) {
    Candidate& candidate = result_.candidates.emplace_back();
    candidate.improvement = {.optimisation = optimisation,
                             .spawn_context = set.context,
                             .body = set.bodies_differ ? model::MethodId() : set.body,
                             .tasks = std::move(tasks),
                             .context_tasks = static_cast<uint32_t>(set.tasks.size())};
    if (!set.pools_differ) candidate.pool = set.pool;
    candidate.set = number;
    return candidate;
  }

  // Where nothing else runs meanwhile, convert-to-inline does the same. Of several tasks that one spawner hands out
  // here before it asks for one, running that one leaves the others to the pool.
  void propose_at_wait(const TaskSet& set, uint32_t number) {
    const auto of_another = [&](TaskId task) {
      if (!task.valid() || set_of_[task.index()] == number) return false;
      const TaskRow& row = trace_.tasks[task.index()];
      return row.kind == TaskKind::pooled && row.start.valid();
    };
    const bool any_past = std::ranges::any_of(set.tasks, [&](TaskId task) {
      const model::ResultWait& wait = waits_[task.index()];
      return of_another(wait.next) || of_another(wait.last);
    });
    const std::vector<TaskId> firsts = first_awaited(waits_, set.tasks);
    const bool is_part = !firsts.empty() && firsts.size() < set.tasks.size();
    if ((any_past || is_part) && analysis::is_all_at_once(trace_, set.context))
      return reject(set, std::string(kAllAtOnce), set.tasks.size(), Optimisation::inline_at_wait);
    if (any_past) propose_these_at_wait(set, number, set.tasks, true);
    if (is_part) propose_these_at_wait(set, number, firsts, !any_past);
  }

  void propose_these_at_wait(const TaskSet& set, uint32_t number, const std::vector<TaskId>& tasks, bool says_why) {
    std::map<std::string_view, uint64_t> reasons;
    for (const TaskId task : tasks) {
      const std::string_view reason = kNotAtWait[static_cast<size_t>(waits_[task.index()].asker)];
      if (!reason.empty()) ++reasons[reason];
      if (is_timed(task)) ++reasons[kTimedAtWait];
    }
    for (const auto& [reason, count] : reasons) {
      if (says_why) reject(set, std::string(reason), count, Optimisation::inline_at_wait);
    }
    if (!reasons.empty()) return;
    propose_one(set, number, Optimisation::inline_at_wait, tasks).runs_at = most_frequent_wait(tasks);
  }

  bool is_timed(TaskId task) const {
    if (contracts_.empty()) return false;
    return contracts_[task.index()].timed_get.valid() || contracts_[task.index()].time_limit.valid();
  }

  model::ContextId most_frequent_wait(const std::vector<TaskId>& tasks) const {
    std::map<model::ContextId, uint64_t> counts;
    for (const TaskId task : tasks) ++counts[waits_[task.index()].place];
    return std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; })->first;
  }

  void propose_branches(const TaskSet& set, uint32_t number) {
    std::map<uint64_t, std::vector<TaskId>> by_path;
    for (const TaskId task : set.tasks) by_path[facts_[task.index()].path_hash].push_back(task);
    if (by_path.size() < 2) return;
    std::vector<std::pair<uint64_t, std::vector<TaskId>>> branches(std::make_move_iterator(by_path.begin()),
                                                                   std::make_move_iterator(by_path.end()));
    std::sort(branches.begin(), branches.end(), [](const auto& x, const auto& y) {
      return x.second.size() != y.second.size() ? x.second.size() > y.second.size() : x.second[0] < y.second[0];
    });
    const std::string first = words(branches[0].second[0]);
    const std::string second = words(branches[1].second[0]);
    for (size_t i = 0; i < std::min(branches.size(), options_.branches_max); ++i) {
      const TaskId example = branches[i].second[0];
      Candidate& candidate = propose_one(set, number, Optimisation::hoist_branch, std::move(branches[i].second));
      candidate.path_hash = branches[i].first;
      candidate.path = words(example);
      candidate.other_path = i == 0 ? second : first;
      candidate.improvement.body = body_of(candidate.improvement.tasks);
    }
    uint64_t left_out = 0;
    for (size_t i = options_.branches_max; i < branches.size(); ++i) left_out += branches[i].second.size();
    if (left_out > 0)
      reject(set, "too many execution paths: only the most frequent are tried", left_out, Optimisation::hoist_branch);
  }

  std::string words(TaskId task) const {
    return analysis::path_text(trace_, analysis::path_of(trace_, task), options_.path_events_max);
  }

  model::MethodId body_of(const std::vector<TaskId>& tasks) const {
    const model::MethodId body = trace_.tasks[tasks[0].index()].body;
    const bool same =
        std::all_of(tasks.begin(), tasks.end(), [&](TaskId t) { return trace_.tasks[t.index()].body == body; });
    return same ? body : model::MethodId();
  }

  void reject(const TaskSet& set, std::string reason, uint64_t tasks,
              Optimisation optimisation = Optimisation::convert_to_inline) {
    result_.ineligible.push_back({.optimisation = optimisation,
                                  .context = set.context,
                                  .body = set.bodies_differ ? model::MethodId() : set.body,
                                  .reason = std::move(reason),
                                  .tasks = tasks});
  }

  const Trace& trace_;
  const std::vector<TaskFacts>& facts_;
  const CandidateOptions& options_;
  const std::vector<model::ResultWait>& waits_;
  const std::vector<analysis::ResultContract> contracts_;  // empty: none
  std::vector<uint32_t> set_of_;                           // by task: of those that are in one
  Candidates result_;
};

}  // namespace

std::vector<TaskId> first_awaited(std::span<const model::ResultWait> waits, std::span<const TaskId> tasks) {
  std::vector<TaskId> firsts;
  for (const TaskId task : tasks) {
    if (waits[task.index()].batch >= 2) firsts.push_back(task);
  }
  return firsts;
}

Candidates task_candidates(const model::Facts& facts, const CandidateOptions& options) {
  const std::vector<TaskFacts> of_tasks = FactCollector(facts.trace()).collect();
  return Proposer(facts, of_tasks, options).run();
}

}  // namespace contrafact::improve
