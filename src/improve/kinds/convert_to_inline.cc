// convert-to-inline (Rehype, section 4.1): the tasks of a place run at their spawn, on the spawning thread.

#include "improve/kinds/kinds.h"
#include "improve/task_change.h"
#include "improve/task_proposals.h"

namespace contrafact::improve {
namespace {

class ConvertToInline final : public TaskChange {
 public:
  constexpr ConvertToInline()
      : TaskChange("convert-to-inline", whatif::Treatment::inline_at_spawn, Effort::one_line, 1) {}

  void propose(const TaskSet& set, TaskProposals& proposals) const override { proposals.propose(this, set, set.tasks); }
};

constexpr ConvertToInline kConvertToInline;

}  // namespace

const Kind* const kinds::convert_to_inline = &kConvertToInline;

}  // namespace contrafact::improve
