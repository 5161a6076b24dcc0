// convert-to-combinator (Rehype, section 4.1): a task that spawns sub-tasks and waits for them becomes a chain of
// stages, and gives its thread back at each wait.

#include <fmt/format.h>

#include "improve/combinator_expression.h"
#include "improve/kinds/kinds.h"
#include "improve/spec_parts.h"
#include "improve/task_change.h"
#include "improve/task_proposals.h"

namespace contrafact::improve {
namespace {

bool waits_for_others(const graph::TraceDag& dag, model::TaskId task) {
  const graph::Body& body = dag.body_of(task);
  for (uint32_t i = body.begin; i < body.end; ++i) {
    if (dag.vertices[i].vertex_kind() == graph::VertexKind::wait) return true;
  }
  return false;
}

class ConvertToCombinator final : public TaskChange {
 public:
  constexpr ConvertToCombinator()
      : TaskChange("convert-to-combinator", whatif::Treatment::combinator, Effort::redesign, 3) {}

  void propose(const TaskSet& set, TaskProposals& proposals) const override {
    std::vector<model::TaskId> coordinators;
    for (const model::TaskId task : set.tasks) {
      if (proposals.facts(task).waits_for_own) coordinators.push_back(task);
    }
    if (coordinators.empty()) return;
    const model::MethodId body = proposals.body_of(coordinators);
    proposals.propose(this, set, std::move(coordinators)).improvement.body = body;
  }

  // Tasks of one context may differ in what they spawn: each expression with the number of tasks that it stands for.
  void write_members(const whatif::Improvement& improvement, const SpecTrace& in, Json& json) const override {
    Json list = Json::array();
    for (const auto& [expression, count] : combinator_expressions(*in.dag, improvement.tasks))
      list.push_back({{"expression", expression}, {"count", count}});
    json["combinators"] = std::move(list);
  }

  base::Status narrow(const Json&, TaskSelector& rows, whatif::Improvement& improvement) const override {
    std::erase_if(improvement.tasks, [&](model::TaskId task) { return !waits_for_others(rows.dag(), task); });
    if (improvement.tasks.empty()) return base::Error{fmt::format("{}: none of the tasks waits for another", name())};
    return {};
  }

  bool changes_body() const override { return true; }
};

constexpr ConvertToCombinator kConvertToCombinator;

}  // namespace

const Kind* const kinds::convert_to_combinator = &kConvertToCombinator;

}  // namespace contrafact::improve
