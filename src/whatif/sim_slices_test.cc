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

// Two threads that compete for one core, each for `each_ns` of it.
Contest compete(int64_t each_ns) {
  SimSlices slices(1, kSliceNs);
  slices.use(0, each_ns, 0);
  slices.use(0, each_ns, 1);
  Contest contest;
  for (int ended = 0; ended < 2;) {
    slices.settle(contest.last_end_ns);
    const int64_t now_ns = slices.next_ns();
    ++contest.steps;
    if (slices.step(now_ns) != SimSlices::kNone && ended++ == 0) contest.first_end_ns = now_ns;
    contest.last_end_ns = now_ns;
  }
  return contest;
}

TEST(SimSlices, TurnsKeepTheLengthOfASliceForHours) {
  const Contest contest = compete(kHourNs);
  EXPECT_EQ(contest.last_end_ns, 2 * kHourNs);
  EXPECT_EQ(contest.last_end_ns - contest.first_end_ns, kSliceNs);
  EXPECT_EQ(contest.steps, static_cast<uint64_t>(2 * kHourNs / kSliceNs));
}

TEST(SimSlices, MonthsThatADamagedTraceClaimsTakeFewSteps) {
  const Contest contest = compete(24 * 365 * kHourNs);
  EXPECT_EQ(contest.last_end_ns, 2 * 24 * 365 * kHourNs);
  EXPECT_LT(contest.steps, 8u * SimSlices::kSlicesBeforeGrowth);
}

}  // namespace
}  // namespace contrafact::whatif
