#include "analysis/spawn_places.h"

namespace contrafact::analysis {

model::ContextId SpawnPlaces::of(const model::TaskRow& task) {
  if (task.create_context == task.spawn_context || is_of_program(task.spawn_context)) return task.spawn_context;
  return is_of_program(task.create_context) ? task.create_context : task.spawn_context;
}

bool SpawnPlaces::is_of_program(model::ContextId context) {
  if (!context.valid()) return false;
  Known& known = is_known_[context.index()];
  if (known == Known::no) known = trace_.has_program_frame(context) ? Known::of_program : Known::of_others;
  return known == Known::of_program;
}

}  // namespace contrafact::analysis
