#include "whatif/sim_slices.h"

#include <gtest/gtest.h>

namespace contrafact::whatif {
namespace {

constexpr int64_t kSliceNs = 3'000'000;
constexpr int64_t kHourNs = 3'600'000'000'000;

struct Contest {
  uint64_t steps = 0;
  int64_t first_end_ns = 0;
  int64_t last_end_ns = 0;
};

// Twice as many threads as cores, each for `each_ns` of a core.
Contest compete(int64_t each_ns, uint32_t cores = 1) {
  SimSlices slices(cores, kSliceNs);
  for (uint32_t id = 0; id < 2 * cores; ++id) slices.use(0, each_ns, id);
  Contest contest;
  for (uint32_t ended = 0; ended < 2 * cores;) {
    slices.settle(contest.last_end_ns);
    const int64_t now_ns = slices.next_ns();
    ++contest.steps;
    if (slices.step(now_ns) != SimSlices::kNone && ended++ == 0) contest.first_end_ns = now_ns;
    contest.last_end_ns = now_ns;
  }
  return contest;
}

TEST(SimSlices, TurnsKeepTheLengthOfASliceForTwentyMinutes) {
  const Contest contest = compete(kHourNs / 6);
  EXPECT_EQ(contest.last_end_ns, 2 * kHourNs / 6);
  EXPECT_EQ(contest.last_end_ns - contest.first_end_ns, kSliceNs);
  EXPECT_EQ(contest.steps, static_cast<uint64_t>(2 * kHourNs / 6 / kSliceNs));
}

TEST(SimSlices, ManyCoresDoNotMakeTurnsLonger) {
  const Contest contest = compete(kHourNs / 30, 64);
  EXPECT_EQ(contest.last_end_ns, kHourNs / 15);
  EXPECT_EQ(contest.last_end_ns - contest.first_end_ns, kSliceNs);
}

TEST(SimSlices, MonthsThatADamagedTraceClaimsTakeFewSteps) {
  const Contest contest = compete(24 * 365 * kHourNs);
  EXPECT_EQ(contest.last_end_ns, 2 * 24 * 365 * kHourNs);
  EXPECT_LT(contest.steps, 8u * SimSlices::kSlicesBeforeGrowth);
}

}  // namespace
}  // namespace contrafact::whatif
