#include "whatif/load_uses.h"

#include <algorithm>

namespace contrafact::whatif {
namespace {

// Calls `visit(drawn, op)` for each operation of each drawn request.
template <typename Visit>
void visit_ops(const LoadTemplates& model, const Visit& visit) {
  for (size_t i = 0; i < model.all().size(); ++i)
    each_op(model.program(), model.all()[i], [&](const Op& op) { visit(i, op); });
}

}  // namespace

std::vector<RequestUse> request_uses(const LoadTemplates& model) {
  std::vector<RequestUse> uses(model.all().size());
  visit_ops(model, [&](size_t drawn, const Op& op) {
    if (computes(op.code)) uses[drawn].core_ns += static_cast<int64_t>(op.value);
    if (op.code == OpCode::pause) uses[drawn].pause_ns += static_cast<int64_t>(op.value);
  });
  return uses;
}

std::vector<int64_t> pool_uses_ns(const LoadTemplates& model, uint32_t pool) {
  const model::Trace& trace = model.trace();
  std::vector<int64_t> uses(model.all().size());
  if (pool == model.hand_on_pool()) {
    for (uint32_t i = 0; i < uses.size(); ++i) uses[i] = std::max<int64_t>(0, model.hand_on(i).cpu_ns);
    return uses;
  }
  for (size_t i = 0; i < uses.size(); ++i) {
    for (const uint32_t task : model.all()[i].tasks) {
      const model::TaskRow& row = trace.tasks[task];
      if (row.pool.value == pool && row.start.valid() && row.end.valid())
        uses[i] += trace.time_ns[row.end.index()] - trace.time_ns[row.start.index()];
    }
  }
  // Permits: from where they are taken to where they are given back, in the request.
  visit_ops(model, [&](size_t drawn, const Op& op) {
    const bool takes = op.code == OpCode::permit_take;
    if ((!takes && op.code != OpCode::permit_give) || static_cast<uint32_t>(op.value) != pool) return;
    if (op.event >= trace.event_count()) return;
    const auto count = static_cast<int64_t>(op.value >> 32);
    uses[drawn] += (takes ? -count : count) * (trace.time_ns[op.event] - trace.begin_ns());
  });
  for (int64_t& ns : uses) ns = std::max<int64_t>(ns, 0);  // taken and not given back
  return uses;
}

std::vector<int64_t> lock_uses_ns(const LoadTemplates& model, uint32_t lock) {
  std::vector<int64_t> uses(model.all().size());
  const auto& sections = model.program().sync.sections;
  visit_ops(model, [&](size_t drawn, const Op& op) {
    if (op.code == OpCode::take && lock_of(op.value) == lock && section_of(op.value) < sections.size())
      uses[drawn] += sections[section_of(op.value)].hold_ns();
  });
  return uses;
}

}  // namespace contrafact::whatif
