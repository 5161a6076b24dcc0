// Threads: their start, their end by an exception, joins; virtual threads. A platform thread's first and last events
// come from JVMTI (agent.cc).
#include "agent_jvm/agent_state.h"
#include "agent_jvm/probes.h"

namespace contrafact::agent_jvm {
namespace {

constexpr std::string_view kThread = "java/lang/Thread";
constexpr std::string_view kVirtual = "java/lang/VirtualThread";
constexpr std::string_view kPerTask = "java/util/concurrent/ThreadPerTaskExecutor";
constexpr std::string_view kAsyncPerTask = "java/util/concurrent/CompletableFuture$ThreadPerTaskExecutor";

base::Status around_start(Edit& edit, const Edit::Selects& selects) {
  return edit.wrap(selects, [](const CallOperands& operands, Sequence& before, Sequence&, Sequence& exception) {
    before.aload(operands.receiver).invokestatic(kThreadsClass, "starting", "(Ljava/lang/Thread;)V");
    exception.aload(operands.receiver).invokestatic(kThreadsClass, "notStarted", "(Ljava/lang/Thread;)V");
  });
}

base::Status start(Edit& edit) {
  return around_start(edit, calls("start0"));
}

base::Status start_virtual(Edit& edit) {
  return around_start(edit, [](const CallSite& site) {
    return site.name == "externalSubmitRunContinuationOrThrow" || site.name == "submitRunContinuation" ||
           site.name == "externalSubmitRunContinuation";
  });
}

base::Status run_virtual(Edit& edit) {
  const uint32_t token = edit.token();
  constexpr std::string_view kEnd = "(Ljava/lang/Throwable;JLjava/lang/Object;)V";
  base::Status status = edit.wrap(calls("runWith"), [&](const CallOperands& operands, Sequence& before, Sequence& after,
                                                        Sequence& exception) {
    before.aload(operands.receiver).invokestatic(kThreadsClass, "virtualBegin", "(Ljava/lang/Thread;)J").lstore(token);
    after.aconst_null().lload(token).aload(operands.receiver).invokestatic(kThreadsClass, "virtualEnd", kEnd);
    exception.dup().lload(token).aload(operands.receiver).invokestatic(kThreadsClass, "virtualEnd", kEnd);
  });
  return status ? edit.finish() : status;
}

// Runs on the carrier, which the thread has left.
base::Status unmounted(Edit& edit) {
  return edit.at_entry(
      [](Sequence& s) { s.aload(0).invokestatic(kThreadsClass, "unmounted", "(Ljava/lang/Thread;)V"); });
}

base::Status uncaught(Edit& edit) {
  return edit.at_entry(
      [](Sequence& s) { s.aload(0).invokestatic(kThreadsClass, "uncaught", "(Ljava/lang/Thread;)V"); });
}

base::Status join(Edit& edit) {
  return edit.bracket({kProbesClass, "waitBegin", "(Ljava/lang/Object;)J", [](Sequence& s) { s.aload(0); }, "waitEnd",
                       Edit::Bracket::receiver});
}

// The pools that carry and wake virtual threads.
base::Status silence_pool(Edit& edit) {
  return edit.pass_result(kThreadsClass, "silence");
}

base::Status per_task_start(Edit& edit) {
  return edit.wrap(
      [](const CallSite& site) { return site.name == "start" && site.descriptor == "(Ljava/lang/Thread;)V"; },
      [](const CallOperands& operands, Sequence& before, Sequence&, Sequence&) {
        before.aload(operands.arguments[0]).invokestatic(kThreadsClass, "startingFor", "(Ljava/lang/Thread;)V");
      });
}

// A ThreadBoundFuture is the task that the program gave; it is spawned once its thread is known, before that starts.
base::Status per_task_submit(Edit& edit) {
  return edit.wrap(
      calls("java/util/concurrent/ThreadPerTaskExecutor$ThreadBoundFuture", "thread"),
      [](const CallOperands& operands, Sequence& before, Sequence&, Sequence&) {
        before.aload(operands.receiver).invokestatic(kThreadsClass, "submittedFor", "(Ljava/lang/Object;)V");
      });
}

base::Status async_per_task(Edit& edit) {
  return edit.at_entry(
      [](Sequence& s) { s.aload(1).invokestatic(kThreadsClass, "executingAsync", "(Ljava/lang/Runnable;)V"); });
}

// The buffer written is that of the thread which carries the current one.
base::Status current_carrier(Edit& edit) {
  return edit.wrap(calls("currentThread"), [](const CallOperands&, Sequence&, Sequence& after, Sequence&) {
    after.pop().invokestatic(kThread, "currentCarrierThread", "()Ljava/lang/Thread;");
  });
}

constexpr Probe kProbes[] = {
    {kThread, "start", "()V", start},
    {kThread, "start", "(Ljdk/internal/vm/ThreadContainer;)V", start, kJdkVirtualThreads},
    {kThread, "dispatchUncaughtException", "", uncaught},
    {kThread, "join", "(J)V", join},
    {kThread, "join", "(JI)V", join},
    {kThread, "join", "(Ljava/time/Duration;)Z", join, kJdkVirtualThreads},
    {kVirtual, "start", "(Ljdk/internal/vm/ThreadContainer;)V", start_virtual, kJdkVirtualThreads},
    {kVirtual, "run", "(Ljava/lang/Runnable;)V", run_virtual, kJdkVirtualThreads},
    {kVirtual, "afterYield", "()V", unmounted, kJdkVirtualThreads},
    {kVirtual, "createDefaultScheduler", "", silence_pool, kJdkVirtualThreads},
    {kVirtual, "createDelayedTask*", "", silence_pool, kJdkVirtualThreads, 24},
    {kPerTask, "start", "(Ljava/lang/Runnable;)Ljava/lang/Thread;", per_task_start, kJdkVirtualThreads},
    {kPerTask, "submit", "(Ljava/util/concurrent/Callable;)Ljava/util/concurrent/Future;", per_task_submit,
     kJdkVirtualThreads},
    {kAsyncPerTask, "execute", "", async_per_task, kAnyJdk, 24},
    {kEventsClass, "carrier", "", current_carrier, kJdkVirtualThreads},
};
constexpr AddedField kFields[] = {
    {kThread, "contrafactBuffer", "J"},
    {kThread, "contrafactThread", "I"},
    {kThread, "contrafactQuiet", "I"},
    {kThread, "contrafactStopped", "J"},
    {kThread, "contrafactStoppedAt", "I"},
    {kThread, "contrafactLastTime", "J"},
    {kThread, "contrafactUnmounted", "J"},
    {kThread, "contrafactNextId", "I"},
    {kThread, "contrafactLimitId", "I"},
    {kThread, "contrafactFlags", "I"},
    {kThread, "contrafactTask", "I"},
    {kThread, "contrafactHeld", "[I"},
    {kThread, "contrafactDepth", "I"},
    {kThread, "contrafactPool", "I"},
    {kThread, "contrafactSets", "J"},
    {kThread, "contrafactSetLog", "J"},
    {kThread, "contrafactObserver", "I"},
    {kThread, "contrafactBegan", "J"},
    {kThread, "contrafactRests", "J"},
    {kThread, "contrafactHolds", "I"},
    {kThread, "contrafactRead", "I"},
    {kThread, "contrafactDealing", "Ljava/lang/Object;"},
    {kThread, "contrafactBorrowed", "Ljava/lang/Object;"},
    {kThread, "contrafactSubmitting", "Ljava/lang/Object;"},
    {kThread, "contrafactSubmitter", "Ljava/lang/Object;"},
};

}  // namespace

Family thread_family() {
  return {"thread", kProbes, kFields};
}

}  // namespace contrafact::agent_jvm
