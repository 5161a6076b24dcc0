// cut-off (Task granularity, section 13.2, as programmers do it by hand): a recursion hands out tasks down to a level;
// below it, each task does the rest by itself.

#include "improve/grain_change.h"
#include "improve/kinds/kinds.h"

namespace contrafact::improve {
namespace {

class CutOff final : public GrainChange {
 public:
  constexpr CutOff() : GrainChange("cut-off", whatif::Treatment::inline_at_spawn, Effort::one_line, 1) {}

  whatif::Improvement made(const TaskGrain& grain, uint32_t size) const override {
    whatif::Improvement improvement = GrainChange::made(grain, size);
    improvement.size_before = grain.deepest;
    improvement.tasks.clear();
    for (size_t i = 0; i < grain.levels.size(); ++i) {
      if (grain.levels[i] > size) improvement.tasks.push_back(grain.tasks[i]);
    }
    return improvement;
  }
  std::string title(const Candidate& candidate) const override {
    return std::string(name()) + " below level " + std::to_string(candidate.improvement.size_after);
  }
  std::string_view legend() const override { return "(the deepest level that is still handed out; the first is 0)"; }
};

constexpr CutOff kCutOff;

}  // namespace

const Kind* const kinds::cut_off = &kCutOff;

}  // namespace contrafact::improve
