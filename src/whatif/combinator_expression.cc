#include "whatif/combinator_expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace contrafact::whatif {
namespace {

using graph::TraceDag;
using graph::VertexKind;
using model::TaskId;
using model::Trace;

// Sub-tasks that are waited for together, and the lines of the coordinator's code around their waits.
struct Phase {
  std::vector<TaskId> awaited;
  uint32_t wait_line = 0;  // of the last wait
};

std::string simple_name(std::string_view class_name) {
  const size_t dot = class_name.rfind('.');
  std::string name(dot == std::string_view::npos ? class_name : class_name.substr(dot + 1));
  std::replace(name.begin(), name.end(), '$', '.');
  return name;
}

// A Java identifier from a pool's name.
std::string pool_variable(const Trace& trace, model::PoolId pool) {
  std::string name;
  for (char c : pool.valid() ? trace.string(trace.pools[pool.index()].name) : std::string_view()) {
    if (std::isalnum(static_cast<unsigned char>(c))) name += c;
  }
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0]))) return "executor";
  name[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(name[0])));
  return name;
}

std::string supplier(const Trace& trace, TaskId task) {
  const model::TaskRow& row = trace.tasks[task.index()];
  std::string body = "() -> /* its body */";
  if (row.body.valid()) {
    const format::MethodRow& method = trace.methods[row.body.index()];
    const std::string_view name = trace.string(method.name);
    if (name.starts_with("lambda$") || name == "run" || name == "call" || name == "get" || name == "compute") {
      body = method.file.valid() ? fmt::format("() -> /* {}:{} */", trace.string(method.file), method.line)
                                 : fmt::format("() -> /* {} */", trace.method_label(row.body));
    } else {
      body = fmt::format("{}::{}", simple_name(trace.string(method.class_name)), name);
    }
  }
  return fmt::format("supplyAsync({}, {})", body, pool_variable(trace, row.pool));
}

// Runs of sub-tasks with the same text are written once, with their number.
std::vector<std::string> suppliers(const Trace& trace, const std::vector<TaskId>& tasks) {
  std::vector<std::pair<std::string, size_t>> counted;
  for (TaskId task : tasks) {
    std::string text = supplier(trace, task);
    auto same = std::find_if(counted.begin(), counted.end(), [&](const auto& entry) { return entry.first == text; });
    if (same == counted.end())
      counted.emplace_back(std::move(text), 1);
    else
      ++same->second;
  }
  std::vector<std::string> result;
  for (const auto& [text, count] : counted)
    result.push_back(count > 1 ? fmt::format("/* {} times */ {}", count, text) : text);
  return result;
}

std::string code(const Trace& trace, TaskId coordinator, uint32_t from_line) {
  const model::MethodId body = trace.tasks[coordinator.index()].body;
  std::string name = "the task";
  if (body.valid()) name = trace.string(trace.methods[body.index()].name);
  return from_line > 0 ? fmt::format("/* {} from line {} on */", name, from_line)
                       : fmt::format("/* the rest of {} */", name);
}

std::vector<Phase> phases_of(const TraceDag& dag, TaskId coordinator) {
  const Trace& trace = *dag.trace;
  std::vector<Phase> phases;
  const graph::Body& body = dag.body_of(coordinator);
  bool spawned_since = true;
  for (uint32_t i = body.begin; i < body.end; ++i) {
    const graph::Vertex& vertex = dag.vertices[i];
    if (vertex.vertex_kind() == VertexKind::spawn) spawned_since = true;
    if (vertex.vertex_kind() != VertexKind::wait) continue;
    const TaskId awaited(vertex.id);
    // Only a wait for a task that was spawned after the last wait begins a new phase.
    const model::EventIndex spawn = trace.tasks[awaited.index()].spawn;
    bool later = phases.empty();
    if (!later && spawned_since && spawn.valid()) {
      const uint32_t last_wait = dag.vertex_event[i];
      uint32_t previous = 0;
      for (uint32_t k = body.begin; k < i; ++k) {
        if (dag.vertices[k].vertex_kind() == VertexKind::wait) previous = dag.vertex_event[k];
      }
      later = spawn.value > previous && spawn.value < last_wait;
    }
    if (later) phases.emplace_back();
    spawned_since = false;
    Phase& phase = phases.back();
    if (std::find(phase.awaited.begin(), phase.awaited.end(), awaited) == phase.awaited.end())
      phase.awaited.push_back(awaited);
    uint32_t begin = dag.vertex_event[i];
    while (begin > 0 && trace.kind[begin] != model::EventKind::wait_begin) --begin;
    const model::ContextId context(trace.b[begin]);
    if (trace.kind[begin] == model::EventKind::wait_begin && context.valid()) {
      phase.wait_line = trace.contexts[context.index()].line;
    }
  }
  return phases;
}

}  // namespace

std::string combinator_expression(const TraceDag& dag, TaskId coordinator) {
  const Trace& trace = *dag.trace;
  const std::vector<Phase> phases = phases_of(dag, coordinator);
  std::string expression;
  for (size_t i = 0; i < phases.size(); ++i) {
    const bool last = i + 1 == phases.size();
    const Phase& phase = phases[i];
    const std::vector<std::string> parts = suppliers(trace, phase.awaited);
    const std::string then = last ? code(trace, coordinator, phase.wait_line) : std::string();
    std::string term;
    if (phase.awaited.size() == 1) {
      term = last ? fmt::format("{}.thenApply(a -> {})", parts[0], then) : parts[0];
    } else if (phase.awaited.size() == 2 && parts.size() == 2) {
      term = fmt::format("{}.thenCombine({}, (a, b) -> {})", parts[0], parts[1], last ? then : "/* both results */");
    } else {
      term = fmt::format("CompletableFuture.allOf({})", fmt::join(parts, ", "));
      if (last) term += fmt::format(".thenApply(all -> {})", then);
    }
    expression += i == 0 ? term : fmt::format(".thenCompose(r{} -> {}", i, term);
  }
  for (size_t i = 1; i < phases.size(); ++i) expression += ')';
  return expression;
}

}  // namespace contrafact::whatif
