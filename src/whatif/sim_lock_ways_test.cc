#include "whatif/sim_lock_ways.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "model/text_trace.h"

namespace contrafact::whatif {
namespace {

using testing::Each;
using testing::IsEmpty;
using testing::SizeIs;

testing::Matcher<int64_t> about(int64_t ns) {
  return testing::AllOf(testing::Ge(ns * 8 / 10), testing::Le(ns * 12 / 10));
}

double share_beyond(const std::vector<int64_t>& lengths_ns, int64_t ns) {
  const auto beyond = std::ranges::count_if(lengths_ns, [ns](int64_t each) { return each > ns; });
  return static_cast<double>(beyond) / static_cast<double>(lengths_ns.size());
}

TEST(WayLengths, AreTheChasesWhereNobodyComesBy) {
  EXPECT_THAT(way_lengths(std::vector<Chase>(40, Chase{{}, 10'000})), Each(about(10'000)));
  EXPECT_THAT(way_lengths({}), IsEmpty());
}

// A mutex is held for 800 us, and its last holder is back after 150 us. Of the ways to it 3 in 10 take 8 us, the others
// 400 us. A thread that was first took 8 us, or came while by chance no thread held the mutex.
TEST(WayLengths, KnowOfTheLongOnesThatWereNeverFirst) {
  std::mt19937 random(1);
  std::vector<Chase> chases;
  double shortest_share = 0;
  for (int i = 0; i < 300; ++i) {
    Chase chase;
    int64_t start_ns = 0, free_ns = 0;
    for (;;) {
      const int64_t there_ns = start_ns + (random() % 10 < 3 ? 8'000 : 400'000) + static_cast<int64_t>(random() % 1000);
      while (there_ns >= free_ns + 150'000) {
        chase.holds.push_back({free_ns + 150'000, free_ns + 950'000});
        free_ns += 950'000;
        if (there_ns < free_ns) break;
      }
      if (there_ns >= free_ns) {
        chase.end_ns = there_ns;
        shortest_share += there_ns - free_ns < 10'000;
        break;
      }
      start_ns = free_ns;
    }
    chases.push_back(std::move(chase));
  }
  EXPECT_GT(shortest_share / 300, 0.95);
  const std::vector<int64_t> lengths_ns = way_lengths(chases);
  EXPECT_NEAR(share_beyond(lengths_ns, 20'000), 0.7, 0.05);
  EXPECT_NEAR(share_beyond(lengths_ns, 1'000'000), 0, 0.01);
}

// x releases l, z comes by twice before y, who has slept for it, is there; later z waits, and no thread comes by.
TEST(Chases, AreFromTheReleaseThatWokeToTheAcquisition) {
  const base::Result<model::Trace> trace = model::parse_text(
      "method m .work w.cc:1\ncontext a - m:10\nlock l mutex \"\"\nthread x\nthread y\nthread z\n"
      "0 x lock_acquire l a\n10 y lock_request l a\n100 x lock_release l\n120 z lock_acquire l a\n150 z lock_release "
      "l\n"
      "170 z lock_acquire l a\n200 z lock_release l\n230 y lock_acquired l\n240 z lock_request l a\n300 y lock_release "
      "l\n"
      "307 z lock_acquired l\n310 z lock_release l\n320 x lock_acquire l a\n330 x lock_release l\n");
  ASSERT_TRUE(trace) << trace.error().message;
  const std::vector<Chase> found = chases(*trace, model::critical_sections(*trace), BusyCores());
  ASSERT_THAT(found, SizeIs(2));
  ASSERT_THAT(found[0].holds, SizeIs(2));
  EXPECT_EQ(found[0].holds[1].begin_ns, 70);
  EXPECT_EQ(found[0].holds[1].end_ns, 100);
  EXPECT_EQ(found[0].end_ns, 130);
  EXPECT_THAT(found[1].holds, IsEmpty());
  EXPECT_EQ(found[1].end_ns, 7);
}

// Thread b sleeps for the mutex. Woken at 100 us it has a core at 140, finds the mutex held again, and sleeps; woken at
// 300 it has a core at 330 and the mutex at 333.
TEST(WaysByKernel, KnowsThoseThatCameInVain) {
  base::Result<model::Trace> trace = model::parse_text(
      "fact agent native\nfact cores 2\nlock l mutex table\nthread a\nthread b\n"
      "cpu b 11000 140000 blocked\ncpu b 145000 330000 blocked\n"
      "0 a lock_acquire l -\n100000 a lock_release l -\n101000 a lock_acquire l -\n300000 a lock_release l -\n"
      "350000 a thread_end\n"
      "10000 b lock_request l -\n333000 b lock_acquired l\n340000 b lock_release l -\n340000 b thread_end\n");
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  const std::vector<model::CriticalSection> sections = model::critical_sections(*trace);
  EXPECT_THAT(ways_by_kernel(sections, find_woken(*trace, sections), BusyCores(*trace, 2)),
              testing::ElementsAre(43'000, 33'000));
}

// Of eleven ways one takes a millisecond, the others 42 us.
TEST(WaysByKernel, LeaveOutWhatIsMuchLongerThanTheOthers) {
  std::string text = "fact agent native\nfact cores 2\nlock l mutex table\nthread a\nthread b\n", of_b;
  constexpr int kWays = 11;
  int64_t now_ns = 0;
  for (int i = 0; i < kWays; ++i) {
    const int64_t given_up_ns = now_ns + 100'000, back_ns = given_up_ns + (i == 5 ? 998'000 : 40'000);
    text += fmt::format("{} a lock_acquire l -\n{} a lock_release l -\n", now_ns, given_up_ns);
    of_b += fmt::format("cpu b {} {} blocked\n{} b lock_request l -\n{} b lock_acquired l\n{} b lock_release l -\n",
                        now_ns + 11'000, back_ns, now_ns + 10'000, back_ns + 2'000, back_ns + 3'000);
    now_ns = back_ns + 10'000;
  }
  const base::Result<model::Trace> trace =
      model::parse_text(text + of_b + fmt::format("{} a thread_end\n{} b thread_end\n", now_ns, now_ns));
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  const std::vector<model::CriticalSection> sections = model::critical_sections(*trace);
  const Woken woken = find_woken(*trace, sections);
  const BusyCores busy(*trace, 2);
  EXPECT_THAT(all_ways_by_kernel(sections, woken, busy), testing::Contains(1'000'000));
  EXPECT_THAT(ways_by_kernel(sections, woken, busy), testing::AllOf(SizeIs(kWays - 1), testing::Each(42'000)));
}

// Two in five woken threads wait for another thread's piece of work, of 240 us; one in fifty for a tick of the clock.
TEST(LockWays, PiecesOfWorkAreNoTicks) {
  for (const int64_t short_ways : {45, 55, 60}) {
    std::vector<int64_t> ways_ns(static_cast<size_t>(short_ways), 5'000);
    ways_ns.resize(98, 240'000);
    ways_ns.resize(100, 3'000'000);
    EXPECT_GT(longest_way_ns(ways_ns), 240'000) << short_ways;
    EXPECT_LT(longest_way_ns(ways_ns), 3'000'000) << short_ways;
  }
  EXPECT_EQ(longest_way_ns({}), 0);
}

}  // namespace
}  // namespace contrafact::whatif
