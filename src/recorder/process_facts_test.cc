#include "recorder/process_facts.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

namespace contrafact::recorder {
namespace {

// The fact `command` of a process that was started by `started` and has ended under `name`, which the kernel cuts.
std::string command_of_ended(const char* name, const std::string& started, bool with_arguments = true) {
  const pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_NAME, name);
    _exit(0);
  }
  siginfo_t ended{};
  waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOWAIT);
  std::string command;
  for (const Fact& fact : process_facts(pid, 0, started, with_arguments)) {
    if (fact.key == "command") command = fact.value;
  }
  waitpid(pid, nullptr, 0);
  return command;
}

// A recorder that gets no core may look at a short program only after its end.
TEST(ProcessFacts, NameTheProgramThatTheStartedOneBecame) {
  EXPECT_EQ(command_of_ended("counts_of_pages_and_more", "chrt -r 1 bin/counts_of_pages_and_more 7 x"),
            "bin/counts_of_pages_and_more 7 x");
  EXPECT_EQ(command_of_ended("counts", "chrt -r 1 bin/counts 7", false), "counts");
  EXPECT_EQ(command_of_ended("chrt", "chrt -r 1 bin/counts"), "chrt -r 1 bin/counts");
  EXPECT_EQ(command_of_ended("renamed", "bin/counts 7"), "bin/counts 7");
}

}  // namespace
}  // namespace contrafact::recorder
