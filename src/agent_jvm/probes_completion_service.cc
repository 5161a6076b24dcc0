// ExecutorCompletionService: waiting for whichever task is done first. invokeAny of AbstractExecutorService is built on
// it.
#include "agent_jvm/agent_state.h"
#include "agent_jvm/probes.h"

namespace contrafact::agent_jvm {
namespace {

constexpr std::string_view kService = "java/util/concurrent/ExecutorCompletionService";

base::Status take(Edit& edit) {
  return edit.bracket({kProbesClass, "waitBegin", "(Ljava/lang/Object;)J", [](Sequence& s) { s.aconst_null(); },
                       "takeEnd", Edit::Bracket::result});
}

constexpr Probe kProbes[] = {
    {kService, "take", "", take},
    {kService, "poll", "", take},
};

}  // namespace

Family completion_service_family() {
  return {"completion_service", kProbes, {}};
}

}  // namespace contrafact::agent_jvm
