// split-tasks (Task granularity, sections 9.3 and 10.2): each task becomes several, which share its work evenly.

#include "improve/grain_change.h"
#include "improve/kinds/kinds.h"

namespace contrafact::improve {
namespace {

class SplitTasks final : public GrainChange {
 public:
  constexpr SplitTasks() : GrainChange("split-tasks", whatif::Treatment::split, Effort::one_function, 3) {}

  std::string title(const Candidate& candidate) const override {
    return std::string(name()) + " into " + std::to_string(candidate.improvement.size_after);
  }
  std::string_view legend() const override { return "(into how many)"; }
  void add_notes(const model::Trace& /*trace*/, const Candidate& /*candidate*/,
                 std::vector<std::string>& notes) const override {
    notes.emplace_back("whether a task's work can be divided evenly, the recording does not say");
  }
};

constexpr SplitTasks kSplitTasks;

}  // namespace

const Kind* const kinds::split_tasks = &kSplitTasks;

}  // namespace contrafact::improve
