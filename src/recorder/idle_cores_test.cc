#include "recorder/idle_cores.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"

namespace contrafact::recorder {
namespace {

constexpr std::string_view kStat =
    "cpu  1000 0 0 555 66 0 0 0 0 0\ncpu0 10 1 2 300 40 0 7 0 0 0\ncpu1 10 1 2 200 20 0 7 0 0 0\ncpu12 1 1 1 50 5 0 0 "
    "0 0 "
    "0\nintr 1 2 3\n";

cpu_set_t cores(std::initializer_list<int> numbers) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int number : numbers) CPU_SET(number, &set);
  return set;
}

TEST(IdleCores, AddsUpWhatTheUsableCoresWaited) {
  EXPECT_EQ(idle_ticks_in(kStat, cores({0, 1, 12})), 615u);
  EXPECT_EQ(idle_ticks_in(kStat, cores({12})), 55u);
  EXPECT_EQ(idle_ticks_in(kStat, cores({1})), 220u);
}

// What other programs of low priority compute is theirs.
TEST(IdleCores, CountAsIdleForAsLongAsTheyWereKeptAwake) {
  cpu_set_t usable;
  ASSERT_EQ(sched_getaffinity(0, sizeof usable, &usable), 0);
  int own = 0, foreign = 0;
  while (!CPU_ISSET(own, &usable)) ++own;
  while (CPU_ISSET(foreign, &usable)) ++foreign;
  const auto report = AwakeReport::make();
  ASSERT_TRUE(report.ok());
  (*report)->set_computed(own, 1'000'000'000);
  IdleCores idle(0, Host::record, *report);
  (*report)->set_computed(own, 1'000'000'000'000);
  (*report)->set_computed(foreign, 500'000'000'000);
  const std::optional<uint32_t> us = idle.look(base::monotonic_ns(), true);
  ASSERT_TRUE(us.has_value());
  EXPECT_GE(*us, 999'000'000u);
  EXPECT_LT(*us, 1'100'000'000u);
  EXPECT_LT(idle.look(base::monotonic_ns(), true).value_or(0), 100'000'000u) << "each is counted once";
}

TEST(IdleCores, AreNotKnownWithoutALine) {
  EXPECT_EQ(idle_ticks_in(kStat, cores({3})), std::nullopt);
  EXPECT_EQ(idle_ticks_in("", cores({0})), std::nullopt);
  EXPECT_EQ(idle_ticks_in("cpuX 1 2\ncpu0 1 2\ncpu0", cores({0})), std::nullopt) << "cut off before the column";
}

TEST(IdleCores, AreLookedAtNowAndThen) {
  IdleCores idle(0, Host::record);
  const int64_t now_ns = base::monotonic_ns();
  EXPECT_EQ(idle.look(now_ns, false), std::nullopt) << "just begun";
  EXPECT_TRUE(idle.look(now_ns, true).has_value());
  EXPECT_TRUE(idle.look(now_ns + IdleCores::kEachNs, false).has_value());
  EXPECT_EQ(idle.look(now_ns + IdleCores::kEachNs + 1, false), std::nullopt);
}

TEST(IdleCores, AreThoseThatTheProcessMayUseInTheMeantime) {
  cpu_set_t all, first;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  if (CPU_COUNT(&all) < 2) GTEST_SKIP() << "this process may use one core only";
  CPU_ZERO(&first);
  for (size_t core = 0; CPU_COUNT(&first) == 0; ++core) {
    if (CPU_ISSET(core, &all)) CPU_SET(core, &first);
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof first, &first), 0);
  IdleCores idle(0, Host::record);
  EXPECT_EQ(idle.widen(0), std::nullopt);
  ASSERT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
  EXPECT_EQ(idle.widen(0), CPU_COUNT(&all));
  EXPECT_EQ(idle.count(), CPU_COUNT(&all));
  EXPECT_EQ(idle.widen(0), std::nullopt);
}

// In a program that has no descriptor left for it.
TEST(IdleCores, OpenNothingInARecordedProgramAfterTheBeginning) {
  IdleCores idle(0, Host::recorded_program), in_record(0, Host::record);
  rlimit before;
  getrlimit(RLIMIT_NOFILE, &before);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const int64_t now_ns = base::monotonic_ns();
  const bool is_seen = idle.look(now_ns, true).has_value(), is_seen_again = idle.look(now_ns + 1, true).has_value();
  const bool is_seen_in_record = in_record.look(now_ns, true).has_value();
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_TRUE(is_seen && is_seen_again);
  EXPECT_FALSE(is_seen_in_record) << "the test sees no opening";
}

// Each look reads the kernel's count anew, though the descriptor stays the same: no less than a reading within that
// time, no more than one around it.
TEST(IdleCores, AreReadAnewFromTheDescriptorThatStaysOpen) {
  IdleCores around(0, Host::record), kept(0, Host::recorded_program), within(0, Host::record);
  usleep(200'000);
  const int64_t now_ns = base::monotonic_ns();
  const uint32_t within_us = within.look(now_ns, true).value_or(0);
  const uint32_t kept_us = kept.look(now_ns, true).value_or(0);
  const uint32_t around_us = around.look(now_ns, true).value_or(0);
  if (within_us == 0) GTEST_SKIP() << "not measured: no core was idle";
  EXPECT_LE(within_us, kept_us);
  EXPECT_LE(kept_us, around_us);
}

}  // namespace
}  // namespace contrafact::recorder
