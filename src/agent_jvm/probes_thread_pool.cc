// ThreadPoolExecutor and ScheduledThreadPoolExecutor, and their rejection policies.
#include "agent_jvm/agent_state.h"
#include "agent_jvm/probes.h"

namespace contrafact::agent_jvm {
namespace {

constexpr std::string_view kPool = "java/util/concurrent/ThreadPoolExecutor";
constexpr std::string_view kScheduled = "java/util/concurrent/ScheduledThreadPoolExecutor";
constexpr std::string_view kCallerRuns = "java/util/concurrent/ThreadPoolExecutor$CallerRunsPolicy";
constexpr std::string_view kDiscardOldest = "java/util/concurrent/ThreadPoolExecutor$DiscardOldestPolicy";
// The constructor that all others call.
constexpr std::string_view kAllArguments =
    "(IIJLjava/util/concurrent/TimeUnit;Ljava/util/concurrent/BlockingQueue;Ljava/util/concurrent/ThreadFactory;Ljava/"
    "util/concurrent/RejectedExecutionHandler;)V";
constexpr std::string_view kPoolAndRunnable = "(Ljava/util/concurrent/ThreadPoolExecutor;Ljava/lang/Runnable;)J";

base::Status execute(Edit& edit) {
  return edit.bracket(
      {kProbesClass, "executing", kPoolAndRunnable, [](Sequence& s) { s.aload(0).aload(1); }, "executed"});
}

base::Status shut_down(Edit& edit) {
  return edit.bracket({kProbesClass, "closing", "(Ljava/util/concurrent/ThreadPoolExecutor;)J",
                       [](Sequence& s) { s.aload(0); }, "closed"});
}

base::Status reject(Edit& edit) {
  const uint32_t pool = edit.object(), command = edit.object();
  auto rejected = [&](Sequence& s) {
    s.aload(pool).aload(command).invokestatic(kProbesClass, "rejected",
                                              "(Ljava/lang/Throwable;Ljava/lang/Object;Ljava/lang/Object;)V");
  };
  return edit.finish([&](Sequence& s) { s.aload(0).astore(pool).aload(1).astore(command); },
                     [&](Sequence& s) {
                       s.aconst_null();
                       rejected(s);
                     },
                     [&](Sequence& s) {
                       s.dup();
                       rejected(s);
                     });
}

// The call of Runnable.run, in place: no frame of ours in the program's stack traces.
base::Status run_bare(Edit& edit) {
  const uint32_t token = edit.token();
  base::Status status = edit.wrap(calls("java/lang/Runnable", "run"), [&](const CallOperands& operands,
                                                                          Sequence& before, Sequence& after,
                                                                          Sequence& exception) {
    before.aload(operands.receiver).invokestatic(kProbesClass, "workerStart", "(Ljava/lang/Object;)J").lstore(token);
    after.aconst_null().lload(token).invokestatic(kProbesClass, "bareEnd", "(Ljava/lang/Throwable;J)V");
    exception.dup().lload(token).invokestatic(kProbesClass, "bareEnd", "(Ljava/lang/Throwable;J)V");
  });
  return status ? edit.finish() : status;
}

base::Status take(Edit& edit) {
  return wrap_takes(edit, [](Sequence& s) { s.aload(0); });
}

base::Status report_size(Edit& edit) {
  return edit.at_exit([](Sequence& s) {
    s.aload(0)
        .aload(0)
        .getfield(kPool, "ctl", "Ljava/util/concurrent/atomic/AtomicInteger;")
        .invokevirtual("java/util/concurrent/atomic/AtomicInteger", "get", "()I")
        .invokestatic(kProbesClass, "sized", "(Ljava/util/concurrent/ThreadPoolExecutor;I)V");
  });
}

base::Status remove(Edit& edit) {
  return edit.at_exit(
      [](Sequence& s) { s.dup().aload(1).invokestatic(kProbesClass, "removed", "(ZLjava/lang/Object;)V"); });
}

base::Status drain(Edit& edit) {
  return edit.at_exit([](Sequence& s) { s.dup().invokestatic(kProbesClass, "drained", "(Ljava/util/List;)V"); });
}

base::Status discard_oldest(Edit& edit) {
  base::Status status = edit.wrap(calls("poll"), [](const CallOperands&, Sequence&, Sequence& after, Sequence&) {
    after.dup().invokestatic(kProbesClass, "dropped", "(Ljava/lang/Object;)V");
  });
  if (!status) return status;
  return edit.wrap(calls("execute"), [](const CallOperands&, Sequence& before, Sequence&, Sequence&) {
    before.invokestatic(kProbesClass, "resubmitting", "()V");
  });
}

base::Status delay(Edit& edit) {
  return edit.bracket({kProbesClass, "delayed",
                       "(Ljava/util/concurrent/ThreadPoolExecutor;Ljava/util/concurrent/Delayed;)J",
                       [](Sequence& s) { s.aload(0).aload(1); }, "executed"});
}

constexpr Probe kProbes[] = {
    {kPool, "<init>", kAllArguments, note_maker},
    {kPool, "execute", "", execute},
    {kPool, "reject", "", reject},
    {kPool, "runWorker", "", run_bare},
    {kPool, "getTask", "", take},
    {kPool, "addWorker", "", report_size},
    {kPool, "processWorkerExit", "", report_size},
    {kPool, "shutdown", "", shut_down},
    {kPool, "shutdownNow", "", shut_down},
    {kPool, "remove", "(Ljava/lang/Runnable;)Z", remove},
    {kPool, "drainQueue", "", drain},
    {kCallerRuns, "rejectedExecution", "", run_bare},
    {kDiscardOldest, "rejectedExecution", "", discard_oldest},
    {kScheduled, "delayedExecute", "", delay},
    {kScheduled, "reExecutePeriodic", "", delay},
};
constexpr AddedField kFields[] = {{kPool, "contrafactPool", "I"}, {kPool, "contrafactMade", "I"}};

}  // namespace

base::Status note_maker(Edit& edit) {
  return edit.at_exit([](Sequence& s) { s.aload(0).invokestatic(kProbesClass, "made", "(Ljava/lang/Object;)V"); });
}

base::Status wrap_takes(Edit& edit, const Edit::Emit& pool) {
  const uint32_t token = edit.token();
  auto took = [&](Sequence& s, uint32_t queue) {
    s.lload(token).aload(queue).invokestatic(kProbesClass, "took", "(JLjava/lang/Object;)V");
  };
  base::Status status = edit.wrap(
      [](const CallSite& site) {
        return site.owner == "java/util/concurrent/BlockingQueue" && (site.name == "take" || site.name == "poll");
      },
      [&](const CallOperands& operands, Sequence& before, Sequence& after, Sequence& exception) {
        pool(before);
        before.aload(operands.receiver)
            .invokestatic(kProbesClass, "taking", "(Ljava/lang/Object;Ljava/lang/Object;)J")
            .lstore(token);
        took(after, operands.receiver);
        took(exception, operands.receiver);
      });
  return status ? edit.finish() : status;
}

Family thread_pool_family() {
  return {"thread_pool", kProbes, kFields};
}

}  // namespace contrafact::agent_jvm
