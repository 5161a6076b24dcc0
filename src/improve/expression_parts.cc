#include "improve/expression_parts.h"

#include <fmt/format.h>

#include <algorithm>

namespace contrafact::improve {
namespace {

std::string place_text(const model::Trace& trace, const format::MethodRow& method, uint32_t line) {
  const std::string_view file = trace.string(method.file);
  if (file.empty()) return trace.method_name(method, true);
  return line > 0 ? fmt::format("{}:{}", file, line) : std::string(file);
}

}  // namespace

std::string simple_name(std::string_view class_name) {
  std::string name(class_name.substr(class_name.rfind('.') + 1));  // npos + 1: all of it
  std::ranges::replace(name, '$', '.');
  return name;
}

std::string body_text(const model::Trace& trace, model::TaskId task) {
  const model::MethodId body = trace.tasks[task.index()].body;
  if (!body.valid()) return "its body";
  const format::MethodRow& method = trace.methods[body.index()];
  const std::string place = place_text(trace, method, method.line);
  const bool is_lambda = trace.string(method.name).starts_with("lambda$");
  return is_lambda || !method.file.valid() ? place : fmt::format("{}, {}", trace.method_name(method, true), place);
}

std::string block(std::string_view comment) {
  return fmt::format("{{ /* {} */ return null; }}", comment);
}

HandOut hand_out_of(const model::Trace& trace, model::TaskId task) {
  const model::ContextId spawn = trace.tasks[task.index()].spawn_context;
  const model::ContextId program = trace.program_frame(spawn);
  HandOut found = HandOut::unknown;
  const auto at_least = [&](HandOut how) { found = std::max(found, how); };
  for (model::ContextId id = spawn; id.valid() && id != program; id = trace.contexts[id.index()].parent) {
    const model::MethodId method = trace.contexts[id.index()].method;
    if (!method.valid()) continue;
    constexpr std::string_view kConcurrent = "java.util.concurrent.";
    std::string_view type = trace.string(trace.methods[method.index()].class_name);
    if (!type.starts_with(kConcurrent)) continue;
    type.remove_prefix(kConcurrent.size());
    at_least(HandOut::executor);
    if (type.starts_with("CompletableFuture")) at_least(HandOut::completable);
    if (type == "ForkJoinPool") at_least(HandOut::fork_join_pool);
    if (type == "ForkJoinTask" || type == "RecursiveTask") at_least(HandOut::forked);
  }
  return found;
}

}  // namespace contrafact::improve
