// Frameworks with queues, worker loops and futures of their own, one row for each method. Hand-overs by `void
// execute(Runnable)` and calls of Runnable.run need no row (hand_overs.h): rows are for all others.
#include "agent_jvm/agent_state.h"
#include "agent_jvm/hand_overs.h"
#include "agent_jvm/probes.h"

namespace contrafact::agent_jvm {
namespace {

constexpr std::string_view kTakesRunnable = "(Ljava/lang/Runnable;)V";
constexpr std::string_view kTomcatPool = "org/apache/tomcat/util/threads/ThreadPoolExecutor";
constexpr std::string_view kNettyLoop = "io/netty/util/concurrent/SingleThreadEventExecutor";
constexpr std::string_view kNettyScheduling = "io/netty/util/concurrent/AbstractScheduledEventExecutor";
constexpr std::string_view kNettyScheduled = "io/netty/util/concurrent/ScheduledFutureTask";
constexpr std::string_view kNettyPromise = "io/netty/util/concurrent/DefaultPromise";
constexpr std::string_view kJettyPool = "org/eclipse/jetty/util/thread/QueuedThreadPool";
constexpr std::string_view kJettyRunner = "org/eclipse/jetty/util/thread/QueuedThreadPool$Runner";
constexpr std::string_view kJettyStrategy = "org/eclipse/jetty/util/thread/strategy/AdaptiveExecutionStrategy";
constexpr std::string_view kJbossPool = "org/jboss/threads/EnhancedQueueExecutor";
constexpr std::string_view kGuavaFuture = "com/google/common/util/concurrent/AbstractFuture";
constexpr std::string_view kGuavaSequential = "com/google/common/util/concurrent/SequentialExecutor";
constexpr std::string_view kReactorElastic = "reactor/core/scheduler/BoundedElasticScheduler";
constexpr std::string_view kReactorExecutor =
    "reactor/core/scheduler/BoundedElasticScheduler$BoundedScheduledExecutorService";
constexpr std::string_view kKotlinScheduler = "kotlinx/coroutines/scheduling/CoroutineScheduler";
constexpr std::string_view kKotlinLimited = "kotlinx/coroutines/internal/LimitedDispatcher";
constexpr std::string_view kKotlinLoop = "kotlinx/coroutines/EventLoopImplBase";
constexpr std::string_view kKotlinTask = "kotlinx/coroutines/DispatchedTask";
constexpr std::string_view kKotlinBlocking = "kotlinx/coroutines/BlockingCoroutine";

// Parameter kIndex is handed over.
template <int kIndex, int kHow = 0>
base::Status submit(Edit& edit) {
  return hand_over(edit, kIndex, kByRow | kHow);
}

// The method is the task's body.
base::Status run(Edit& edit) {
  return edit.bracket({kProbesClass, "bareStart", "(Ljava/lang/Object;)J", [](Sequence& s) { s.aload(0); }, "bareEnd"});
}

// A scheduler makes an executor of one thread when all that it has are busy: each of them says how many there may be.
base::Status tell_limit(Edit& edit) {
  return edit.at_exit([](Sequence& s) {
    s.dup().aload(0).getfield(kReactorElastic, "maxThreads", "I").putfield(kReactorExecutor, "contrafactAlike", "I");
  });
}

// Its run() also does other things, such as to put it back into its queue until its time has come.
base::Status run_within(Edit& edit) {
  const uint32_t token = edit.token();
  base::Status status =
      edit.wrap(calls("runTask"), [&](const CallOperands&, Sequence& before, Sequence& after, Sequence& exception) {
        before.aload(0).invokestatic(kExecutorsClass, "selfStart", "(Ljava/lang/Object;)J").lstore(token);
        after.aconst_null().lload(token).invokestatic(kProbesClass, "bareEnd", "(Ljava/lang/Throwable;J)V");
        exception.dup().lload(token).invokestatic(kProbesClass, "bareEnd", "(Ljava/lang/Throwable;J)V");
      });
  if (!status) return status;
  // By the queue's method, or in newer releases of Netty by the executor's, which also takes tasks that have not run
  // yet.
  const auto puts_back = [](const CallSite& site) {
    return site.name == "add" || site.name == "scheduleFromEventLoop";
  };
  status = edit.wrap(puts_back, [&](const CallOperands&, Sequence& before, Sequence&, Sequence&) {
    before.aload(0)
        .invokevirtual(kNettyScheduled, "executor", "()Lio/netty/util/concurrent/EventExecutor;")
        .aload(0)
        .invokestatic(kExecutorsClass, "again", "(Ljava/lang/Object;Ljava/lang/Object;)V");
  });
  return status ? edit.finish() : status;
}

// A Runnable that was handed over begins here; any other is run in place.
base::Status run_here(Edit& edit) {
  return wrap_runs(edit, kExecutorsClass, "placeStart");
}

base::Status wait(Edit& edit) {
  return edit.bracket({kProbesClass, "waitBegin", "(Ljava/lang/Object;)J", [](Sequence& s) { s.aload(0); }, "waitEnd",
                       Edit::Bracket::receiver});
}

// For something that is no task.
base::Status wait_for_more(Edit& edit) {
  const uint32_t token = edit.token();
  auto end = [&](Sequence& s) {
    s.lload(token).aconst_null().invokestatic(kProbesClass, "waitEnd", "(Ljava/lang/Throwable;JLjava/lang/Object;)V");
  };
  return edit.finish(
      [&](Sequence& s) {
        s.aconst_null().invokestatic(kProbesClass, "waitBegin", "(Ljava/lang/Object;)J").lstore(token);
      },
      [&](Sequence& s) {
        s.aconst_null();
        end(s);
      },
      [&](Sequence& s) {
        s.dup();
        end(s);
      });
}

template <format::Outcome kOutcome>
base::Status complete(Edit& edit) {
  return edit.at_entry([](Sequence& s) {
    s.aload(0).iconst(static_cast<int>(kOutcome)).invokestatic(kExecutorsClass, "completing", "(Ljava/lang/Object;I)V");
  });
}

base::Status cancel_unless_begun(Edit& edit) {
  return edit.at_entry(
      [](Sequence& s) { s.aload(0).invokestatic(kExecutorsClass, "cancelling", "(Ljava/lang/Object;)V"); });
}

// A worker that is an inner class of its pool.
base::Status take_for_outer(Edit& edit) {
  return wrap_takes(edit, [](Sequence& s) {
    s.aload(0).getfield(kJettyRunner, "this$0", "Lorg/eclipse/jetty/util/thread/QueuedThreadPool;");
  });
}

base::Status take(Edit& edit) {
  return wrap_takes(edit, [](Sequence& s) { s.aload(0); });
}

constexpr Probe kProbes[] = {
    {kTomcatPool, "execute", kTakesRunnable, submit<0>},
    {kTomcatPool, "getTask", "", take},

    {kNettyLoop, "execute", kTakesRunnable, submit<0>},
    {kNettyLoop, "lazyExecute", kTakesRunnable, submit<0>},
    {kNettyScheduling, "schedule",
     "(Lio/netty/util/concurrent/ScheduledFutureTask;)Lio/netty/util/concurrent/ScheduledFuture;",
     submit<0, kBeginsByItself>},
    {kNettyScheduled, "run", "", run_within},
    {kReactorElastic, "createBoundedExecutorService", "", tell_limit},
    {kNettyPromise, "await*", "", wait},
    {kNettyPromise, "setSuccess0", "", complete<format::Outcome::normal>},
    {kNettyPromise, "setFailure0", "", complete<format::Outcome::exception>},
    {kNettyPromise, "cancel", "", cancel_unless_begun},

    {kJettyPool, "execute", kTakesRunnable, submit<0>},
    {kJettyStrategy, "runTask", kTakesRunnable, run_here},
    {kJettyRunner, "idleJobPoll", "", take_for_outer},

    {kJbossPool, "execute", kTakesRunnable, submit<0>},

    {kGuavaFuture, "get", "", wait},
    {kGuavaFuture, "set", "", complete<format::Outcome::normal>},
    {kGuavaFuture, "setException", "", complete<format::Outcome::exception>},
    {kGuavaFuture, "cancel", "", complete<format::Outcome::cancelled>},
    {kGuavaSequential, "execute", kTakesRunnable, submit<0>},

    {kKotlinScheduler, "dispatch", "", submit<0>},
    {kKotlinLimited, "dispatch", "", submit<1>},
    {kKotlinLimited, "dispatchYield", "", submit<1>},
    {kKotlinLoop, "enqueue", kTakesRunnable, submit<0>},
    {kKotlinTask, "run", "", run},
    {kKotlinBlocking, "joinBlocking", "", wait_for_more},
};
constexpr AddedField kFields[] = {
    {kReactorExecutor, "contrafactAlike", "I", kAnyJdk, true},
    {kTomcatPool, "contrafactPool", "I"},
    {kNettyLoop, "contrafactPool", "I"},
    {kNettyScheduling, "contrafactPool", "I"},
    {kNettyPromise, "contrafactTask", "I"},
    {kJettyPool, "contrafactPool", "I"},
    {kJbossPool, "contrafactPool", "I"},
    {kGuavaFuture, "contrafactTask", "I"},
    {kGuavaSequential, "contrafactPool", "I"},
    {kKotlinScheduler, "contrafactPool", "I"},
    {kKotlinLimited, "contrafactPool", "I"},
    {kKotlinLoop, "contrafactPool", "I"},
};

constexpr UnseenScheduler kUnseen[] = {
    {"com/lmax/disruptor/RingBuffer", "LMAX Disruptor"},
    {"org/agrona/concurrent/AgentRunner", "Agrona"},
    {"org/quartz/simpl/SimpleThreadPool", "Quartz's SimpleThreadPool"},
    {"co/paralleluniverse/fibers/Fiber", "Quasar"},
};

}  // namespace

Family frameworks_family() {
  return {"frameworks", kProbes, kFields};
}

std::span<const UnseenScheduler> unseen_schedulers() {
  return kUnseen;
}

}  // namespace contrafact::agent_jvm
