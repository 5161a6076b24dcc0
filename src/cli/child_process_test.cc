#include "cli/child_process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>

namespace contrafact::cli {
namespace {

ChildEnd run_shell(const std::string& script, const std::vector<std::string>& environment = {}) {
  StartFailure failure{};
  base::Result<ChildEnd> end = run_child("/bin/sh", {"sh", "-c", script}, environment, &failure);
  CHECK(end.ok());
  return *end;
}

TEST(ChildProcess, PassesTheStatusThrough) {
  EXPECT_EQ(run_shell("exit 0").exit_status, 0);
  EXPECT_EQ(run_shell("exit 77").exit_status, 77);
}

TEST(ChildProcess, ReportsASignalAsAShellDoes) {
  ChildEnd end = run_shell("kill -9 $$");
  EXPECT_EQ(end.exit_status, 128 + SIGKILL);
  EXPECT_EQ(end.signal, SIGKILL);
}

TEST(ChildProcess, ChangesTheEnvironmentOfTheChildOnly) {
  EXPECT_EQ(run_shell("test \"$CONTRAFACT_TEST\" = 'a b'", {"CONTRAFACT_TEST=a b"}).exit_status, 0);
  EXPECT_EQ(getenv("CONTRAFACT_TEST"), nullptr);
  setenv("CONTRAFACT_TEST", "old", 1);
  EXPECT_EQ(run_shell("test \"$CONTRAFACT_TEST\" = new", {"CONTRAFACT_TEST=new"}).exit_status, 0);
  unsetenv("CONTRAFACT_TEST");
}

TEST(ChildProcess, ForwardsASignalThatWasSentToUsAlone) {
  ChildEnd end = run_shell("trap 'exit 42' TERM; kill -TERM $PPID; while :; do sleep 0.05; done");
  EXPECT_EQ(end.exit_status, 42);
}

TEST(ChildProcess, TheChildGetsAnUnblockedSignalMask) {
  EXPECT_EQ(run_shell("kill -TERM $$").signal, SIGTERM);
}

// The child ends at the first; the second comes while we are about to write down what it did.
TEST(ChildProcess, ASignalThatComesAfterTheChildsEndIsHeldBack) {
  sigset_t before, after;
  sigprocmask(SIG_SETMASK, nullptr, &before);
  {
    HeldSignals held;
    StartFailure failure{};
    base::Result<ChildEnd> end = run_child("/bin/true", {"true"}, {}, &failure, &held);
    ASSERT_TRUE(end.ok());
    kill(getpid(), SIGTERM);
    kill(getpid(), SIGINT);
  }
  sigprocmask(SIG_SETMASK, nullptr, &after);
  for (const int number : {SIGTERM, SIGINT, SIGCHLD})
    EXPECT_EQ(sigismember(&after, number), sigismember(&before, number));
  sigset_t pending;
  sigpending(&pending);
  EXPECT_FALSE(sigismember(&pending, SIGTERM));
}

TEST(ChildProcess, SaysWhatCannotBeStarted) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer makes vfork a fork, whose child cannot say why it failed";
#endif
  StartFailure failure{};
  base::Result<ChildEnd> end = run_child("/nonexistent/program", {"program"}, {}, &failure);
  ASSERT_FALSE(end.ok());
  EXPECT_EQ(failure.error_number, ENOENT);
  EXPECT_EQ(end.error().message, "cannot start '/nonexistent/program': No such file or directory");
}

// Who records it may look only now.
TEST(ChildProcess, TheKernelKnowsTheEndedProgramAsLongAsSignalsAreHeld) {
  StartFailure failure{};
  int pid = 0;
  {
    HeldSignals held;
    base::Result<ChildEnd> end = run_child("/bin/sh", {"sh", "-c", "exit 3"}, {}, &failure, &held);
    ASSERT_TRUE(end.ok());
    EXPECT_EQ(end->exit_status, 3);
    pid = end->pid;
    EXPECT_EQ(kill(pid, 0), 0);
  }
  EXPECT_EQ(kill(pid, 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

}  // namespace
}  // namespace contrafact::cli
