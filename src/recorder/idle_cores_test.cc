#include "recorder/idle_cores.h"

#include <gtest/gtest.h>

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

TEST(IdleCores, AreNotKnownWithoutALine) {
  EXPECT_EQ(idle_ticks_in(kStat, cores({3})), std::nullopt);
  EXPECT_EQ(idle_ticks_in("", cores({0})), std::nullopt);
  EXPECT_EQ(idle_ticks_in("cpuX 1 2\ncpu0 1 2\ncpu0", cores({0})), std::nullopt) << "cut off before the column";
}

TEST(IdleCores, AreLookedAtNowAndThen) {
  IdleCores idle(0);
  const int64_t now_ns = base::monotonic_ns();
  EXPECT_EQ(idle.look(now_ns, false), std::nullopt) << "just begun";
  EXPECT_TRUE(idle.look(now_ns, true).has_value());
  EXPECT_TRUE(idle.look(now_ns + IdleCores::kEachNs, false).has_value());
  EXPECT_EQ(idle.look(now_ns + IdleCores::kEachNs + 1, false), std::nullopt);
}

}  // namespace
}  // namespace contrafact::recorder
