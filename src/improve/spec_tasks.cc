#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "analysis/result_contracts.h"
#include "improve/at_wait_expression.h"
#include "improve/combinator_expression.h"
#include "improve/path_keys.h"
#include "improve/source_places.h"
#include "improve/spec_parts.h"
#include "improve/task_candidates.h"
#include "improve/task_place.h"
#include "model/result_waits.h"

namespace contrafact::improve {

namespace {

using graph::TraceDag;
using model::ContextId;
using model::MethodId;
using model::TaskId;
using model::Trace;
using whatif::Improvement;
using whatif::Optimisation;
using whatif::PathCondition;

constexpr std::string_view kFirstAwaited = "first-awaited";  // inline-at-wait of one task of each batch
constexpr std::string_view kConditionNames[] = {"enters", "spawns_at", "waits_at"};

Json method_json(const Trace& trace, MethodId id) {
  if (!id.valid()) return nullptr;
  const format::MethodRow& row = trace.methods[id.index()];
  Json json{{"class", trace.string(row.class_name)}, {"method", trace.string(row.name)}};
  if (row.file.valid()) json["file"] = trace.string(row.file);
  if (row.line > 0) json["line"] = row.line;
  return json;
}

// Innermost frame first.
Json frames_json(const Trace& trace, ContextId id) {
  Json frames = Json::array();
  for (; id.valid(); id = trace.contexts[id.index()].parent) {
    const format::ContextRow& row = trace.contexts[id.index()];
    Json frame = method_json(trace, row.method);
    if (frame.is_null()) frame = Json::object();
    frame.erase("line");
    if (row.line > 0) frame["line"] = row.line;
    frames.push_back(std::move(frame));
  }
  return frames;
}

// Whose code a class is, by what this trace knows of it. A class that it has no method of counts as the program's: then
// its lines count, too.
class ProgramClasses {
 public:
  explicit ProgramClasses(const Trace& trace) {
    for (uint32_t i = 0; i < trace.methods.size(); ++i)
      is_program_.try_emplace(std::string(trace.string(trace.methods[i].class_name)),
                              trace.owner_name(MethodId(i)).empty());
  }
  bool has(const std::string& name) const {
    const auto found = is_program_.find(name);
    return found == is_program_.end() || found->second;
  }

