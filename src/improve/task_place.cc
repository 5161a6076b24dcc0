#include "improve/task_place.h"

#include <string_view>

namespace contrafact::improve {
namespace {

constexpr std::string_view kFuture = "java.util.concurrent.CompletableFuture";

bool is_future_frame(const model::Trace& trace, model::ContextId context) {
  if (!context.valid()) return false;
  const model::MethodId method = trace.contexts[context.index()].method;
  return method.valid() && trace.string(trace.methods[method.index()].class_name) == kFuture;
}

}  // namespace

TaskPlaces::TaskPlaces(const model::Trace& trace) : trace_(trace), dependent_(trace.tasks.size()), sources_(trace) {
  for (const model::Dependency& dependency : trace.dependencies) {
    const uint32_t task = dependency.task.index();
    dependent_[task] = trace.tasks[task].create_context.valid();
  }
}

model::ContextId TaskPlaces::context(model::TaskId task) const {
  const model::TaskRow& row = trace_.tasks[task.index()];
  if (!is_dependent(task)) return sources_.of(row.spawn_context);
  model::ContextId context = row.create_context;
  while (is_future_frame(trace_, context) && is_future_frame(trace_, trace_.contexts[context.index()].parent)) {
    context = trace_.contexts[context.index()].parent;
  }
  return sources_.of(context);
}

model::ContextId TaskPlaces::made(model::TaskId task) const {
  return sources_.of(trace_.tasks[task.index()].create_context);
}

}  // namespace contrafact::improve
