#include "improve/combinator_expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "improve/executor_names.h"
#include "improve/expression_parts.h"

namespace contrafact::improve {
namespace {

using graph::TraceDag;
using graph::VertexKind;
using model::TaskId;
using model::Trace;

// Sub-tasks that are waited for together, and where the coordinator's code waits for the last of them.
struct Phase {
  std::vector<TaskId> awaited;
  model::ContextId wait;
};

// The frames of a context from the one that runs the coordinator's body inwards; empty if none does.
std::vector<model::ContextId> frames_from_body(const Trace& trace, TaskId coordinator, model::ContextId context) {
  const model::MethodId body = trace.tasks[coordinator.index()].body;
  std::vector<model::ContextId> frames;
  for (model::ContextId id = context; id.valid() && body.valid(); id = trace.contexts[id.index()].parent) {
    frames.push_back(id);
    const model::MethodId method = trace.contexts[id.index()].method;
    if (!method.valid()) continue;
    const format::MethodRow &frame = trace.methods[method.index()], &own = trace.methods[body.index()];
    if (frame.class_name != own.class_name || frame.name != own.name) continue;
    std::ranges::reverse(frames);
    return frames;
  }
  return {};
}

// How many frames of `wait` the spawn has in common with it: the last of them has handed out and waits, perhaps by
// other methods that it calls.
size_t common_frames(const Trace& trace, const std::vector<model::ContextId>& wait,
                     const std::vector<model::ContextId>& spawn) {
  size_t count = 0;
  while (count < std::min(wait.size(), spawn.size())) {
    const format::ContextRow &x = trace.contexts[wait[count].index()], &y = trace.contexts[spawn[count].index()];
    if (x.method != y.method) break;
    ++count;
    if (x.line != y.line) break;
  }
  return count;
}

// The frame of the wait whose code hands the sub-tasks out and waits for them: of what the coordinator's body calls, or
// its own. Without a body, the innermost one of the program.
model::ContextId own_frame(const Trace& trace, TaskId coordinator, const Phase& phase) {
  const model::ContextId program =
      trace.has_program_frame(phase.wait) ? trace.program_frame(phase.wait) : model::ContextId();
  const std::vector<model::ContextId> frames =
      frames_from_body(trace, coordinator, program.valid() ? program : phase.wait);
  if (frames.empty()) return program;
  size_t common = frames.size();
  for (TaskId task : phase.awaited) {
    const model::ContextId spawn = trace.tasks[task.index()].spawn_context;
    common = std::min(common, common_frames(trace, frames, frames_from_body(trace, coordinator, spawn)));
  }
  return frames[std::max<size_t>(common, 1) - 1];
}

// "Feed.java from line 44 on": what runs once the results are there.
std::string rest_text(const Trace& trace, TaskId coordinator, const Phase& phase) {
  const model::ContextId frame = own_frame(trace, coordinator, phase);
  if (!frame.valid()) return "the rest of " + body_text(trace, coordinator);
  const format::ContextRow& row = trace.contexts[frame.index()];
  const format::MethodRow& method = trace.methods[row.method.index()];
  const std::string_view file = trace.string(method.file);
  const std::string where = file.empty() ? trace.method_name(method, true) : std::string(file);
  return row.line > 0 ? fmt::format("{} from line {} on", where, row.line) : "the rest of " + where;
}

// Like texts are one, with their number, in order of first appearance.
template <typename Text>
std::vector<std::pair<std::string, size_t>> counted(const std::vector<TaskId>& tasks, Text text_of) {
  std::vector<std::pair<std::string, size_t>> result;
  for (TaskId task : tasks) {
    std::string text = text_of(task);
    auto same = std::ranges::find_if(result, [&](const auto& entry) { return entry.first == text; });
    if (same == result.end())
      result.emplace_back(std::move(text), 1);
    else
      ++same->second;
  }
  return result;
}

// `place`: where the expression will stand.
std::vector<std::string> suppliers(const Trace& trace, const std::vector<TaskId>& tasks, ExecutorNames& executors,
                                   model::ContextId place) {
  std::vector<std::string> result;
  for (const auto& [text, count] : counted(tasks, [&](TaskId task) {
         return fmt::format("CompletableFuture.supplyAsync(() -> {}{})", block(body_text(trace, task)),
                            executors.argument(trace.tasks[task.index()].pool, place));
       }))
    result.push_back(count > 1 ? fmt::format("/* {} times */ {}", count, text) : text);
  return result;
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
    if (trace.kind[begin] == model::EventKind::wait_begin && context.valid()) phase.wait = context;
  }
  return phases;
}

std::string of_futures(const Trace& trace, TaskId coordinator, const std::vector<Phase>& phases) {
  const model::MethodId body = trace.tasks[coordinator.index()].body;
  ExecutorNames executors(trace,
                          body.valid() ? trace.string(trace.methods[body.index()].class_name) : std::string_view());
  // The whole expression stands where the first wait is: what has a value there has it in the lambdas, too.
  const model::ContextId place = phases.empty() ? model::ContextId() : own_frame(trace, coordinator, phases.front());
  std::string expression;
  for (size_t i = 0; i < phases.size(); ++i) {
    const bool last = i + 1 == phases.size();
    const Phase& phase = phases[i];
    const std::vector<std::string> parts = suppliers(trace, phase.awaited, executors, place);
    const std::string then = block(last ? rest_text(trace, coordinator, phase) : "both results");
    std::string term;
    if (phase.awaited.size() == 1) {
      term = last ? fmt::format("{}.thenApply(a -> {})", parts[0], then) : parts[0];
    } else if (phase.awaited.size() == 2 && parts.size() == 2) {
      term = fmt::format("{}.thenCombine({}, (a, b) -> {})", parts[0], parts[1], then);
    } else {
      term = fmt::format("CompletableFuture.allOf({})", fmt::join(parts, ", "));
      if (last) term += fmt::format(".thenApply(all -> {})", then);
    }
    expression += i == 0 ? term : fmt::format(".thenCompose(r{} -> {}", i, term);
  }
  for (size_t i = 1; i < phases.size(); ++i) expression += ')';
  return expression;
}

// The statements of a CountedCompleter's compute(): nobody waits, the last of its parts runs onCompletion.
std::string of_forks(const Trace& trace, TaskId coordinator, const std::vector<Phase>& phases) {
  std::string text;
  for (const Phase& phase : phases) {
    if (!text.empty()) text += " /* and there: */ ";
    text += fmt::format("setPendingCount({});", phase.awaited.size());
    for (const auto& [body, count] : counted(phase.awaited, [&](TaskId task) { return body_text(trace, task); })) {
      text += fmt::format(" /* fork {}{}, with this as completer */", count > 1 ? fmt::format("{} times ", count) : "",
                          body);
    }
    text += fmt::format(" tryComplete(); /* onCompletion: {} */", rest_text(trace, coordinator, phase));
  }
  return text;
}

std::string expression_of(const Trace& trace, TaskId coordinator, const std::vector<Phase>& phases) {
  const bool forks = !phases.empty() && std::ranges::all_of(phases, [&](const Phase& phase) {
    return std::ranges::all_of(phase.awaited, [&](TaskId task) { return hand_out_of(trace, task) == HandOut::forked; });
  });
  return forks ? of_forks(trace, coordinator, phases) : of_futures(trace, coordinator, phases);
}

// All that an expression is made from.
std::vector<uint32_t> shape_of(const Trace& trace, TaskId coordinator, const std::vector<Phase>& phases) {
  std::vector<uint32_t> shape{trace.tasks[coordinator.index()].body.value};
  for (const Phase& phase : phases) {
    shape.push_back(phase.wait.value);
    shape.push_back(static_cast<uint32_t>(phase.awaited.size()));
    for (const TaskId awaited : phase.awaited) {
      const model::TaskRow& task = trace.tasks[awaited.index()];
      shape.insert(shape.end(), {task.body.value, task.pool.value, task.spawn_context.value});
    }
  }
  return shape;
}

}  // namespace

std::string combinator_expression(const TraceDag& dag, TaskId coordinator) {
  return expression_of(*dag.trace, coordinator, phases_of(dag, coordinator));
}

std::map<std::string, uint64_t> combinator_expressions(const TraceDag& dag, std::span<const TaskId> coordinators) {
  std::map<std::vector<uint32_t>, uint64_t*> known;
  std::map<std::string, uint64_t> expressions;
  for (const TaskId coordinator : coordinators) {
    const std::vector<Phase> phases = phases_of(dag, coordinator);
    const auto [shape, is_new] = known.try_emplace(shape_of(*dag.trace, coordinator, phases), nullptr);
    if (is_new) shape->second = &expressions[expression_of(*dag.trace, coordinator, phases)];
    ++*shape->second;
  }
  return expressions;
}

}  // namespace contrafact::improve
