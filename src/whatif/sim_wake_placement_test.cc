#include "whatif/sim_wake_placement.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "model/text_trace.h"

namespace contrafact::whatif {
namespace {

constexpr int64_t kPlacementRoundNs = 10'000'000;

// Each round thread x holds the mutex for 10 us, and y asks for it meanwhile and sleeps; y has a core `way_ns` after x
// released it. In the first `taken` rounds a third thread has had that core for 100 us and loses it to y; in the next
// `left` rounds the third thread leaves that core to sleep.
struct PlacementRounds {
  int count;
  int taken = 0, left = 0;
  int64_t way_ns = 20'000;
  int stuck = 0;  // rounds at the end in which the way takes a time between 0 and 4 ms, evenly
};

WakePlacement measured(const PlacementRounds& rounds) {
  std::string text =
      "fact agent native\nfact cores 3\nlock l mutex table\nthread x\nthread y\nthread z\n0 x thread_begin\n";
  std::string of_y = "0 y thread_begin\n", of_z = "0 z thread_begin\n10 z cpu_out blocked\n";
  for (int i = 0; i < rounds.count; ++i) {
    const int64_t begin_ns = (i + 1) * kPlacementRoundNs, given_up_ns = begin_ns + 10'000;
    const int stuck = i - (rounds.count - rounds.stuck);
    const int64_t way_ns = stuck < 0 ? rounds.way_ns : (2 * stuck + 1) * 2'000'000 / rounds.stuck;
    const int64_t back_ns = given_up_ns + way_ns;
    text += fmt::format("{} x lock_acquire l -\n{} x lock_release l -\n", begin_ns, given_up_ns);
    of_y += fmt::format("{} y lock_request l -\n{} y cpu_out blocked\n{} y cpu_in\n{} y lock_acquired l\n",
                        begin_ns + 1000, begin_ns + 2000, back_ns, back_ns + 1000);
    of_y += fmt::format("{} y lock_release l -\n", back_ns + 2000);
    if (i >= rounds.taken + rounds.left) continue;
    of_z += fmt::format("{} z cpu_in\n{} z cpu_out {}\n", back_ns - 100'500, back_ns - 500,
                        i < rounds.taken ? "preempted" : "blocked");
    if (i < rounds.taken) of_z += fmt::format("{} z cpu_in\n{} z cpu_out blocked\n", back_ns + 5000, back_ns + 9000);
  }
  const int64_t end_ns = (rounds.count + 1) * kPlacementRoundNs;
  of_z += fmt::format("{} z cpu_in\n", end_ns - 1000);
  for (const char* thread : {"x", "y", "z"}) of_z += fmt::format("{} {} thread_end\n", end_ns, thread);
  const base::Result<model::Trace> trace = model::parse_text(text + of_y + of_z);
  EXPECT_TRUE(trace) << trace.error().message;
  const std::vector<model::CriticalSection> sections = model::critical_sections(*trace);
  return measure_wake_placement(*trace, sections, find_woken(*trace, sections), BusyCores(*trace, 3));
}

TEST(WakePlacement, CountsThoseThatTookACoreAndThoseThatQueued) {
  EXPECT_DOUBLE_EQ(measured({.count = 100, .taken = 30, .left = 10}).preempting, 0.75);
  EXPECT_DOUBLE_EQ(measured({.count = 100, .taken = 10, .left = 30}).preempting, 0.25);
}

TEST(WakePlacement, CountsThoseThatStayBesideAnIdleCoreAsNotPreempting) {
  // 38 of the 40 wait for longer than is a way.
  const WakePlacement placement = measured({.count = 400, .taken = 30, .left = 10, .stuck = 40});
  EXPECT_DOUBLE_EQ(placement.preempting, 0.75);
  EXPECT_DOUBLE_EQ(placement.preempting_though_idle, 30.0 / (30 + 10 + 38));
}

// One core. x sleeps with the mutex, and y asks for it meanwhile; x releases it and goes on computing. In `taken` rounds y preempts it
// then. In each round z comes from a sleep of its own, and preempts x, too.
double preempting_on_one_core(int count, int taken) {
  std::string x = "0 x thread_begin\n", y = "0 y thread_begin\n10 y cpu_out blocked\n";
  std::string z = "0 z thread_begin\n20 z cpu_out blocked\n";
  for (int i = 0; i < count; ++i) {
    const int64_t at = (i + 1) * kPlacementRoundNs;
    x += fmt::format(
        "{0} x lock_acquire l -\n{1} x cpu_out blocked\n{2} x cpu_in\n{3} x lock_release l -\n{4} x cpu_out {5}\n", at,
        at + 1'000, at + 500'000, at + 510'000, at + 560'000, i < taken ? "preempted" : "blocked");
    y += fmt::format(
        "{0} y cpu_in\n{1} y lock_request l -\n{2} y cpu_out blocked\n{3} y cpu_in\n{4} y lock_acquired l\n"
        "{5} y lock_release l -\n{6} y cpu_out blocked\n",
        at + 100'000, at + 101'000, at + 102'000, at + 560'500, at + 561'000, at + 562'000, at + 570'000);
    x += fmt::format("{} x cpu_in\n{} x cpu_out preempted\n{} x cpu_in\n", at + 571'000, at + 600'000, at + 620'000);
    z += fmt::format("{} z cpu_in\n{} z cpu_out blocked\n", at + 600'500, at + 619'500);
  }
  const int64_t end_ns = (count + 1) * kPlacementRoundNs;
  y += fmt::format("{} y cpu_in\n", end_ns - 2000), z += fmt::format("{} z cpu_in\n", end_ns - 1000);
  std::string text = "fact agent native\nfact cores 1\nlock l mutex table\nthread x\nthread y\nthread z\n" + x + y + z;
  for (const char* thread : {"x", "y", "z"}) text += fmt::format("{} {} thread_end\n", end_ns, thread);
  const base::Result<model::Trace> trace = model::parse_text(text);
  EXPECT_TRUE(trace) << trace.error().message;
  const std::vector<model::CriticalSection> sections = model::critical_sections(*trace);
  return measure_wake_placement(*trace, sections, find_woken(*trace, sections), BusyCores(*trace, 1)).preempting;
}

TEST(WakePlacement, IsThatOfThreadsThatAReleaseWokeWhereThereAreEnough) {
  EXPECT_DOUBLE_EQ(preempting_on_one_core(100, 25), 0.25);
  EXPECT_DOUBLE_EQ(preempting_on_one_core(15, 0), 1.0 / 3);  // of all that come in a round, z alone preempts
}

TEST(WakePlacement, IsNoShareOfAHandful) {
  EXPECT_EQ(measured({.count = 100, .taken = 8, .left = 8}).preempting, 0);
}

TEST(WakePlacement, StaysWhereWaysAreAsLongAsTicks) {
  const WakePlacement placement = measured({.count = 400, .stuck = 40});
  EXPECT_DOUBLE_EQ(placement.staying, 38.0 / 400);
  EXPECT_NEAR(static_cast<double>(placement.tick_ns), 4e6, 0.2e6);
}

TEST(WakePlacement, DoesNotStayWhereIdleCoresTakeThemAtOnce) {
  const WakePlacement placement = measured({.count = 400});
  EXPECT_TRUE(placement.known);
  EXPECT_EQ(placement.staying, 0);
}

TEST(WakePlacement, IsNotKnownWithoutTheKernelsSwitches) {
  const base::Result<model::Trace> trace = model::parse_text(
      "fact agent native\nfact cores 2\nlock l mutex table\nthread a\n0 a lock_acquire l -\n9 a lock_release l -\n");
  ASSERT_TRUE(trace) << trace.error().message;
  const std::vector<model::CriticalSection> sections = model::critical_sections(*trace);
  EXPECT_FALSE(measure_wake_placement(*trace, sections, find_woken(*trace, sections), BusyCores(*trace, 2)).known);
}

bool keeps_lag(const std::string& system) {
  const base::Result<model::Trace> trace = model::parse_text("fact system \"" + system + "\"\nthread a\n0 a cpu_in\n");
  EXPECT_TRUE(trace) << trace.error().message;
  return measure_wake_placement(*trace, {}, find_woken(*trace, {}), BusyCores(*trace, 2)).keeps_lag;
}

TEST(WakePlacement, ThreadsKeepTheirLagOnLinuxSince612) {
  EXPECT_TRUE(keeps_lag("Linux 6.12.0-amd64 x86_64"));
  EXPECT_TRUE(keeps_lag("Linux 6.18.44-fc-v669 x86_64"));
  EXPECT_TRUE(keeps_lag("Linux 7.0 x86_64"));
  EXPECT_FALSE(keeps_lag("Linux 6.8.0-31-generic x86_64"));
  EXPECT_FALSE(keeps_lag("Linux 6.1.0-13-amd64 x86_64"));
  EXPECT_FALSE(keeps_lag("Linux"));
  EXPECT_FALSE(keeps_lag("Darwin 23.1 arm64"));
}

}  // namespace
}  // namespace contrafact::whatif
