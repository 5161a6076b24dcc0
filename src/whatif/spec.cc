#include "whatif/spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "whatif/combinator_expression.h"

namespace contrafact::whatif {
namespace {

using Json = nlohmann::ordered_json;
using model::ContextId;
using model::MethodId;
using model::TaskId;
using model::Trace;

constexpr const char* kConditionNames[] = {"enters_method", "spawns_at", "waits_at"};

Json method_json(const Trace& trace, MethodId id, uint32_t line) {
  if (!id.valid()) return nullptr;
  const format::MethodRow& method = trace.methods[id.index()];
  return {{"class", std::string(trace.string(method.class_name))},
          {"method", std::string(trace.string(method.name))},
          {"file", std::string(trace.string(method.file))},
          {"line", line}};
}

// Innermost frame first.
Json stack_json(const Trace& trace, ContextId context) {
  Json stack = Json::array();
  for (; context.valid(); context = trace.contexts[context.index()].parent) {
    const format::ContextRow& row = trace.contexts[context.index()];
    stack.push_back(method_json(trace, row.method, row.line));
  }
  return stack;
}

// Runs of consecutive tasks as [first, count].
Json tasks_json(const std::vector<TaskId>& tasks) {
  Json runs = Json::array();
  for (size_t i = 0; i < tasks.size();) {
    size_t end = i + 1;
    while (end < tasks.size() && tasks[end].value == tasks[i].value + (end - i)) ++end;
    runs.push_back({tasks[i].value, end - i});
    i = end;
  }
  return runs;
}

std::string instruction(const Trace& trace, const Improvement& improvement) {
  std::string where = trace.context_label(improvement.spawn_context);
  std::string body = improvement.body.valid() ? trace.method_label(improvement.body) : "its body";
  switch (improvement.optimisation) {
    case Optimisation::convert_to_inline:
      return fmt::format("At {}, call {} directly instead of handing it to the executor, and use its result where the "
                         "future is waited for.", where, body);
    case Optimisation::hoist_branch:
      return fmt::format("At {}, test the condition of the branch before the task is handed out: where it holds, call {} "
                         "directly; hand out the other tasks as before.", where, body);
    case Optimisation::convert_to_combinator:
      return fmt::format("Make {}, handed out at {}, return a CompletableFuture of its sub-tasks, combined as below, "
                         "instead of waiting for them.", body, where);
  }
  return "";
}

Json branch_json(const Trace& trace, const Improvement& improvement) {
  Json branch = Json::array();
  for (const PathCondition& condition : improvement.path) {
    Json one{{"kind", kConditionNames[static_cast<size_t>(condition.kind)]}, {"holds", condition.holds}};
    if (condition.kind == PathCondition::Kind::enters_method) {
      one["method"] = method_json(trace, condition.method,
                                  condition.method.valid() ? trace.methods[condition.method.index()].line : 0);
    } else {
      one["stack"] = stack_json(trace, condition.context);
    }
    branch.push_back(std::move(one));
  }
  return branch;
}

Json improvement_json(const Trace& trace, const Improvement& improvement) {
  Json out{{"optimisation", std::string(name_of(improvement.optimisation))},
           {"instruction", instruction(trace, improvement)},
           {"spawn_stack", stack_json(trace, improvement.spawn_context)},
           {"body", method_json(trace, improvement.body,
                                improvement.body.valid() ? trace.methods[improvement.body.index()].line : 0)}};
  const model::TaskRow& example = trace.tasks[improvement.tasks.front().index()];
  out["pool"] = example.pool.valid() ? Json(std::string(trace.string(trace.pools[example.pool.index()].name))) : Json();
  if (improvement.optimisation == Optimisation::hoist_branch) out["branch"] = branch_json(trace, improvement);
  if (improvement.optimisation == Optimisation::convert_to_combinator && example.start.valid() && example.end.valid()) {
    out["combinator"] = combinator_expression(trace, combinator_stages(trace, improvement.tasks.front()));
  }
  out["task_count"] = improvement.tasks.size();
  out["of_tasks"] = improvement.context_tasks;
  out["warnings"] = improvement.warnings;
  out["tasks"] = tasks_json(improvement.tasks);
  return out;
}

// ---- Reading.

struct Frame {
  std::string type, method;
  int64_t line = 0;  // 0: any
};

std::optional<Optimisation> optimisation_named(const std::string& name) {
  for (Optimisation one : {Optimisation::convert_to_inline, Optimisation::hoist_branch, Optimisation::convert_to_combinator}) {
    if (name_of(one) == name) return one;
  }
  return std::nullopt;
}

std::optional<std::vector<Frame>> frames_of(const Json& stack) {
  if (!stack.is_array() || stack.empty()) return std::nullopt;
  std::vector<Frame> frames;
  for (const Json& one : stack) {
    if (!one.is_object() || !one.contains("class") || !one.contains("method")) return std::nullopt;
    if (!one["class"].is_string() || !one["method"].is_string()) return std::nullopt;
    int64_t line = one.contains("line") && one["line"].is_number_integer() ? one["line"].get<int64_t>() : 0;
    frames.push_back({one["class"].get<std::string>(), one["method"].get<std::string>(), line});
  }
  return frames;
}

// Whether the innermost frames of `context` are these.
bool matches(const Trace& trace, ContextId context, const std::vector<Frame>& frames) {
  for (const Frame& frame : frames) {
    if (!context.valid()) return false;
    const format::ContextRow& row = trace.contexts[context.index()];
    if (!row.method.valid()) return false;
    const format::MethodRow& method = trace.methods[row.method.index()];
    if (trace.string(method.class_name) != frame.type || trace.string(method.name) != frame.method) return false;
    if (frame.line != 0 && row.line != frame.line) return false;
    context = row.parent;
  }
  return true;
}

base::Result<std::vector<TaskId>> listed_tasks(const Trace& trace, const Json& runs, const std::vector<Frame>& frames) {
  constexpr const char* kForm = "\"tasks\" must be a list of [first, count]";
  if (!runs.is_array()) return base::Error{kForm};
  std::vector<TaskId> tasks;
  for (const Json& run : runs) {
    if (!run.is_array() || run.size() != 2 || !run[0].is_number_unsigned() || !run[1].is_number_unsigned()) {
      return base::Error{kForm};
    }
    uint64_t first = run[0].get<uint64_t>(), count = run[1].get<uint64_t>();
    if (first >= trace.tasks.size() || count > trace.tasks.size() - first) {
      return base::Error{fmt::format("the trace has no task {}: the spec was made from another one", first + count - 1)};
    }
    for (uint64_t t = first; t < first + count; ++t) tasks.push_back(TaskId(static_cast<uint32_t>(t)));
  }
  for (TaskId task : tasks) {
    if (matches(trace, trace.tasks[task.index()].spawn_context, frames)) continue;
    return base::Error{fmt::format("task {} was not spawned at {}.{}: the spec was made from another trace", task.value,
                                   frames.front().type, frames.front().method)};
  }
  std::sort(tasks.begin(), tasks.end());
  tasks.erase(std::unique(tasks.begin(), tasks.end()), tasks.end());
  return tasks;
}

std::vector<TaskId> tasks_spawned_at(const Trace& trace, const std::vector<Frame>& frames) {
  std::vector<int8_t> known(trace.contexts.size(), -1);
  std::vector<TaskId> tasks;
  for (uint32_t t = 0; t < trace.tasks.size(); ++t) {
    const model::TaskRow& row = trace.tasks[t];
    if (!row.spawn_context.valid() || !row.start.valid()) continue;
    int8_t& verdict = known[row.spawn_context.index()];
    if (verdict < 0) verdict = matches(trace, row.spawn_context, frames) ? 1 : 0;
    if (verdict == 1) tasks.push_back(TaskId(t));
  }
  return tasks;
}

base::Result<Improvement> parse_improvement(const Trace& trace, const Json& one) {
  if (!one.is_object()) return base::Error{"must be an object"};
  if (!one.contains("optimisation") || !one["optimisation"].is_string()) return base::Error{"\"optimisation\" is missing"};
  std::string name = one["optimisation"].get<std::string>();
  std::optional<Optimisation> optimisation = optimisation_named(name);
  if (!optimisation) {
    return base::Error{fmt::format("there is no optimisation \"{}\": use convert-to-inline, hoist-branch or "
                                   "convert-to-combinator", name)};
  }
  std::optional<std::vector<Frame>> frames = one.contains("spawn_stack") ? frames_of(one["spawn_stack"]) : std::nullopt;
  if (!frames) return base::Error{"\"spawn_stack\" must be a list of frames with \"class\" and \"method\""};
  Improvement improvement{.optimisation = *optimisation};
  std::vector<TaskId> all = tasks_spawned_at(trace, *frames);
  if (one.contains("tasks")) {
    base::Result<std::vector<TaskId>> tasks = listed_tasks(trace, one["tasks"], *frames);
    if (!tasks) return tasks.error();
    improvement.tasks = *std::move(tasks);
  } else if (*optimisation == Optimisation::hoist_branch) {
    return base::Error{"hoist-branch needs \"tasks\": which of the tasks take the branch"};
  } else {
    improvement.tasks = std::move(all);
  }
  if (improvement.tasks.empty()) {
    return base::Error{fmt::format("no task was spawned at {}.{}", frames->front().type, frames->front().method)};
  }
  const model::TaskRow& example = trace.tasks[improvement.tasks.front().index()];
  improvement.spawn_context = example.spawn_context;
  improvement.body = example.body;
  uint64_t in_context = 0;
  for (const model::TaskRow& row : trace.tasks) in_context += row.spawn_context == example.spawn_context;
  improvement.context_tasks = static_cast<uint32_t>(std::max<uint64_t>(in_context, improvement.tasks.size()));
  return improvement;
}

}  // namespace

Json spec_of(const Trace& trace, std::span<const Improvement> improvements) {
  Json out{{"spec_version", kSpecVersion}, {"program", std::string(trace.fact("command"))}};
  out["improvements"] = Json::array();
  for (const Improvement& improvement : improvements) out["improvements"].push_back(improvement_json(trace, improvement));
  return out;
}

base::Result<std::vector<Improvement>> parse_spec(const Trace& trace, std::string_view text) {
  Json spec = Json::parse(text, nullptr, false);
  if (spec.is_discarded()) return base::Error{"is no JSON"};
  if (!spec.is_object() || !spec.contains("spec_version") || !spec["spec_version"].is_number_integer()) {
    return base::Error{"is no improvement spec: \"spec_version\" is missing"};
  }
  int64_t version = spec["spec_version"].get<int64_t>();
  if (version != kSpecVersion) {
    return base::Error{fmt::format("is of version {}, this contrafact reads version {}", version, kSpecVersion)};
  }
  if (!spec.contains("improvements") || !spec["improvements"].is_array() || spec["improvements"].empty()) {
    return base::Error{"has no \"improvements\""};
  }
  std::vector<Improvement> improvements;
  for (size_t i = 0; i < spec["improvements"].size(); ++i) {
    base::Result<Improvement> one = parse_improvement(trace, spec["improvements"][i]);
    if (!one) return base::Error{fmt::format("improvement {}: {}", i + 1, one.error().message)};
    improvements.push_back(*std::move(one));
  }
  return improvements;
}

}  // namespace contrafact::whatif
