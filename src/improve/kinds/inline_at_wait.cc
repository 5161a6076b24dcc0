// inline-at-wait: the tasks run where their spawner first waits for them, on its thread; other tasks that it spawns
// before that run meanwhile. Nobody hands the inlined tasks out, and waiting for them takes no sleep. They are all
// tasks of a place, if their spawner waits for them only after it has spawned others; or of each batch the first that
// it asks for.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "improve/at_wait_expression.h"
#include "improve/kinds/kinds.h"
#include "improve/spec_parts.h"
#include "improve/task_change.h"
#include "improve/task_proposals.h"
#include "model/result_waits.h"

namespace contrafact::improve {
namespace {

using model::TaskId;

// Why tasks cannot run at their wait, by model::Asker.
constexpr std::array<std::string_view, 5> kNotAtWait{"nobody waits for them", "",
                                                     "not only their spawner waits for them", "a stage depends on them",
                                                     "a wait for them ended without a result, or they were cancelled"};
constexpr std::string_view kTimedAtWait =
    "waited for with a time limit, which nothing keeps where they run at the wait";

constexpr std::string_view kAllAtOnce =
    "handed out and waited for by one call, invokeAll: no wait of their own to run at";

constexpr std::string_view kFirstAwaited = "first-awaited";  // one task of each batch

// Whoever runs a task itself does not stop waiting for it.
bool is_timed(const std::vector<analysis::ResultContract>& contracts, TaskId task) {
  if (contracts.empty()) return false;
  return contracts[task.index()].timed_get.valid() || contracts[task.index()].time_limit.valid();
}

// Those of `tasks` that their spawner asks for first among several that it has handed out at one place.
std::vector<TaskId> first_awaited(std::span<const model::ResultWait> waits, std::span<const TaskId> tasks) {
  std::vector<TaskId> firsts;
  for (const TaskId task : tasks) {
    if (waits[task.index()].batch >= 2) firsts.push_back(task);
  }
  return firsts;
}

model::ContextId most_frequent_wait(const std::vector<model::ResultWait>& waits, const std::vector<TaskId>& tasks) {
  std::map<model::ContextId, uint64_t> counts;
  for (const TaskId task : tasks) ++counts[waits[task.index()].place];
  return std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; })->first;
}

// Tasks of one context may be waited for in several ways: each with the number of tasks that it stands for.
Json at_wait_json(const model::Trace& trace, const whatif::Improvement& improvement) {
  std::map<AtWaitExpression, uint64_t> expressions;
  for (TaskId task : improvement.tasks) ++expressions[at_wait_expression(trace, task)];
  Json list = Json::array();
  for (const auto& [expression, count] : expressions) {
    if (!expression.wait.empty())
      list.push_back({{"spawn", expression.spawn}, {"wait", expression.wait}, {"count", count}});
  }
  return list;
}

bool is_part(const whatif::Improvement& improvement) {
  return improvement.tasks.size() < improvement.context_tasks;
}

class InlineAtWait final : public TaskChange {
 public:
  constexpr InlineAtWait() : TaskChange("inline-at-wait", whatif::Treatment::inline_at_wait, Effort::one_function, 2) {}

  // Where nothing else runs meanwhile, convert-to-inline does the same. Of several tasks that one spawner hands out
  // here before it asks for one, running that one leaves the others to the pool.
  void propose(const TaskSet& set, TaskProposals& proposals) const override {
    const auto of_another = [&](TaskId task) {
      if (!task.valid() || proposals.is_in(set, task)) return false;
      const model::TaskRow& row = proposals.trace().tasks[task.index()];
      return row.kind == model::TaskKind::pooled && row.start.valid();
    };
    const bool any_past = std::ranges::any_of(set.tasks, [&](TaskId task) {
      const model::ResultWait& wait = proposals.waits()[task.index()];
      return of_another(wait.next) || of_another(wait.last);
    });
    const std::vector<TaskId> firsts = first_awaited(proposals.waits(), set.tasks);
    const bool is_part = !firsts.empty() && firsts.size() < set.tasks.size();
    if ((any_past || is_part) && analysis::is_all_at_once(proposals.trace(), set.context))
      return proposals.reject(this, set, std::string(kAllAtOnce), set.tasks.size());
    if (any_past) propose_these(set, proposals, set.tasks, true);
    if (is_part) propose_these(set, proposals, firsts, !any_past);
  }

  void write_selection(const whatif::Improvement& improvement, const SpecTrace&, Json& json) const override {
    if (is_part(improvement)) json["subset"] = kFirstAwaited;
  }
  void write_members(const whatif::Improvement& improvement, const SpecTrace& in, Json& json) const override {
    write_selection(improvement, in, json);
    json["at_wait"] = at_wait_json(in.trace, improvement);
  }

  base::Status narrow(const Json& json, TaskSelector& rows, whatif::Improvement& improvement) const override {
    const std::string subset = json.value("subset", "");
    if (subset == kFirstAwaited)
      improvement.tasks = first_awaited(model::result_waits(rows.trace()), improvement.tasks);
    else if (!subset.empty())
      return base::Error{fmt::format("inline-at-wait: \"{}\" is no subset: {}", subset, kFirstAwaited)};
    if (improvement.tasks.empty())
      return base::Error{"inline-at-wait: no spawner hands out several of the tasks before it asks for one"};
    const std::vector<analysis::ResultContract> contracts = analysis::result_contracts(rows.trace());
    if (std::ranges::any_of(improvement.tasks, [&](TaskId task) { return is_timed(contracts, task); }))
      return base::Error{"inline-at-wait: a task is waited for with a time limit"};
    return {};
  }

  // A wait for a task that ran there wraps its failure as before.
  bool keeps_failures() const override { return true; }

 private:
  void propose_these(const TaskSet& set, TaskProposals& proposals, const std::vector<TaskId>& tasks,
                     bool says_why) const {
    std::map<std::string_view, uint64_t> reasons;
    for (const TaskId task : tasks) {
      const std::string_view reason = kNotAtWait[static_cast<size_t>(proposals.waits()[task.index()].asker)];
      if (!reason.empty()) ++reasons[reason];
      if (is_timed(proposals.contracts(), task)) ++reasons[kTimedAtWait];
    }
    for (const auto& [reason, count] : reasons) {
      if (says_why) proposals.reject(this, set, std::string(reason), count);
    }
    if (!reasons.empty()) return;
    proposals.propose(this, set, tasks).runs_at = most_frequent_wait(proposals.waits(), tasks);
  }
};

constexpr InlineAtWait kInlineAtWait;

}  // namespace

const Kind* const kinds::inline_at_wait = &kInlineAtWait;

}  // namespace contrafact::improve