 private:
  std::unordered_map<std::string, bool> is_program_;
};

// Text that is equal for stacks of one place of the source in two recordings.
std::string frames_key(const Json& frames, const ProgramClasses& program) {
  if (!frames.is_array()) return "";
  std::vector<FrameText> texts;
  for (const Json& frame : frames) {
    if (!frame.is_object()) continue;
    std::string name = frame.value("class", "");
    const bool own = program.has(name);
    texts.push_back({std::move(name), frame.value("method", ""), frame.value("line", 0u), own});
  }
  return place_key(texts);
}
// A body is the same where its class and method are: lines of other methods above it may change.
std::string body_key(const Json& body) {
  return body.is_object() ? fmt::format("{}.{}", body.value("class", ""), body.value("method", "")) : "";
}

// Where the tasks of `improvement` are waited for: contexts with their counts, most frequent first.
std::vector<std::pair<ContextId, uint64_t>> wait_places(const Trace& trace, const Improvement& improvement) {
  std::vector<bool> wanted(trace.tasks.size());
  for (TaskId task : improvement.tasks) wanted[task.index()] = true;
  std::map<uint32_t, uint64_t> counts;
  for (size_t i = 0; i < trace.event_count(); ++i) {
    if (trace.kind[i] == model::EventKind::wait_begin && trace.a[i] != UINT32_MAX && wanted[trace.a[i]])
      ++counts[trace.b[i]];
  }
  std::vector<std::pair<ContextId, uint64_t>> places;
  for (auto [context, count] : counts) places.emplace_back(ContextId(context), count);
  std::stable_sort(places.begin(), places.end(), [](const auto& x, const auto& y) { return x.second > y.second; });
  return places;
}

Json conditions_json(const Trace& trace, const std::vector<PathCondition>& conditions) {
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

// Tasks of one context may be waited for in several ways: each with the number of tasks that it stands for.
Json at_wait_json(const Trace& trace, const Improvement& improvement) {
  std::map<AtWaitExpression, uint64_t> expressions;
  for (TaskId task : improvement.tasks) ++expressions[at_wait_expression(trace, task)];
  Json list = Json::array();
  for (const auto& [expression, count] : expressions) {
    if (!expression.wait.empty())
      list.push_back({{"spawn", expression.spawn}, {"wait", expression.wait}, {"count", count}});
  }
  return list;
}

}  // namespace

Json task_selection(const SpecTrace& in, const Improvement& improvement) {
  Json json;
  json["optimisation"] = name_of(improvement.optimisation);
  json["spawn"] = {{"frames", frames_json(in.trace, improvement.spawn_context)}};
  json["body"] = method_json(in.trace, improvement.body);
  if (improvement.optimisation == Optimisation::hoist_branch)
    json["branch"] = conditions_json(in.trace, improvement.path);
  if (improvement.optimisation == Optimisation::inline_at_wait && improvement.tasks.size() < improvement.context_tasks)
    json["subset"] = kFirstAwaited;
  return json;
}

Json task_entry(const SpecTrace& in, const Improvement& improvement) {
  const Trace& trace = in.trace;
  Json json;
  json["optimisation"] = name_of(improvement.optimisation);
  json["tasks"] = {{"count", improvement.tasks.size()},
                   {"of", std::max<size_t>(improvement.context_tasks, improvement.tasks.size())}};
  json["spawn"] = {{"frames", frames_json(trace, improvement.spawn_context)}};
  json["body"] = method_json(trace, improvement.body);
  Json pools = Json::array();
  std::set<std::string> names;
  for (TaskId task : improvement.tasks) {
    const model::PoolId pool = trace.tasks[task.index()].pool;
    if (pool.valid() && names.insert(std::string(trace.string(trace.pools[pool.index()].name))).second)
      pools.push_back(trace.string(trace.pools[pool.index()].name));
  }
  json["pools"] = std::move(pools);
  Json waits = Json::array();
  for (auto [context, count] : wait_places(trace, improvement)) {
    waits.push_back({{"frames", frames_json(trace, context)}, {"count", count}});
  }
  json["waits"] = std::move(waits);
  if (improvement.optimisation == Optimisation::hoist_branch) json["branch"] = conditions_json(trace, improvement.path);
  if (improvement.optimisation == Optimisation::convert_to_combinator) {
    // Tasks of one context may differ in what they spawn: each expression with the number of tasks that it stands for.
    Json list = Json::array();
    for (const auto& [expression, count] : combinator_expressions(*in.dag, improvement.tasks))
      list.push_back({{"expression", expression}, {"count", count}});
    json["combinators"] = std::move(list);
  }
  if (improvement.optimisation == Optimisation::inline_at_wait) {
    if (improvement.tasks.size() < improvement.context_tasks) json["subset"] = kFirstAwaited;
    json["at_wait"] = at_wait_json(trace, improvement);
  }
  json["warnings"] = improvement.warnings;
  return json;
}

// Finds rows of this trace by the names in a spec.
class TaskSelector::Rows {
 public:
  explicit Rows(const TraceDag& dag) : dag_(dag), trace_(*dag.trace), program_(trace_), places_(trace_) {
    frames_of_.resize(trace_.contexts.size());
    std::vector<std::vector<TaskId>*> tasks_at(trace_.contexts.size());
    for (uint32_t i = 0; i < trace_.tasks.size(); ++i) {
      const ContextId context = places_.context(TaskId(i));
      if (!context.valid() || why_missing(TaskId(i))) continue;
      std::vector<TaskId>*& tasks = tasks_at[context.index()];
      if (tasks == nullptr) tasks = &by_context_[key_of(context)];
      tasks->push_back(TaskId(i));
    }
  }

  base::Result<Improvement> select(const Json& json, Optimisation wanted) {
    Improvement improvement;
    improvement.optimisation = wanted;
    const std::string_view optimisation = name_of(wanted);
    if (!json.contains("spawn") || !json["spawn"].is_object() || !json["spawn"].contains("frames")) {
      return base::Error{fmt::format("{}: \"spawn\" with \"frames\" is missing", optimisation)};
    }
    const Json& frames = json["spawn"]["frames"];
    const std::string body = json.contains("body") ? body_key(json["body"]) : "";
    auto found = by_context_.find(frames_key(frames, program_));
    std::vector<TaskId> all;
    if (found != by_context_.end()) {
      MethodId latest;  // most tasks of a place have one body
      bool is_wanted = body.empty() || body == method_key(latest);
      for (TaskId task : found->second) {
        const MethodId method = trace_.tasks[task.index()].body;
        if (!body.empty() && method != latest) is_wanted = body == body_of(method);
        latest = method;
        if (is_wanted) all.push_back(task);
      }
    }
    if (all.empty()) {
      const Json innermost = frames.is_array() && !frames.empty() && frames[0].is_object() ? frames[0] : Json::object();
      return base::Error{fmt::format("{}: no task of this trace is spawned at {}.{}:{}", optimisation,
                                     innermost.value("class", "?"), innermost.value("method", "?"),
                                     innermost.value("line", 0u))};
    }
    improvement.spawn_context = places_.context(all[0]);
    improvement.body = trace_.tasks[all[0].index()].body;
    improvement.context_tasks = static_cast<uint32_t>(all.size());
    if (improvement.optimisation == Optimisation::hoist_branch) {
      if (base::Status status = narrow(json, all, improvement); !status) return status.error();
    } else {
      improvement.tasks = std::move(all);
    }
    if (improvement.optimisation == Optimisation::convert_to_combinator) {
      std::erase_if(improvement.tasks, [&](TaskId task) { return !waits(task); });
      if (improvement.tasks.empty())
        return base::Error{fmt::format("{}: none of the tasks waits for another", optimisation)};
    }
    if (improvement.optimisation == Optimisation::inline_at_wait) {
      if (base::Status status = narrow_to_waits(json, improvement); !status) return status.error();
    }
    for (const Json& warning : json.value("warnings", Json::array())) {
      if (warning.is_string()) improvement.warnings.push_back(warning.get<std::string>());
    }
    return improvement;
  }

