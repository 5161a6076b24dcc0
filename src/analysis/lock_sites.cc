#include "analysis/lock_sites.h"

#include "model/facts.h"

namespace contrafact::analysis {

LockSites::LockSites(const model::Trace& trace)
    : trace_(trace), is_native_(model::is_native(trace)), futex_frames_(trace) {}

uint32_t LockSites::of(model::ContextId context) {
  const auto method = context.valid() ? trace_.contexts[context.index()].method : model::MethodId::none();
  const uint32_t line = context.valid() ? trace_.contexts[context.index()].line : 0;
  const auto known = of_code_.find({method.value, line});
  if (known != of_code_.end()) return known->second;
  std::string label = context.valid() ? trace_.frame_label(context) : "?";
  const auto [found, added] = of_label_.try_emplace(label, static_cast<uint32_t>(sites_.size()));
  if (added) sites_.push_back({std::move(label), context});
  of_code_[{method.value, line}] = found->second;
  return found->second;
}

uint32_t LockSites::of(model::LockId lock, model::ContextId context) {
  if (!is_native_) return of(context.valid() ? trace_.code_frame(context) : context);
  const bool is_futex = trace_.locks[lock.index()].kind == format::LockKind::futex;
  return of(is_futex && context.valid() ? futex_frames_.program_frame(context) : context);
}

}  // namespace contrafact::analysis
