#include "whatif/sim_short_waits.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "model/text_trace.h"
#include "whatif/simulate.h"

namespace contrafact::whatif {
namespace {

constexpr int kShortRounds = 100;
constexpr int64_t kRoundNs = 10'000;

// Each round, thread x holds the lock for 100 ns and y finds it held; y has it `wait_ns` after asking, and holds it for
// 100 ns. It leaves its core meanwhile in the first `asleep` rounds. In a last round, x holds it for 5000 ns and y
// sleeps for that.
model::Trace recorded_waits(int64_t wait_ns, int asleep, std::string_view kind = "mutex") {
  std::string text =
      "fact agent native\nfact cores 2\nmethod m .work w.cc:1\ncontext a - m:10\n"
      "thread x\nthread y\n0 x thread_begin\n0 y thread_begin\n";
  text.insert(text.find("thread x"), fmt::format("lock l {}\n", kind));
  const auto add = [&](int64_t time_ns, std::string_view thread, std::string_view event) {
    text += fmt::format("{} {} {}\n", time_ns, thread, event);
  };
  int64_t now_ns = 1000;
  const auto round = [&](int64_t hold_ns, int64_t y_waits_ns, bool y_sleeps) {
    const int64_t asked_ns = now_ns + 50, had_ns = asked_ns + y_waits_ns;
    add(now_ns, "x", "lock_acquire l a");
    add(now_ns + hold_ns, "x", "lock_release l");
    add(asked_ns, "y", "lock_request l a");
    if (y_sleeps) add(asked_ns + 40, "y", "cpu_out blocked");
    if (y_sleeps) add(had_ns - 40, "y", "cpu_in");
    add(had_ns, "y", "lock_acquired l");
    add(had_ns + 100, "y", "lock_release l");
    now_ns += kRoundNs;
  };
  for (int i = 0; i < kShortRounds; ++i) round(100, wait_ns, i < asleep);
  round(5000, 6000, true);
  add(now_ns, "x", "thread_end");
  add(now_ns, "y", "thread_end");
  base::Result<model::Trace> trace = model::parse_text(text);
  EXPECT_TRUE(trace) << trace.error().message;
  return std::move(*trace);
}

ShortWaits found_in(const model::Trace& trace) {
  return find_short_waits(trace, model::critical_sections(trace));
}

TEST(ShortWaits, AreThoseWithoutSleep) {
  for (const char* kind : {"mutex", "rwlock"}) {
    const ShortWaits waits = found_in(recorded_waits(2000, 0, kind));
    EXPECT_EQ(waits.look_ns, 2000) << kind;
    ASSERT_EQ(waits.of_lock.size(), 1u) << kind;
    EXPECT_TRUE(waits.of_lock[0]) << kind;
  }
}

TEST(ShortWaits, AreNoneWhereThreadsSleep) {
  const ShortWaits waits = found_in(recorded_waits(2000, kShortRounds));
  EXPECT_EQ(waits.look_ns, 0);
  ASSERT_EQ(waits.of_lock.size(), 1u);
  EXPECT_FALSE(waits.of_lock[0]);
}

TEST(ShortWaits, AreThoseOfALockWhereAQuarterAreWithoutSleep) {
  for (const int asleep : {65, 85}) {
    const ShortWaits waits = found_in(recorded_waits(2000, asleep));
    ASSERT_EQ(waits.of_lock.size(), 1u);
    EXPECT_EQ(waits.of_lock[0], asleep == 65) << asleep;
  }
}

TEST(ShortWaits, AreNotKnownWithoutTheKernelsSwitches) {
  base::Result<model::Trace> trace = model::parse_text(
      "fact agent native\nfact cores 2\nlock l mutex\nthread x\nthread y\n"
      "0 x lock_acquire l -\n100 x lock_release l -\n50 y lock_request l -\n2050 y lock_acquired l\n"
      "2150 y lock_release l -\n");
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_TRUE(found_in(*trace).of_lock.empty());
}

// Who waits has its core for all of the wait but the last, which is longer than a look: there it sleeps.
TEST(ShortWaits, KeepTheirCoresInTheSimulation) {
  const model::Trace trace = recorded_waits(2000, 0);
  const base::Result<Simulation> run = Simulator(trace).simulate({}, {});
  ASSERT_TRUE(run) << run.error().message;
  const int64_t all_ns = 1000 + (kShortRounds + 1) * kRoundNs;
  EXPECT_NEAR(static_cast<double>(run->duration_ns), static_cast<double>(all_ns), 3000);
  EXPECT_NEAR(static_cast<double>(run->cpu_ns), static_cast<double>(2 * all_ns - 4000), 3000);
  ASSERT_EQ(run->locks.size(), 1u);
  EXPECT_EQ(run->locks[0].contended, kShortRounds + 1u);
}

TEST(ShortWaits, LeaveTheirCoresWhereTheyAreSleeps) {
  const model::Trace trace = recorded_waits(2000, kShortRounds);
  const base::Result<Simulation> run = Simulator(trace).simulate({}, {});
  ASSERT_TRUE(run) << run.error().message;
  const int64_t all_ns = 1000 + (kShortRounds + 1) * kRoundNs;
  EXPECT_NEAR(static_cast<double>(run->cpu_ns), static_cast<double>(2 * all_ns - kShortRounds * 2000 - 6000), 5000);
}

}  // namespace
}  // namespace contrafact::whatif
