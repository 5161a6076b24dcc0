#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "improve/spec_parts.h"
#include "improve/task_change.h"
#include "model/processes.h"

namespace contrafact::improve {

namespace {

using graph::TraceDag;
using model::ContextId;
using model::MethodId;
using model::TaskId;
using model::Trace;
using whatif::Improvement;

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

}  // namespace

Json task_selection(const SpecTrace& in, const Improvement& improvement) {
  Json json;
  json["optimisation"] = name_of(improvement.optimisation);
  json["spawn"] = {{"frames", frames_json(in.trace, improvement.spawn_context)}};
  json["body"] = method_json(in.trace, improvement.body);
  task_change_of(improvement).write_selection(improvement, in, json);
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
    if (!pool.valid()) continue;
    const auto [name, is_new] = names.insert(model::pool_label(trace, pool));
    if (is_new) pools.push_back(*name);
  }
  json["pools"] = std::move(pools);
  Json waits = Json::array();
  for (auto [context, count] : wait_places(trace, improvement)) {
    waits.push_back({{"frames", frames_json(trace, context)}, {"count", count}});
  }
  json["waits"] = std::move(waits);
  task_change_of(improvement).write_members(improvement, in, json);
  json["warnings"] = improvement.warnings;
  return json;
}

TaskSelector::TaskSelector(const TraceDag& dag) : dag_(dag), trace_(*dag.trace), program_(trace_), places_(trace_) {
  frames_of_.resize(trace_.contexts.size());
  std::vector<std::vector<TaskId>*> tasks_at(trace_.contexts.size());
  for (uint32_t i = 0; i < trace_.tasks.size(); ++i) {
    const ContextId context = places_.context(TaskId(i));
    if (!context.valid() || is_missing(TaskId(i))) continue;
    std::vector<TaskId>*& tasks = tasks_at[context.index()];
    if (tasks == nullptr) tasks = &by_context_[key_of(context)];
    tasks->push_back(TaskId(i));
  }
}

base::Result<Candidate> TaskSelector::select(const Json& json, const whatif::Optimisation* wanted) {
  Candidate candidate;
  Improvement& improvement = candidate.improvement;
  improvement.optimisation = wanted;
  const std::string_view optimisation = name_of(wanted);
  if (!json.contains("spawn") || !json["spawn"].is_object() || !json["spawn"].contains("frames")) {
    return base::Error{fmt::format("{}: \"spawn\" with \"frames\" is missing", optimisation)};
  }
  const Json& frames = json["spawn"]["frames"];
  improvement.tasks = tasks_of(frames, json.contains("body") ? body_key(json["body"]) : "");
  if (improvement.tasks.empty()) {
    const Json innermost = frames.is_array() && !frames.empty() && frames[0].is_object() ? frames[0] : Json::object();
    return base::Error{fmt::format("{}: no task of this trace is spawned at {}.{}:{}", optimisation,
                                   innermost.value("class", "?"), innermost.value("method", "?"),
                                   innermost.value("line", 0u))};
  }
  improvement.spawn_context = places_.context(improvement.tasks[0]);
  improvement.body = trace_.tasks[improvement.tasks[0].index()].body;
  improvement.context_tasks = static_cast<uint32_t>(improvement.tasks.size());
  if (base::Status status = task_change_of(improvement).narrow(json, *this, improvement); !status)
    return status.error();
  for (const Json& warning : json.value("warnings", Json::array())) {
    if (warning.is_string()) improvement.warnings.push_back(warning.get<std::string>());
  }
  return candidate;
}

// Of a place, those with this body; empty: with any.
std::vector<TaskId> TaskSelector::tasks_of(const Json& frames, const std::string& body) {
  std::vector<TaskId> all;
  const auto found = by_context_.find(frames_key(frames));
  if (found == by_context_.end()) return all;
  MethodId latest;  // most tasks of a place have one body
  bool is_wanted = body.empty() || body == body_key(method_json(trace_, latest));
  for (TaskId task : found->second) {
    const MethodId method = trace_.tasks[task.index()].body;
    if (!body.empty() && method != latest) is_wanted = body == key_of(method);
    latest = method;
    if (is_wanted) all.push_back(task);
  }
  return all;
}

bool TaskSelector::is_missing(TaskId task) const {
  const model::TaskRow& row = trace_.tasks[task.index()];
  return !row.start.valid() || !row.spawn.valid() || row.truncated;
}

const std::string& TaskSelector::key_of(ContextId context) {
  std::string& key = frames_of_[context.index()];
  if (key.empty()) key = frames_key(frames_json(trace_, context));
  return key;
}

const std::string& TaskSelector::key_of(MethodId method) {
  const auto [known, is_new] = body_keys_.try_emplace(method.value);
  if (is_new) known->second = body_key(method_json(trace_, method));
  return known->second;
}

const PathKeyIndex& TaskSelector::paths() {
  if (!paths_) paths_.emplace(trace_);
  return *paths_;
}

}  // namespace contrafact::improve
