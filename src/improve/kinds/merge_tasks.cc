// merge-tasks (Task granularity, sections 9.2 and 10.1): neighbours among the tasks that one loop hands out become one
// task, which does the work of all.

#include "improve/grain_change.h"
#include "improve/kinds/kinds.h"

namespace contrafact::improve {
namespace {

class MergeTasks final : public GrainChange {
 public:
  constexpr MergeTasks() : GrainChange("merge-tasks", whatif::Treatment::merge, Effort::one_function, 2) {}

  std::string title(const Candidate& candidate) const override {
    return std::string(name()) + " " + std::to_string(candidate.improvement.size_after) + " into one";
  }
  std::string_view legend() const override { return "(how many into one)"; }
  void add_notes(const model::Trace& /*trace*/, const Candidate& /*candidate*/,
                 std::vector<std::string>& notes) const override {
    notes.emplace_back("a merged task gives its results together: who needs the first result alone waits longer");
  }
};

constexpr MergeTasks kMergeTasks;

}  // namespace

const Kind* const kinds::merge_tasks = &kMergeTasks;

}  // namespace contrafact::improve
