// Blocking that is not a wait for a task: LockSupport, below every lock and queue of java.util.concurrent, and sleep.
// Contended monitors and Object.wait come from JVMTI (agent.cc).
#include "agent_jvm/agent_state.h"
#include "agent_jvm/probes.h"

namespace contrafact::agent_jvm {
namespace {

constexpr std::string_view kLockSupport = "java/util/concurrent/locks/LockSupport";
constexpr std::string_view kThread = "java/lang/Thread";

constexpr std::string_view kOwnableSynchronizer = "java/util/concurrent/locks/AbstractOwnableSynchronizer";

base::Status park(Edit& edit) {
  return edit.bracket({kProbesClass, "parkBegin", "()J", {}, "blockEnd"});
}

// The first argument is the object that the thread waits for.
base::Status park_for(Edit& edit) {
  return edit.bracket(
      {kProbesClass, "parkBegin", "(Ljava/lang/Object;)J", [](Sequence& s) { s.aload(0); }, "blockEnd"});
}

base::Status unpark(Edit& edit) {
  return edit.at_entry(
      [](Sequence& s) { s.aload(0).invokestatic(kProbesClass, "unparking", "(Ljava/lang/Thread;)V"); });
}

base::Status sleep(Edit& edit) {
  return edit.bracket({kProbesClass, "sleepBegin", "()J", {}, "blockEnd"});
}

constexpr Probe kProbes[] = {
    {kLockSupport, "park", "()V", park},
    {kLockSupport, "parkNanos", "(J)V", park},
    {kLockSupport, "parkUntil", "(J)V", park},
    {kLockSupport, "park", "(Ljava/lang/Object;)V", park_for},
    {kLockSupport, "parkNanos", "(Ljava/lang/Object;J)V", park_for},
    {kLockSupport, "parkUntil", "(Ljava/lang/Object;J)V", park_for},
    {kLockSupport, "unpark", "", unpark},
    {kThread, "sleep", "(JI)V", sleep},
    {kThread, "sleep", "(J)V", sleep, 19},
    {kThread, "sleep", "(Ljava/time/Duration;)V", sleep, 19},
};
constexpr AddedField kFields[] = {{kOwnableSynchronizer, "contrafactLock", "I"}};

}  // namespace

base::Status wrap_sleep_calls(Edit& edit) {
  uint32_t token = UINT32_MAX;
  CallWrap wrap;
  wrap.selects = [&](const CallSite& site) {
    const bool chosen = site.owner == kThread && site.name == "sleep" && site.descriptor == "(J)V";
    if (chosen && token == UINT32_MAX) token = edit.token();
    return chosen;
  };
  wrap.build = [&](const CallSite&, const CallOperands&, Sequence& before, Sequence& after, Sequence& exception) {
    before.invokestatic(kProbesClass, "sleepBegin", "()J").lstore(token);
    after.aconst_null().lload(token).invokestatic(kProbesClass, "blockEnd", "(Ljava/lang/Throwable;J)V");
    exception.dup().lload(token).invokestatic(kProbesClass, "blockEnd", "(Ljava/lang/Throwable;J)V");
  };
  auto count = wrap_calls(edit.code, edit.file, wrap);
  if (!count) return count.error();
  return *count > 0 ? edit.finish() : base::Status();
}

base::Status tell_notifications(Edit& edit) {
  CallWrap wrap;
  wrap.selects = [](const CallSite& site) {
    const bool is_virtual = site.opcode == classfile::kInvokevirtual || site.opcode == classfile::kInvokespecial;
    return is_virtual && (site.name == "notify" || site.name == "notifyAll") && site.descriptor == "()V";
  };
  wrap.with_exception = false;
  wrap.build = [](const CallSite& site, const CallOperands&, Sequence& before, Sequence&, Sequence&) {
    before.dup().invokestatic(kProbesClass, site.name == "notify" ? "notifying" : "notifyingAll",
                              "(Ljava/lang/Object;)V");
  };
  auto count = wrap_calls(edit.code, edit.file, wrap);
  return count ? base::Status() : base::Status(count.error());
}

Family park_family() {
  return {"park", kProbes, kFields};
}

}  // namespace contrafact::agent_jvm
