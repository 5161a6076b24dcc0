#include "recorder/awake_cores.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"

namespace contrafact::recorder {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

std::set<pid_t> threads() {
  std::set<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task"))
    found.insert(std::stoi(entry.path().filename().string()));
  return found;
}

template <typename Condition>
bool comes_true(Condition condition) {
  const int64_t end_ns = base::monotonic_ns() + 20 * kSecondNs;
  while (!condition() && base::monotonic_ns() < end_ns) usleep(10'000);
  return condition();
}

class AwakeCoresTest : public testing::Test {
 protected:
  // They end by themselves.
  void TearDown() override {
    EXPECT_TRUE(comes_true([&] { return threads() == before_; }));
  }
  static std::unique_ptr<AwakeCores> start(const std::string& proc = "/proc") {
    auto awake = AwakeCores::start(proc);
    EXPECT_TRUE(awake.ok()) << awake.error().message;
    return *std::move(awake);
  }
  const std::set<pid_t> before_ = threads();
};

TEST_F(AwakeCoresTest, HasAThreadOfTheLowestPriorityForEachCore) {
  cpu_set_t usable;
  ASSERT_EQ(sched_getaffinity(0, sizeof usable, &usable), 0);
  const auto awake = start();
  int count = 0;
  cpu_set_t watched;
  CPU_ZERO(&watched);
  for (const pid_t thread : threads()) {
    if (before_.contains(thread)) continue;
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

TEST_F(AwakeCoresTest, ReportsWhatItComputedAndWhenItEnded) {
  cpu_set_t usable;
  ASSERT_EQ(sched_getaffinity(0, sizeof usable, &usable), 0);
  auto awake = start();
  const std::shared_ptr<const AwakeReport> report = awake->report();
  EXPECT_TRUE(comes_true([&] { return report->computed_ns(usable) > 0; }));
  EXPECT_EQ(report->until_ns(), 0);
  EXPECT_FALSE(awake->stopped());
  const int64_t begin_ns = base::monotonic_ns();
  awake.reset();
  EXPECT_GE(report->until_ns(), begin_ns);
  EXPECT_LE(report->until_ns(), base::monotonic_ns());
}

// Whoever computes all the time leaves a thread of the lowest priority its core now and then, about once in a second.
TEST_F(AwakeCoresTest, BeginsAndEndsAtOnceThoughAllCoresAreInUse) {
  std::atomic<bool> over = false;
  std::vector<std::thread> spinners;
  for (unsigned i = 0; i < 2 * std::thread::hardware_concurrency(); ++i)
    spinners.emplace_back([&] {
      while (!over) {
      }
    });
  int64_t best_ns = INT64_MAX;
  for (int tries = 0; tries < 5; ++tries) {
    const int64_t begin_ns = base::monotonic_ns();
    start().reset();
    best_ns = std::min(best_ns, base::monotonic_ns() - begin_ns);
  }
  over = true;
  for (std::thread& spinner : spinners) spinner.join();
  EXPECT_LT(best_ns, kSecondNs / 10);
}

// The kernel's folder says that what this process has started is in a session of its own. How long before was that so?
TEST_F(AwakeCoresTest, StopsWhereAProcessIsInAGroupOfItsOwn) {
  const std::filesystem::path proc = testing::TempDir() + "/awake_cores." + std::to_string(getpid());
  const auto write = [&](const std::string& path, std::string_view text) {
    std::filesystem::create_directories((proc / path).parent_path());
    std::ofstream(proc / path) << text;
  };
  write("sys/kernel/sched_autogroup_enabled", "1\n");
  write("self/stat", "7 (record) S 1 7 1 0\n");
  write("self/task/7/children", "20 ");
  write("20/stat", "20 (server) S 7 20 20 0\n");
  const int64_t begin_ns = base::monotonic_ns();
  const auto awake = start(proc);
  const int64_t started_ns = base::monotonic_ns();
  EXPECT_TRUE(comes_true([&] { return awake->stopped(); }));
  std::filesystem::remove_all(proc);
  EXPECT_TRUE(comes_true([&] { return awake->report()->until_ns() != 0; }));
  EXPECT_GE(awake->report()->until_ns(), begin_ns);
  EXPECT_LE(awake->report()->until_ns(), started_ns) << "they may never have been kept awake";
}

// No descriptor is left for the memory.
TEST_F(AwakeCoresTest, SaysWhyNoCoreIsKeptAwake) {
  rlimit before;
  getrlimit(RLIMIT_NOFILE, &before);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto awake = AwakeCores::start();
  setrlimit(RLIMIT_NOFILE, &before);
  ASSERT_FALSE(awake.ok());
  EXPECT_TRUE(awake.error().message.starts_with("cannot make memory to share: ")) << awake.error().message;
}

}  // namespace
}  // namespace contrafact::recorder
