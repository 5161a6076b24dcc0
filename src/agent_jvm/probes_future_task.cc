// FutureTask: its body, its completion, and who waits for it.
#include "agent_jvm/agent_state.h"
#include "agent_jvm/probes.h"

namespace contrafact::agent_jvm {
namespace {

constexpr std::string_view kFuture = "java/util/concurrent/FutureTask";

// From the call of the callable to the end of the method, so that completing lies inside.
base::Status run(Edit& edit) {
  const uint32_t token = edit.token(), failed = edit.flag();
  base::Status status = edit.wrap(
      calls("java/util/concurrent/Callable", "call"),
      [&](const CallOperands&, Sequence& before, Sequence&, Sequence& exception) {
        before.aload(0).invokestatic(kProbesClass, "futureStart", "(Ljava/util/concurrent/FutureTask;)J").lstore(token);
        exception.iconst(1).istore(failed);
      });
  if (!status) return status;
  auto end = [&](Sequence& s) { s.lload(token).iload(failed).invokestatic(kProbesClass, "futureEnd", "(JI)V"); };
  return edit.finish({}, end, end);
}

template <int kOutcome>
base::Status done(Edit& edit) {
  return edit.at_entry([](Sequence& s) {
    s.aload(0).iconst(kOutcome).invokestatic(kProbesClass, "futureDone", "(Ljava/util/concurrent/FutureTask;I)V");
  });
}

base::Status wait(Edit& edit) {
  return edit.bracket({kProbesClass, "waitBegin", "(Ljava/lang/Object;)J", [](Sequence& s) { s.aload(0); }, "waitEnd",
                       Edit::Bracket::receiver});
}

constexpr Probe kProbes[] = {
    {kFuture, "run", "()V", run},
    {kFuture, "runAndReset", "()Z", run},
    {kFuture, "set", "", done<static_cast<int>(format::Outcome::normal)>},
    {kFuture, "setException", "", done<static_cast<int>(format::Outcome::exception)>},
    {kFuture, "cancel", "", done<static_cast<int>(format::Outcome::cancelled)>},
    {kFuture, "get", "", wait},
};
constexpr AddedField kFields[] = {{kFuture, "contrafactTask", "I"}};

}  // namespace

Family future_task_family() {
  return {"future_task", kProbes, kFields};
}

}  // namespace contrafact::agent_jvm
