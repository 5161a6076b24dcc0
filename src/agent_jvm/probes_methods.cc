// Function events of the methods that the tracing configuration chose.
#include "agent_jvm/agent_state.h"
#include "agent_jvm/probes.h"

namespace contrafact::agent_jvm {

base::Status add_function_events(Edit& edit, uint32_t method_id) {
  const auto id = static_cast<int32_t>(method_id);
  auto leave = [&](Sequence& s, int outcome) {
    s.iconst(id).iconst(outcome).invokestatic(kProbesClass, "exit", "(II)V");
  };
  return edit.finish([&](Sequence& s) { s.iconst(id).invokestatic(kProbesClass, "enter", "(I)V"); },
                     [&](Sequence& s) { leave(s, static_cast<int>(format::Outcome::normal)); },
                     [&](Sequence& s) { leave(s, static_cast<int>(format::Outcome::exception)); });
}

}  // namespace contrafact::agent_jvm