 private:
  bool why_missing(TaskId task) const {
    const model::TaskRow& row = trace_.tasks[task.index()];
    return !row.start.valid() || !row.spawn.valid() || row.truncated;
  }

  const std::string& key_of(ContextId context) {
    std::string& key = frames_of_[context.index()];
    if (key.empty()) key = frames_key(frames_json(trace_, context), program_);
    return key;
  }
  std::string method_key(MethodId method) const { return body_key(method_json(trace_, method)); }
  const std::string& body_of(MethodId method) {
    const auto [known, is_new] = body_keys_.try_emplace(method.value);
    if (is_new) known->second = method_key(method);
    return known->second;
  }

  bool waits(TaskId task) const {
    const graph::Body& body = dag_.body_of(task);
    for (uint32_t i = body.begin; i < body.end; ++i) {
      if (dag_.vertices[i].vertex_kind() == graph::VertexKind::wait) return true;
    }
    return false;
  }

  base::Status narrow_to_waits(const Json& json, Improvement& improvement) const {
    const std::string subset = json.value("subset", "");
    if (subset == kFirstAwaited)
      improvement.tasks = first_awaited(model::result_waits(trace_), improvement.tasks);
    else if (!subset.empty())
      return base::Error{fmt::format("inline-at-wait: \"{}\" is no subset: {}", subset, kFirstAwaited)};
    if (improvement.tasks.empty())
      return base::Error{"inline-at-wait: no spawner hands out several of the tasks before it asks for one"};
    if (any_timed(improvement.tasks)) return base::Error{"inline-at-wait: a task is waited for with a time limit"};
    return {};
  }

  // Whoever runs a task itself does not stop waiting for it.
  bool any_timed(const std::vector<TaskId>& tasks) const {
    const std::vector<analysis::ResultContract> contracts = analysis::result_contracts(trace_);
    return !contracts.empty() && std::ranges::any_of(tasks, [&](TaskId task) {
      return contracts[task.index()].timed_get.valid() || contracts[task.index()].time_limit.valid();
    });
  }

  base::Status narrow(const Json& json, const std::vector<TaskId>& all, Improvement& improvement) {
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
          {kind,
           by_method ? body_key(entry.value("method", Json())) : frames_key(entry.value("frames", Json()), program_),
           entry.value("holds", true)});
    }
    const auto takes = [&](uint32_t set) {
      std::set<std::pair<PathCondition::Kind, std::string>> keys;
      for (auto [kind, id] : paths().keys(set)) {
        if (kind == PathCondition::Kind::enters_method)
          keys.emplace(kind, method_key(MethodId(id)));
        else if (id != UINT32_MAX)
          keys.emplace(kind, key_of(ContextId(id)));
      }
      return std::all_of(wanted.begin(), wanted.end(), [&](const Wanted& condition) {
        return keys.contains({condition.kind, condition.key}) == condition.holds;
      });
    };
    std::unordered_map<uint32_t, bool> takes_of;  // by set of keys
    for (TaskId task : all) {
      const auto [known, is_new] = takes_of.try_emplace(paths().set_of(task));
      if (is_new) known->second = takes(known->first);
      if (known->second) improvement.tasks.push_back(task);
    }
    if (improvement.tasks.empty()) return base::Error{"hoist-branch: no task of this trace takes the branch"};
    std::vector<TaskId> others;
    std::set_difference(all.begin(), all.end(), improvement.tasks.begin(), improvement.tasks.end(),
                        std::back_inserter(others));
    improvement.path = branch_conditions(paths(), improvement.tasks, others);
    return {};
  }

  const PathKeyIndex& paths() {
    if (!paths_) paths_.emplace(trace_);
    return *paths_;
  }

  const TraceDag& dag_;
  const Trace& trace_;
  const ProgramClasses program_;
  const TaskPlaces places_;
  std::vector<std::string> frames_of_;  // by context
  std::map<std::string, std::vector<TaskId>> by_context_;
  std::unordered_map<uint32_t, std::string> body_keys_;  // by method
  std::optional<PathKeyIndex> paths_;                    // made when first needed
};

TaskSelector::TaskSelector(const TraceDag& dag) : rows_(std::make_unique<Rows>(dag)) {}

TaskSelector::~TaskSelector() = default;

base::Result<Candidate> TaskSelector::select(const Json& entry, Optimisation optimisation) {
  base::Result<Improvement> improvement = rows_->select(entry, optimisation);
  if (!improvement) return improvement.error();
  Candidate candidate;
  candidate.improvement = *std::move(improvement);
  return candidate;
}

}  // namespace contrafact::improve
