#include "whatif/sim_lingers.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "model/text_trace.h"
#include "whatif/simulate.h"

namespace contrafact::whatif {
namespace {

constexpr int kRounds = 100;
constexpr int64_t kRoundNs = 10'000;

// Each round, thread x holds the lock for `hold_ns`, and y, 50 ns after x acquired it, finds it held. In the first
// `asleep` rounds y leaves its core 1500 ns after that, and comes back 4000 ns after the lock was released. In the
// others y acquires the lock 1000 ns after it asked, without having left its core.
struct Waits {
  int64_t hold_ns;
  int asleep;
  std::string_view kind = "mutex";
};

model::Trace trace_of_waits(const Waits& waits) {
  std::string text = fmt::format(
      "fact agent native\nfact cores 2\nmethod m .work w.cc:1\ncontext a - m:10\nlock l {}\n"
      "thread x\nthread y\n0 x thread_begin\n0 y thread_begin\n",
      waits.kind);
  const auto add = [&](int64_t time_ns, std::string_view thread, std::string_view event) {
    text += fmt::format("{} {} {}\n", time_ns, thread, event);
  };
  int64_t now_ns = 1000;
  for (int i = 0; i < kRounds; ++i, now_ns += kRoundNs) {
    const bool sleeps = i < waits.asleep;
    const int64_t asked_ns = now_ns + 50, given_up_ns = now_ns + waits.hold_ns;
    const int64_t had_ns = sleeps ? given_up_ns + 4100 : asked_ns + 1000;
    add(now_ns, "x", "lock_acquire l a");
    add(given_up_ns, "x", "lock_release l");
    add(asked_ns, "y", "lock_request l a");
    if (sleeps) add(asked_ns + 1500, "y", "cpu_out blocked");
    if (sleeps) add(given_up_ns + 4000, "y", "cpu_in");
    add(had_ns, "y", "lock_acquired l");
    add(had_ns + 100, "y", "lock_release l");
  }
  add(now_ns, "x", "thread_end");
  add(now_ns, "y", "thread_end");
  base::Result<model::Trace> trace = model::parse_text(text);
  EXPECT_TRUE(trace) << trace.error().message;
  return std::move(*trace);
}

Lingers found_in(const model::Trace& trace) {
  const std::vector<model::CriticalSection> sections = model::critical_sections(trace);
  return find_lingers(trace, sections, find_woken(trace, sections));
}

TEST(Lingers, AreOfWaitsWithAndWithoutSleep) {
  for (const char* kind : {"mutex", "rwlock"}) {
    const Lingers lingers = found_in(trace_of_waits({.hold_ns = 800, .asleep = kRounds / 2, .kind = kind}));
    EXPECT_EQ(lingers.asked_ns, 1000) << kind;
    EXPECT_EQ(lingers.asleep_ns, 1500) << kind;
    EXPECT_EQ(lingers.again_ns, 0) << kind;  // nobody came in vain
    ASSERT_EQ(lingers.of_lock.size(), 1u) << kind;
    EXPECT_TRUE(lingers.of_lock[0]) << kind;
  }
}

TEST(Lingers, OfWhoComesInVainAreShort) {
  std::string text =
      "fact agent native\nfact cores 2\nlock l mutex\nthread x\nthread y\n0 x thread_begin\n0 y thread_begin\n"
      "500 y lock_request l -\n1000 y cpu_out blocked\n";
  constexpr int kInVain = 40;
  for (int i = 0; i < kInVain; ++i) {
    const int64_t at_ns = i * kRoundNs;
    text += fmt::format("{} x lock_acquire l -\n{} x lock_release l -\n", at_ns, at_ns + 5000);
    if (i == kInVain - 1) continue;
    text += fmt::format("{} y cpu_in\n{} y cpu_out blocked\n", at_ns + kRoundNs + 1000, at_ns + kRoundNs + 1700);
  }
  constexpr int64_t kEndNs = kInVain * kRoundNs;
  text +=
      fmt::format("{0} y cpu_in\n{1} y lock_acquired l\n{2} y lock_release l -\n{2} x thread_end\n{2} y thread_end\n",
                  kEndNs, kEndNs + 300, kEndNs + 400);
  const base::Result<model::Trace> trace = model::parse_text(text);
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(found_in(*trace).again_ns, 700 - 300);  // of 700 ns awake, 300 until it looked
}

TEST(Lingers, AreNotKnownWithoutTheKernelsSwitches) {
  base::Result<model::Trace> trace = model::parse_text(
      "fact agent native\nfact cores 2\nlock l mutex\nthread x\nthread y\n"
      "0 x lock_acquire l -\n100 x lock_release l -\n50 y lock_request l -\n2050 y lock_acquired l\n"
      "2150 y lock_release l -\n");
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_TRUE(found_in(*trace).of_lock.empty());
}

double simulated_cpu_ns(const model::Trace& trace) {
  const base::Result<Simulation> run = Simulator(trace).simulate({}, {});
  EXPECT_TRUE(run) << run.error().message;
  return run ? static_cast<double>(run->cpu_ns) : 0;
}
constexpr double kAllNs = 1000 + kRounds * kRoundNs;

// A wait for a lock that is released before the kernel looks takes a core all the time. A wait for one that is held for
// longer takes a core for 1500 ns.
TEST(Lingers, TakeTheCoreInTheSimulation) {
  EXPECT_NEAR(simulated_cpu_ns(trace_of_waits({.hold_ns = 800, .asleep = 1})), 2 * kAllNs, 10'000);
  const Waits longer{.hold_ns = 2000, .asleep = kRounds};
  EXPECT_NEAR(simulated_cpu_ns(trace_of_waits(longer)), 2 * kAllNs - kRounds * (2000 - 50 - 1500 + 4000), 10'000);
}

}  // namespace
}  // namespace contrafact::whatif
