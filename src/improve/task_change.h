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
  // Proposes changes of a set of tasks that one place hands out, or says why there is none.
  virtual void propose(const TaskSet& set, TaskProposals& proposals) const = 0;
  // Adds to the candidate the members that only its selection in another recording needs; `all` are the trace's
  // candidates. Returns why it cannot be named there; empty: it can.
  virtual std::string complete(std::span<const Candidate> /*all*/, const PathKeyIndex& /*paths*/,
                               Candidate& /*candidate*/) const {
    return "";
  }

  // The members of a spec that only this kind has: those that select tasks, and all of them.
  virtual void write_selection(const whatif::Improvement& /*improvement*/, const SpecTrace& /*in*/,
                               nlohmann::ordered_json& /*json*/) const {}
  virtual void write_members(const whatif::Improvement& /*improvement*/, const SpecTrace& /*in*/,
                             nlohmann::ordered_json& /*json*/) const {}
  // Keeps only the improvement's tasks that the spec selects; before, they are all tasks of their place.
  virtual base::Status narrow(const nlohmann::ordered_json& /*json*/, TaskSelector& /*rows*/,
                              whatif::Improvement& /*improvement*/) const {
    return {};
  }

  // True if the body changes, wherever its tasks are handed out.
  virtual bool changes_body() const { return false; }
  // True if a wait for a task that fails gets the failure as before.
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
