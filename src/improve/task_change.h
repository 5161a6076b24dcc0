// TaskChange: a kind of change of tasks.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "base/result.h"
#include "improve/kind.h"

namespace contrafact::improve {

class PathKeyIndex;
class TaskProposals;
class TaskSelector;
struct SpecTrace;
struct TaskSet;

class TaskChange : public Kind {
 public:
  // What to make of a set of tasks that one place hands out, or why nothing.
  virtual void propose(const TaskSet& set, TaskProposals& proposals) const = 0;
  // Adds to the candidate what only its selection in another recording needs; `all` are the trace's candidates. Returns
  // why it cannot be named there; empty: it can.
  virtual std::string complete(std::span<const Candidate> /*all*/, const PathKeyIndex& /*paths*/,
                               Candidate& /*candidate*/) const {
    return "";
  }

  // Members of a spec that are this kind's own: those that select tasks, and all of them.
  virtual void write_selection(const whatif::Improvement& /*improvement*/, const SpecTrace& /*in*/,
                               nlohmann::ordered_json& /*json*/) const {}
  virtual void write_members(const whatif::Improvement& /*improvement*/, const SpecTrace& /*in*/,
                             nlohmann::ordered_json& /*json*/) const {}
  // Leaves those of the improvement's tasks that the spec selects; at first they are all of their place.
  virtual base::Status narrow(const nlohmann::ordered_json& /*json*/, TaskSelector& /*rows*/,
                              whatif::Improvement& /*improvement*/) const {
    return {};
  }

  // The body changes, whoever hands its tasks out.
  virtual bool changes_body() const { return false; }
  // A wait for a task that fails is told so as before.
  virtual bool keeps_failures() const { return false; }

 protected:
  constexpr TaskChange(std::string_view name, whatif::Treatment treatment, Effort effort, int steps)
      : Kind(name, whatif::Target::tasks, treatment, effort, steps) {}
};

// REQUIRES: as kind_of, and of tasks.
inline const TaskChange& task_change_of(const whatif::Improvement& improvement) {
  return static_cast<const TaskChange&>(*improvement.optimisation);
}

}  // namespace contrafact::improve
