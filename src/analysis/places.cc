#include "analysis/places.h"

namespace contrafact::analysis {

model::ContextId place_of(const model::Trace& trace, model::ContextId context, std::span<const model::TaskId> tasks) {
  if (tasks.empty() || trace.has_program_frame(context)) return context;
  const model::ContextId made = trace.tasks[tasks.front().index()].create_context;
  return trace.has_program_frame(made) ? made : context;
}

std::string pool_name(const model::Trace& trace, model::PoolId pool) {
  return pool.valid() ? std::string(trace.string(trace.pools[pool.index()].name)) : std::string("-");
}

}  // namespace contrafact::analysis
