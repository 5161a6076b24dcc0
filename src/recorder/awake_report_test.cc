#include "recorder/awake_report.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

namespace contrafact::recorder {
namespace {

TEST(AwakeReport, IsSeenByAnotherProcess) {
  auto made = AwakeReport::make();
  ASSERT_TRUE(made.ok()) << made.error().message;
  AwakeReport& report = **made;
  EXPECT_EQ(report.until_ns(), 0);
  const std::string path = report.path();
  report.set_computed(3, 1'000);
  report.set_computed(CPU_SETSIZE - 1, 500);
  report.set_until(77);
  const pid_t child = fork();
  if (child == 0) {
    const auto seen = AwakeReport::open(path);
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(3, &cores);
    const bool some = seen && seen->until_ns() == 77 && seen->computed_ns(cores) == 1'000;
    CPU_SET(CPU_SETSIZE - 1, &cores);
    _exit(some && seen->computed_ns(cores) == 1'500 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(AwakeReport, IsNoneWhereThereIsNoSuchMemory) {
  EXPECT_EQ(AwakeReport::open("/proc/self/fd/999999"), nullptr);
  EXPECT_EQ(AwakeReport::open("/proc/self/cmdline"), nullptr);
}

}  // namespace
}  // namespace contrafact::recorder
