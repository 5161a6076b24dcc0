#include "whatif/sim_wake_cost.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "model/text_trace.h"
#include "whatif/section_edit.h"
#include "whatif/simulate.h"

namespace contrafact::whatif {
namespace {

constexpr int64_t kRestNs = 2'000'000;
constexpr int kTimes = 400;

WakeCost measured(const model::Trace& trace) {
  const std::vector<model::CriticalSection> sections = model::critical_sections(trace);
  return measure_wake_cost(trace, sections, find_woken(trace, sections));
}

// A recording of threads x and y, event by event.
struct Recording {
  std::string text =
      "fact agent native\nfact cores 2\nmethod m .work w.cc:1\ncontext a - m:10\ncontext b - m:20\nlock l mutex\n"
      "thread x\nthread y\n0 x thread_begin\n0 y thread_begin\n";
  int64_t now_ns = 1000;

  void add(int64_t time_ns, std::string_view thread, std::string_view event) {
    text += fmt::format("{} {} {}\n", time_ns, thread, event);
  }

  // The worker holds the lock for 100 ns; if `slept`, the other sleeps for it meanwhile; then the worker computes.
  void hold(std::string_view worker, std::string_view other, bool slept, int64_t computes_ns) {
    add(now_ns, worker, "lock_acquire l a");
    if (slept) add(now_ns + 50, other, "lock_request l b");
    add(now_ns + 100, worker, "lock_release l");
    if (slept) add(now_ns + 120, other, "lock_acquired l");
    if (slept) add(now_ns + 130, other, "lock_release l");
    now_ns += 100 + computes_ns;
  }

