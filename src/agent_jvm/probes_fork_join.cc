// ForkJoinTask and ForkJoinPool; parallel streams come with them.
#include "agent_jvm/agent_state.h"
#include "agent_jvm/probes.h"

namespace contrafact::agent_jvm {
namespace {

constexpr std::string_view kTask = "java/util/concurrent/ForkJoinTask";
constexpr std::string_view kPool = "java/util/concurrent/ForkJoinPool";

base::Status fork(Edit& edit) {
  return edit.at_entry(
      [](Sequence& s) { s.aload(0).invokestatic(kStagesClass, "forked", "(Ljava/util/concurrent/ForkJoinTask;)V"); });
}

// The task is the last parameter.
base::Status submit(Edit& edit) {
  const uint32_t task = edit.last_parameter_slot();
  return edit.at_entry([&](Sequence& s) {
    s.aload(0).aload(task).invokestatic(kStagesClass, "submitted",
                                        "(Ljava/util/concurrent/ForkJoinPool;Ljava/util/concurrent/ForkJoinTask;)V");
  });
}

base::Status schedule(Edit& edit) {
  return edit.at_entry([](Sequence& s) {
    s.aload(0).aload(1).invokestatic(kStagesClass, "scheduled",
                                     "(Ljava/util/concurrent/ForkJoinPool;Ljava/util/concurrent/ForkJoinTask;)V");
  });
}

// From the call of exec() to the end of doExec, so that completing lies inside.
base::Status execute(Edit& edit) {
  const uint32_t token = edit.token(), subject = edit.object();
  base::Status status = edit.wrap(calls("exec"), [&](const CallOperands&, Sequence& before, Sequence&, Sequence&) {
    before.aload(0).invokestatic(kStagesClass, "execStart", "(Ljava/util/concurrent/ForkJoinTask;)J").lstore(token);
  });
  if (!status) return status;
  auto end = [&](Sequence& s) {
    s.aconst_null().lload(token).aload(subject).invokestatic(kStagesClass, "execEnd",
                                                             "(Ljava/lang/Throwable;JLjava/lang/Object;)V");
  };
  return edit.finish([&](Sequence& s) { s.aload(0).astore(subject); }, end, end);
}

template <int kOutcome>
base::Status done(Edit& edit) {
  return edit.at_entry([](Sequence& s) {
    s.aload(0).iconst(kOutcome).invokestatic(kStagesClass, "forkJoinDone", "(Ljava/util/concurrent/ForkJoinTask;I)V");
  });
}

base::Status wait(Edit& edit) {
  return edit.bracket({kStagesClass, "joinBegin", "(Ljava/lang/Object;)J", [](Sequence& s) { s.aload(0); }, "joinEnd",
                       Edit::Bracket::receiver});
}

// invoke and invokeAll wait without join.
base::Status await(Edit& edit) {
  const uint32_t token = edit.token();
  base::Status status = edit.wrap(
      calls("awaitDone"), [&](const CallOperands& operands, Sequence& before, Sequence& after, Sequence& exception) {
        constexpr std::string_view kEnd = "(Ljava/lang/Throwable;JLjava/lang/Object;)V";
        before.aload(operands.receiver).invokestatic(kStagesClass, "joinBegin", "(Ljava/lang/Object;)J").lstore(token);
        after.aconst_null().lload(token).aload(operands.receiver).invokestatic(kStagesClass, "joinEnd", kEnd);
        exception.dup().lload(token).aload(operands.receiver).invokestatic(kStagesClass, "joinEnd", kEnd);
      });
  return status ? edit.finish() : status;
}

base::Status idle(Edit& edit) {
  return edit.bracket({kStagesClass, "forkJoinIdle", "(Ljava/util/concurrent/ForkJoinPool;)J",
                       [](Sequence& s) { s.aload(0); }, "forkJoinBusy"});
}

base::Status report_size(Edit& edit) {
  return edit.at_exit([](Sequence& s) {
    s.aload(0).invokestatic(kStagesClass, "forkJoinSized", "(Ljava/util/concurrent/ForkJoinPool;)V");
  });
}

constexpr int kNormal = static_cast<int>(format::Outcome::normal);
constexpr int kException = static_cast<int>(format::Outcome::exception);
constexpr int kCancelled = static_cast<int>(format::Outcome::cancelled);
constexpr int kJdkPoolSubmit = 19;

constexpr Probe kProbes[] = {
    {kTask, "fork", "", fork},
    {kTask, "doExec", "", execute},
    {kTask, "setDone", "", done<kNormal>},
    {kTask, "trySetThrown", "", done<kException>},
    {kTask, "trySetCancelled", "", done<kCancelled>},
    {kTask, "join", "", wait},
    {kTask, "get", "", wait},
    {kTask, "quietlyJoin", "", wait},
    {kTask, "joinForPoolInvoke", "", wait, kAnyJdk, kJdkPoolSubmit - 1},
    {kTask, "getForPoolInvoke", "", wait, kAnyJdk, kJdkPoolSubmit - 1},
    {kTask, "awaitPoolInvoke", "", wait, kAnyJdk, kJdkPoolSubmit - 1},
    {kTask, "quietlyJoinPoolInvokeAllTask", "", wait, kJdkPoolSubmit},
    {kTask, "invoke", "", await, kAnyJdk, kJdkPoolSubmit - 1},
    {kTask, "invokeAll", "", await},
    {kPool, "externalSubmit", "(Ljava/util/concurrent/ForkJoinTask;)Ljava/util/concurrent/ForkJoinTask;", submit},
    {kPool, "poolSubmit", "(ZLjava/util/concurrent/ForkJoinTask;)Ljava/util/concurrent/ForkJoinTask;", submit,
     kJdkPoolSubmit},
    {kPool, "scheduleDelayedTask", "", schedule, 25},
    {kPool, "awaitWork", "", idle},
    {kPool, "registerWorker", "", report_size},
    {kPool, "deregisterWorker", "", report_size},
};
constexpr AddedField kFields[] = {{kTask, "contrafactTask", "I"}, {kPool, "contrafactPool", "I"}};

}  // namespace

Family fork_join_family() {
  return {"fork_join", kProbes, kFields};
}

}  // namespace contrafact::agent_jvm
