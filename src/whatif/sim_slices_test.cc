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

// Which thread's stretch is over next, and when. Slices that end are passed over.
struct Over {
  uint32_t id;
  int64_t ns;
  bool operator==(const Over&) const = default;
};
Over next_over(SimSlices& slices, int64_t now_ns) {
  slices.settle(now_ns);
  for (;;) {
    now_ns = slices.next_ns();
    const uint32_t id = slices.step(now_ns);
    if (id != SimSlices::kNone) return {id, now_ns};
  }
}

// Threads 0 and 2 share a core, thread 1 has the other one to itself.
SimSlices three_on_two(int64_t first_ns, int64_t second_ns) {
  SimSlices slices(2, kSliceNs);
  slices.use(0, first_ns, 0);
  slices.use(0, second_ns, 1);
  slices.use(0, kSliceNs, 2);
  return slices;
}

TEST(SimSlices, AnIdleCoreLeavesAThreadInItsQueueForAWhile) {
  SimSlices slices = three_on_two(400'000, 100'000);
  EXPECT_EQ(next_over(slices, 0), (Over{1, 100'000}));
  EXPECT_EQ(next_over(slices, 100'000), (Over{0, 400'000}));
  EXPECT_EQ(next_over(slices, 400'000), (Over{2, 400'000 + kSliceNs}));
}

// Thread 2 gets its core before the idle one may take it; then nobody waits, and nothing is to be decided.
TEST(SimSlices, AnIdleCoreLooksForNothingWhereNobodyWaits) {
  SimSlices slices = three_on_two(400'000, 100'000);
  EXPECT_EQ(next_over(slices, 0), (Over{1, 100'000}));
  EXPECT_EQ(next_over(slices, 100'000), (Over{0, 400'000}));
  slices.settle(400'000);
  EXPECT_EQ(slices.next_ns(), 400'000 + kSliceNs);
}

TEST(SimSlices, AnIdleCoreTakesAThreadThatWaitsLong) {
  SimSlices slices = three_on_two(2'000'000, 100'000);
  EXPECT_EQ(next_over(slices, 0), (Over{1, 100'000}));
  EXPECT_EQ(next_over(slices, 100'000), (Over{0, 2'000'000}));
  EXPECT_EQ(next_over(slices, 2'000'000), (Over{2, SimSlices::kStaysNs + kSliceNs}));
}

TEST(SimSlices, AThreadComesBackToItsCore) {
  SimSlices slices = three_on_two(kSliceNs, 4 * kSliceNs);
  EXPECT_EQ(next_over(slices, 0), (Over{0, kSliceNs}));
  // Thread 2 has had nothing yet. Thread 0 comes back at once, and waits for its core, not for the other one.
  slices.settle(kSliceNs);
  slices.use(kSliceNs + 1, kSliceNs, 0);
  EXPECT_EQ(next_over(slices, kSliceNs + 1), (Over{2, 2 * kSliceNs}));
  EXPECT_EQ(next_over(slices, 2 * kSliceNs), (Over{0, 3 * kSliceNs}));
}

constexpr int64_t kTickNs = 4'000'000;

TEST(SimSlices, OfThoseThatAreWokenTheRecordedShareTakesACoreAtOnce) {
  SimSlices slices(1, kSliceNs, SimSlices::kStaysNs, {.known = true, .preempting = 0.5});
  slices.use(0, 2'000'000, 0);
  slices.settle(0);
  EXPECT_TRUE(slices.wake(1));
  slices.use(100'000, 50'000, 1);
  EXPECT_TRUE(slices.wake(2));
  slices.use(100'000, 50'000, 2);
  EXPECT_EQ(next_over(slices, 100'000), (Over{2, 150'000}));
  EXPECT_EQ(next_over(slices, 150'000), (Over{0, 2'050'000}));
  EXPECT_EQ(next_over(slices, 2'050'000), (Over{1, 2'100'000}));
}

// Threads 0 and 2 had the first core before, and thread 0 has it again when the other one is woken.
SimSlices woken_at_a_core_in_use(int64_t woken_ns, const WakePlacement& placement) {
  SimSlices slices(2, 5 * kSliceNs, SimSlices::kStaysNs, placement);
  slices.use(0, 100'000, 0);
  EXPECT_EQ(next_over(slices, 0), (Over{0, 100'000}));
  slices.settle(100'000);
  slices.use(200'000, 100'000, 2);
  EXPECT_EQ(next_over(slices, 200'000), (Over{2, 300'000}));
  slices.settle(300'000);
  slices.use(400'000, 3 * kSliceNs, 0);
  slices.settle(400'000);
  EXPECT_EQ(slices.wake(2), placement.staying == 1);
  slices.use(woken_ns, 100'000, 2);
  return slices;
}

TEST(SimSlices, WhoIsWokenGetsAnIdleCore) {
  SimSlices slices = woken_at_a_core_in_use(500'000, {.known = true});
  EXPECT_EQ(next_over(slices, 500'000), (Over{2, 600'000}));
}

TEST(SimSlices, WhoIsWokenStaysWithItsCoreUntilTheNextTick) {
  SimSlices slices = woken_at_a_core_in_use(500'000, {.known = true, .staying = 1, .tick_ns = kTickNs});
  EXPECT_EQ(next_over(slices, 500'000), (Over{2, kTickNs + 100'000}));
}

// Of four threads that are woken while their own core is in use and another one idle, one stays.
TEST(SimSlices, AsManyStayAsDidInTheRecording) {
  SimSlices slices(2, 5 * kSliceNs, SimSlices::kStaysNs, {.known = true, .staying = 0.25, .tick_ns = kTickNs});
  slices.use(0, 100'000, 1);
  EXPECT_EQ(next_over(slices, 0), (Over{1, 100'000}));
  slices.settle(100'000);
  slices.use(200'000, SimSlices::kUntilEndNow, 0);
  int stayed = 0;
  for (int i = 0; i < 40; ++i) stayed += slices.wake(1);
  EXPECT_NEAR(stayed, 10, 1);
}

TEST(SimSlices, WhoseCoreNobodyElseUsedMeanwhileComesBackToIt) {
  SimSlices slices(2, 5 * kSliceNs, SimSlices::kStaysNs, {.known = true, .staying = 1, .tick_ns = kTickNs});
  slices.use(0, SimSlices::kUntilEndNow, 0);
  slices.use(0, 100'000, 1);
  EXPECT_EQ(next_over(slices, 0), (Over{1, 100'000}));
  slices.settle(100'000);
  EXPECT_FALSE(slices.wake(1));
}

TEST(SimSlices, BesideAnIdleCoreOnlyThoseTakeACoreInUseThatDidSoInTheRecording) {
  const WakePlacement none{.known = true, .preempting = 1, .staying = 1, .tick_ns = kTickNs};
  SimSlices waits = woken_at_a_core_in_use(500'000, none);
  EXPECT_EQ(next_over(waits, 500'000), (Over{2, kTickNs + 100'000}));
  const WakePlacement all{.known = true, .preempting_though_idle = 1, .staying = 1, .tick_ns = kTickNs};
  SimSlices takes = woken_at_a_core_in_use(500'000, all);
  EXPECT_EQ(next_over(takes, 500'000), (Over{2, 600'000}));
}

TEST(SimSlices, WhoIsWokenJustBeforeATickIsTakenByIt) {
  SimSlices slices = woken_at_a_core_in_use(kTickNs - 1000, {.known = true, .staying = 1, .tick_ns = kTickNs});
  EXPECT_EQ(next_over(slices, kTickNs - 1000), (Over{2, kTickNs + 100'000}));
}

// One core of a Linux that keeps lags.
constexpr WakePlacement kByLag{.known = true, .keeps_lag = true, .by_lag = true};
constexpr int64_t kMsNs = 1'000'000;

// Thread 0 computes for a ms. Thread 1 comes after half of that, waits for the core, and needs it for 10 us only.
SimSlices after_a_short_turn() {
  SimSlices slices(1, kSliceNs, 0, kByLag);
  slices.use(0, kMsNs, 0);
  slices.use(kMsNs / 2, 10'000, 1);
  EXPECT_EQ(next_over(slices, kMsNs / 2), (Over{0, kMsNs}));
  return slices;
}

TEST(SimSlices, WhoLeftTheCoreToNobodyDoesNotPreempt) {
  SimSlices slices(1, kSliceNs, 0, kByLag);
  slices.use(0, kMsNs, 0);
  EXPECT_EQ(next_over(slices, 0), (Over{0, kMsNs}));
  slices.settle(kMsNs);
  slices.use(2 * kMsNs, kMsNs, 1);
  slices.use(5 * kMsNs / 2, kMsNs, 0);
  EXPECT_EQ(next_over(slices, 5 * kMsNs / 2), (Over{1, 3 * kMsNs}));
}

TEST(SimSlices, WhoHadLessThanOthersWhenItLeftPreempts) {
  SimSlices slices = after_a_short_turn();
  EXPECT_EQ(next_over(slices, kMsNs), (Over{1, kMsNs + 10'000}));
  slices.settle(kMsNs + 10'000);
  slices.use(2 * kMsNs, kMsNs, 2);
  slices.use(5 * kMsNs / 2, kMsNs / 10, 1);
  EXPECT_EQ(next_over(slices, 5 * kMsNs / 2), (Over{1, 5 * kMsNs / 2 + kMsNs / 10}));
}

TEST(SimSlices, WhoHadMoreAndIsBackSoonComesBehindWhoIsNew) {
  SimSlices slices = after_a_short_turn();
  slices.settle(kMsNs);
  slices.use(kMsNs + 2'000, kMsNs, 0);
  slices.use(kMsNs + 4'000, kMsNs, 2);
  EXPECT_EQ(next_over(slices, kMsNs + 4'000), (Over{1, kMsNs + 10'000}));
  EXPECT_EQ(next_over(slices, kMsNs + 10'000), (Over{2, 2 * kMsNs + 10'000}));
}

TEST(SimSlices, WhoRanAloneForLongHasTheCoreUntilItsNewSliceEnds) {
  SimSlices slices(1, kSliceNs, 0, kByLag);
  slices.use(0, 100 * kMsNs, 0);
  slices.use(10 * kMsNs, kMsNs, 1);
  EXPECT_EQ(next_over(slices, 10 * kMsNs), (Over{1, 13 * kMsNs}));  // the fourth slice ends after 12 ms
}

}  // namespace
}  // namespace contrafact::whatif
