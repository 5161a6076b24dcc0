#include "recorder/awake_cores.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>

namespace contrafact::recorder {
namespace {

std::set<pid_t> threads() {
  std::set<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task"))
    found.insert(std::stoi(entry.path().filename().string()));
  return found;
}

TEST(AwakeCores, HasAThreadOfTheLowestPriorityForEachCore) {
  const std::set<pid_t> before = threads();
  cpu_set_t usable;
  ASSERT_EQ(sched_getaffinity(0, sizeof usable, &usable), 0);
  const AwakeCores awake;
  ASSERT_TRUE(awake.began());
  int count = 0;
  cpu_set_t watched;
  CPU_ZERO(&watched);
  for (const pid_t thread : threads()) {
    if (before.contains(thread)) continue;
    ++count;
    EXPECT_EQ(sched_getscheduler(thread), SCHED_IDLE);
    EXPECT_EQ(getpriority(PRIO_PROCESS, static_cast<id_t>(thread)), 19);
    cpu_set_t own;
    ASSERT_EQ(sched_getaffinity(thread, sizeof own, &own), 0);
    EXPECT_EQ(CPU_COUNT(&own), 1);
    CPU_OR(&watched, &watched, &own);
  }
  EXPECT_EQ(count, CPU_COUNT(&usable));
  EXPECT_TRUE(CPU_EQUAL(&watched, &usable));
}

TEST(AwakeCores, EndsWithItsThreads) {
  const std::set<pid_t> before = threads();
  {
    const AwakeCores awake;
  }
  EXPECT_EQ(threads(), before);
}

}  // namespace
}  // namespace contrafact::recorder
