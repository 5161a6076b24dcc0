// GrainChange: a class of tasks (task_grains.h) has fewer and larger tasks, or more and smaller ones. Which sizes are
// worth proposing, the simulation decides (advise/grain_advice.h).
#pragma once

#include <string>

#include "improve/kind.h"
#include "improve/task_grains.h"

namespace contrafact::improve {

class GrainChange : public Kind {
 public:
  // The change of a class to this size. No tasks: it changes none.
  virtual whatif::Improvement made(const TaskGrain& grain, uint32_t size) const {
    return {.optimisation = this,
            .spawn_context = grain.place,
            .body = grain.body,
            .tasks = grain.tasks,
            .context_tasks = static_cast<uint32_t>(grain.tasks.size()),
            .size_before = 1,
            .size_after = size};
  }

 protected:
  constexpr GrainChange(std::string_view name, whatif::Treatment treatment, Effort effort, int steps)
      : Kind(name, whatif::Target::grain, treatment, effort, steps) {}
};

// REQUIRES: as kind_of, and of tasks' grain.
inline const GrainChange& grain_change_of(const whatif::Improvement& improvement) {
  return static_cast<const GrainChange&>(*improvement.optimisation);
}

}  // namespace contrafact::improve