  model::Trace trace() const {
    base::Result<model::Trace> trace = model::parse_text(text);
    EXPECT_TRUE(trace) << trace.error().message;
    return std::move(*trace);
  }
};

// Thread x holds the lock kTimes, and computes for 1000 ns after that. `slept_ns`: it computes for so long whenever
// thread y slept for the lock meanwhile, which is every other time; and goes on for longer than y.
std::string recorded_sleeps_text(int64_t slept_ns) {
  Recording recording;
  for (int i = 0; i < kTimes; ++i) recording.hold("x", "y", i % 2 == 0, i % 2 == 0 ? slept_ns : 1000 + i % 4);
  recording.add(recording.now_ns, "x", "lock_acquire l a");
  recording.add(recording.now_ns, "x", "lock_release l");
  recording.add(recording.now_ns, "y", "thread_end");
  recording.add(recording.now_ns + kRestNs, "x", "thread_end");
  return recording.text;
}
model::Trace recorded_sleeps(int64_t slept_ns) {
  return Recording{.text = recorded_sleeps_text(slept_ns)}.trace();
}

TEST(WakeCost, IsWhatReleasesTakeLongerForSleepers) {
  const model::Trace trace = recorded_sleeps(6000);
  const std::vector<model::CriticalSection> sections = model::critical_sections(trace);
  const WakeCost cost = measure_wake_cost(trace, sections, find_woken(trace, sections));
  EXPECT_NEAR(static_cast<double>(cost.ns), 4999, 2);
  for (size_t s = 0; s < sections.size(); ++s) {
    const bool wakes = sections[s].thread.value == 0 && cost.slept[s];
    EXPECT_NEAR(static_cast<double>(cost.recorded_ns[s]), wakes ? 4999 : 0, 2) << s;
  }
}

// The other thread nearly always sleeps for the lock: only ten of 400 releases have no sleeper, one or two in each
// eighth.
TEST(WakeCost, IsKnownByTheFewForWhichNobodySleeps) {
  for (const int64_t slept_ns : {6000, 1000}) {
    Recording recording;
    for (int i = 0; i < kTimes; ++i) recording.hold("x", "y", i % 40 != 7, (i % 40 != 7 ? slept_ns : 1000) + i % 4);
    const model::Trace trace = recording.trace();
    const WakeCost cost = measured(trace);
    const int64_t expected_ns = slept_ns - 1000;
    EXPECT_NEAR(static_cast<double>(cost.ns), expected_ns, 4);
    EXPECT_NEAR(static_cast<double>(cost.recorded_ns[0]), expected_ns, 4);
    EXPECT_EQ(cost.recorded_ns[14], 0);  // y, for which nobody slept
  }
}

// Only threads that waited have their callers recorded at a place: the code is the same.
TEST(WakeCost, IsOfTheCodeWhoeverCalledIt) {
  std::string text = recorded_sleeps_text(6000);
  text.insert(text.find("lock l mutex"), "context called b m:10\n");
  // Every other section of x, for which y slept.
  size_t at = 0;
  for (int i = 0; (at = text.find("x lock_acquire l a", at)) != std::string::npos; ++i, ++at) {
    if (i % 2 == 0) text.replace(at, 18, "x lock_acquire l called");
  }
  base::Result<model::Trace> trace = model::parse_text(text);
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_NEAR(static_cast<double>(measured(*trace).ns), 4999, 2);
}

// Of six releases three come while nobody waits, the next one wakes y, and two come while y is on its way.
TEST(WakeCost, IsPaidInVainToo) {
  Recording recording;
  for (int i = 0; i < kTimes; ++i) {
    for (int k = 0; k < 6; ++k) {
      recording.add(recording.now_ns, "x", "lock_acquire l a");
      if (k == 3) recording.add(recording.now_ns + 50, "y", "lock_request l b");
      if (k == 3) recording.add(recording.now_ns + 60, "y", "cpu_out blocked");
      recording.add(recording.now_ns + 100, "x", "lock_release l");
      if (k == 5) recording.add(recording.now_ns + 1000, "y", "cpu_in");
      if (k == 5) recording.add(recording.now_ns + 1020, "y", "lock_acquired l");
      if (k == 5) recording.add(recording.now_ns + 1050, "y", "lock_release l");
      recording.now_ns += 100 + (k < 3 ? 1000 : k == 3 ? 6000 : 1500) + i % 4;
    }
  }
  recording.add(recording.now_ns, "y", "thread_end");
  recording.add(recording.now_ns + kRestNs, "x", "thread_end");
  const model::Trace trace = recording.trace();
  const WakeCost cost = measured(trace);
  EXPECT_TRUE(cost.wakes_known);
  EXPECT_NEAR(static_cast<double>(cost.in_vain_ns), 500, 2);
  EXPECT_NEAR(static_cast<double>(cost.ns), 5000, 4);
  // Without the lock both are gone.
  const Simulator simulator(trace);
  std::vector<SectionEdit> edits = unedited(simulator.sections());
  for (SectionEdit& edit : edits) edit.mode = SectionEdit::Mode::none;
  const base::Result<Simulation> changed = simulator.simulate({.edits = edits}, {});
  ASSERT_TRUE(changed) << changed.error().message;
  EXPECT_NEAR(static_cast<double>(changed->duration_ns), 1000 + 6 * kTimes * 1101.5 + kRestNs, 20'000);
}

// Nobody waits at first. Then y sleeps throughout, and two of five releases take 2 us longer than the others.
Recording slept_through() {
  Recording recording;
  const auto hold = [&](int64_t computes_ns) {
    recording.add(recording.now_ns, "x", "lock_acquire l a");
    recording.add(recording.now_ns + 100, "x", "lock_release l");
    recording.now_ns += 100 + computes_ns;
  };
  for (int i = 0; i < kTimes; ++i) hold(1000 + i % 4);
  recording.add(recording.now_ns - 500, "y", "lock_request l b");
  recording.add(recording.now_ns - 400, "y", "cpu_out blocked");
  for (int i = 0; i < 5 * kTimes; ++i) hold((i % 5 < 2 ? 3000 : 1000) + i % 4);
  recording.add(recording.now_ns - 50, "y", "cpu_in");
  recording.add(recording.now_ns - 40, "y", "lock_acquired l");
  recording.add(recording.now_ns - 20, "y", "lock_release l");
  recording.add(recording.now_ns, "y", "thread_end");
  recording.add(recording.now_ns + kRestNs, "x", "thread_end");
  return recording;
}

TEST(WakeCost, IsKnownWhereSomebodySleptAllTheTimeByWhatTheCodeTakesElsewhere) {
  const model::Trace trace = slept_through().trace();
  const std::vector<model::CriticalSection> sections = model::critical_sections(trace);
  const WakeCost cost = measure_wake_cost(trace, sections, find_woken(trace, sections));
  EXPECT_TRUE(cost.wakes_known);
  EXPECT_NEAR(static_cast<double>(cost.in_vain_ns), 0.4 * 2000, 10);
  for (size_t s = 0; s + 2 < 6 * kTimes; ++s) {
    if (s == kTimes) continue;  // it wakes y, as far as the kernel's switches show
    const bool costs = s > kTimes && (s - kTimes) % 5 < 2;
    EXPECT_NEAR(static_cast<double>(cost.recorded_ns[s]), costs ? 2000 : 0, 20) << s;
  }
}

TEST(WakeCost, IsNoneWhereSleepersMakeNoDifference) {
  const model::Trace trace = recorded_sleeps(1001);
  EXPECT_EQ(measured(trace).ns, 0);
}

// One thread computes for longer after each section, and others sleep for its releases more often. That is no cost of
// waking.
TEST(WakeCost, IsNotTheWorkOfAnotherThread) {
  Recording recording;
  for (int i = 0; i < 150; ++i) recording.hold("x", "y", i % 5 != 0, 6000 + i % 4);
  for (int i = 0; i < 150; ++i) recording.hold("y", "x", i % 5 == 0, 1000 + i % 4);
  const model::Trace trace = recording.trace();
  EXPECT_EQ(measured(trace).ns, 0);
}

// One thread does more in the second half of the run, where others sleep for its lock more often.
TEST(WakeCost, IsNotTheWorkOfAnotherTime) {
  Recording recording;
  for (int i = 0; i < 1200; ++i) recording.hold("x", "y", i % 5 == 0, 1000 + i % 4);
  for (int i = 0; i < 1200; ++i) recording.hold("x", "y", i % 5 != 0, 1400 + i % 4);
  const model::Trace trace = recording.trace();
  EXPECT_EQ(measured(trace).ns, 0);
}

// Every other release took 5 us longer.
TEST(WakeCost, GoesWithTheLock) {
  const model::Trace trace = recorded_sleeps(6000);
  const Simulator simulator(trace);
  std::vector<SectionEdit> edits = unedited(simulator.sections());
  for (SectionEdit& edit : edits) edit.mode = SectionEdit::Mode::none;
  const base::Result<Simulation> changed = simulator.simulate({.edits = edits}, {});
  ASSERT_TRUE(changed) << changed.error().message;
  EXPECT_NEAR(static_cast<double>(changed->duration_ns), 1000 + kTimes * 1100 + kRestNs, 1000);
}

// Thread y sleeps throughout, except when every third release of thread x wakes it: it comes too late and sleeps again.
// Each such release takes 5 us longer. `switches`: the kernel reported so.
model::Trace recorded_in_vain(bool switches) {
  Recording recording;
  recording.add(recording.now_ns - 500, "y", "lock_request l b");
  if (switches) recording.add(recording.now_ns - 400, "y", "cpu_out blocked");
  for (int i = 0; i < 3 * kTimes; ++i) {
    const bool wakes = i % 3 == 0;
    recording.add(recording.now_ns, "x", "lock_acquire l a");
    recording.add(recording.now_ns + 100, "x", "lock_release l");
    recording.now_ns += 100 + (wakes ? 6000 : 1000) + i % 4;
    // It comes while x has the mutex for the next time but one, and sleeps before that is released.
    if (switches && i % 3 == 2) {
      recording.add(recording.now_ns + 20, "y", "cpu_in");
      recording.add(recording.now_ns + 60, "y", "cpu_out blocked");
    }
  }
  if (switches) recording.add(recording.now_ns + 70, "y", "cpu_in");
  recording.add(recording.now_ns + 80, "y", "lock_acquired l");
  recording.add(recording.now_ns + 120, "y", "lock_release l");
  recording.add(recording.now_ns + 130, "y", "thread_end");
  recording.add(recording.now_ns + kRestNs, "x", "thread_end");
  return recording.trace();
}

TEST(WakeCost, IsOfTheReleasesThatWokeNotOfAllWhileSomebodySleeps) {
  const model::Trace trace = recorded_in_vain(true);
  const std::vector<model::CriticalSection> sections = model::critical_sections(trace);
  const WakeCost cost = measure_wake_cost(trace, sections, find_woken(trace, sections));
  EXPECT_TRUE(cost.wakes_known);
  EXPECT_NEAR(static_cast<double>(cost.ns), 5000, 2);
  for (size_t s = 0; s < 3 * kTimes; ++s) {
    EXPECT_TRUE(cost.slept[s]) << s;
    EXPECT_EQ(cost.woke[s], s % 3 == 0) << s;
    EXPECT_NEAR(static_cast<double>(cost.recorded_ns[s]), s % 3 == 0 ? 5000 : 0, 4) << s;
  }
}

// Only the kernel shows which thread was woken in vain.
TEST(WakeCost, IsNotKnownWhereSomebodySleptAllTheTime) {
  const model::Trace trace = recorded_in_vain(false);
  const WakeCost cost = measured(trace);
  EXPECT_FALSE(cost.wakes_known);
  EXPECT_EQ(cost.ns, 0);
  EXPECT_EQ(cost.woke, cost.slept);
}

TEST(WakeCost, OfThoseWokenInVainGoesWithTheLock) {
  const model::Trace trace = recorded_in_vain(true);
  const Simulator simulator(trace);
  std::vector<SectionEdit> edits = unedited(simulator.sections());
  for (SectionEdit& edit : edits) edit.mode = SectionEdit::Mode::none;
  const base::Result<Simulation> changed = simulator.simulate({.edits = edits}, {});
  ASSERT_TRUE(changed) << changed.error().message;
  EXPECT_NEAR(static_cast<double>(changed->duration_ns), 1000 + 3 * kTimes * 1101.5 + kRestNs, 2000);
}

// x acquires a second lock, which is the one that y sleeps for: to release it costs what the first one did.
TEST(WakeCost, IsThatOfTheSecondLockToo) {
  const model::Trace trace = recorded_sleeps(6000);
  const Simulator simulator(trace);
  const base::Result<Simulation> unchanged = simulator.simulate({}, {});
  std::vector<SectionEdit> edits = unedited(simulator.sections());
  for (size_t s = 0; s < edits.size(); ++s) {
    if (simulator.sections()[s].thread.value == 0) edits[s].also = 1;
    if (simulator.sections()[s].thread.value == 1) edits[s].lock = 1;
  }
  const base::Result<Simulation> changed = simulator.simulate({.edits = edits}, {});
  ASSERT_TRUE(changed && unchanged);
  EXPECT_NEAR(static_cast<double>(changed->duration_ns), static_cast<double>(unchanged->duration_ns), 1000);
}

}  // namespace
}  // namespace contrafact::whatif
