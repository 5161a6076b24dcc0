// hoist-branch (Rehype, section 4.1): of the tasks that one place spawns, those that take one branch run at their
// spawn; the test moves in front of the spawn. To the engines it is convert-to-inline of the subset. All tasks of the
// place would be convert-to-inline itself.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "analysis/execution_path.h"
#include "improve/kinds/kinds.h"
#include "improve/path_keys.h"
#include "improve/spec_parts.h"
#include "improve/task_change.h"
#include "improve/task_proposals.h"

namespace contrafact::improve {
namespace {

using model::TaskId;
using whatif::PathCondition;

constexpr std::string_view kConditionNames[] = {"enters", "spawns_at", "waits_at"};

std::string words(const TaskProposals& proposals, TaskId task) {
  return analysis::path_text(proposals.trace(), analysis::path_of(proposals.trace(), task),
                             proposals.options().path_events_max);
}

Json conditions_json(const model::Trace& trace, const std::vector<PathCondition>& conditions) {
  Json json = Json::array();
  for (const PathCondition& condition : conditions) {
    Json entry{{"condition", kConditionNames[static_cast<size_t>(condition.kind)]}, {"holds", condition.holds}};
    if (condition.kind == PathCondition::Kind::enters_method)
      entry["method"] = method_json(trace, condition.method);
    else
      entry["frames"] = frames_json(trace, condition.context);
    json.push_back(std::move(entry));
  }
  return json;
}

// The tasks of the candidate's set that are not its own.
std::vector<TaskId> others_of(const Candidate& candidate, std::span<const Candidate> all) {
  std::vector<TaskId> rest;
  const std::vector<TaskId>& own = candidate.improvement.tasks;
  for (const Candidate& whole : all) {
    if (whole.set != candidate.set || whole.improvement.optimisation != kinds::convert_to_inline) continue;
    const std::vector<TaskId>& tasks = whole.improvement.tasks;
    std::set_difference(tasks.begin(), tasks.end(), own.begin(), own.end(), std::back_inserter(rest));
  }
  return rest;
}

class HoistBranch final : public TaskChange {
 public:
  constexpr HoistBranch() : TaskChange("hoist-branch", whatif::Treatment::inline_at_spawn, Effort::one_function, 2) {}

  void propose(const TaskSet& set, TaskProposals& proposals) const override {
    std::map<uint64_t, std::vector<TaskId>> by_path;
    for (const TaskId task : set.tasks) by_path[proposals.facts(task).path_hash].push_back(task);
    if (by_path.size() < 2) return;
    std::vector<std::pair<uint64_t, std::vector<TaskId>>> branches(std::make_move_iterator(by_path.begin()),
                                                                   std::make_move_iterator(by_path.end()));
    std::sort(branches.begin(), branches.end(), [](const auto& x, const auto& y) {
      return x.second.size() != y.second.size() ? x.second.size() > y.second.size() : x.second[0] < y.second[0];
    });
    const std::string first = words(proposals, branches[0].second[0]);
    const std::string second = words(proposals, branches[1].second[0]);
    for (size_t i = 0; i < std::min(branches.size(), proposals.options().branches_max); ++i) {
      const TaskId example = branches[i].second[0];
      Candidate& candidate = proposals.propose(this, set, std::move(branches[i].second));
      candidate.path_hash = branches[i].first;
      candidate.path = words(proposals, example);
      candidate.other_path = i == 0 ? second : first;
      candidate.improvement.body = proposals.body_of(candidate.improvement.tasks);
    }
    uint64_t left_out = 0;
    for (size_t i = proposals.options().branches_max; i < branches.size(); ++i) left_out += branches[i].second.size();
    if (left_out > 0)
      proposals.reject(this, set, "too many execution paths: only the most frequent are tried", left_out);
  }

  std::string complete(std::span<const Candidate> all, const PathKeyIndex& paths, Candidate& candidate) const override {
    whatif::Improvement& improvement = candidate.improvement;
    improvement.path = branch_conditions(paths, improvement.tasks, others_of(candidate, all));
    return improvement.path.empty() ? "cannot be told apart: record the methods of the branch (--include)" : "";
  }

  std::string_view fault(const whatif::Improvement& improvement) const override {
    if (improvement.tasks.empty()) return "no task takes the branch";
    if (improvement.tasks.size() >= improvement.context_tasks)
      return "every task of the place takes the branch: convert-to-inline does the same";
    return "";
  }

  void write_selection(const whatif::Improvement& improvement, const SpecTrace& in, Json& json) const override {
    json["branch"] = conditions_json(in.trace, improvement.path);
  }
  void write_members(const whatif::Improvement& improvement, const SpecTrace& in, Json& json) const override {
    write_selection(improvement, in, json);
  }

  base::Status narrow(const Json& json, TaskSelector& rows, whatif::Improvement& improvement) const override {
    const std::vector<TaskId> all = std::exchange(improvement.tasks, {});
    if (!json.contains("branch") || !json["branch"].is_array() || json["branch"].empty()) {
      return base::Error{"hoist-branch: no condition says which tasks take the branch"};
    }
    struct Wanted {
      PathCondition::Kind kind;
      std::string key;
      bool holds;
    };
    std::vector<Wanted> wanted;
    for (const Json& entry : json["branch"]) {
      if (!entry.is_object()) return base::Error{"hoist-branch: a condition is no object"};
      const std::string name = entry.value("condition", "");
      const auto at =
          std::find(std::begin(kConditionNames), std::end(kConditionNames), name) - std::begin(kConditionNames);
      if (at == 3) return base::Error{fmt::format("hoist-branch: \"{}\" is no condition", name)};
      const auto kind = static_cast<PathCondition::Kind>(at);
      const bool by_method = kind == PathCondition::Kind::enters_method;
      wanted.push_back(
          {kind, by_method ? body_key(entry.value("method", Json())) : rows.frames_key(entry.value("frames", Json())),
           entry.value("holds", true)});
    }
    const auto takes = [&](uint32_t set) {
      std::set<std::pair<PathCondition::Kind, std::string>> keys;
      for (auto [kind, id] : rows.paths().keys(set)) {
        if (kind == PathCondition::Kind::enters_method)
          keys.emplace(kind, rows.key_of(model::MethodId(id)));
        else if (id != UINT32_MAX)
          keys.emplace(kind, rows.key_of(model::ContextId(id)));
      }
      return std::all_of(wanted.begin(), wanted.end(), [&](const Wanted& condition) {
        return keys.contains({condition.kind, condition.key}) == condition.holds;
      });
    };
    std::unordered_map<uint32_t, bool> takes_of;  // by set of keys
    for (TaskId task : all) {
      const auto [known, is_new] = takes_of.try_emplace(rows.paths().set_of(task));
      if (is_new) known->second = takes(known->first);
      if (known->second) improvement.tasks.push_back(task);
    }
    if (improvement.tasks.empty()) return base::Error{"hoist-branch: no task of this trace takes the branch"};
    std::vector<TaskId> others;
    std::set_difference(all.begin(), all.end(), improvement.tasks.begin(), improvement.tasks.end(),
                        std::back_inserter(others));
    improvement.path = branch_conditions(rows.paths(), improvement.tasks, others);
    return {};
  }
};

constexpr HoistBranch kHoistBranch;

}  // namespace

const Kind* const kinds::hoist_branch = &kHoistBranch;

}  // namespace contrafact::improve
