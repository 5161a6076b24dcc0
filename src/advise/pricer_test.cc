#include "advise/pricer.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "advise/headline.h"
#include "advise/verdict.h"
#include "improve/kinds/kinds.h"
#include "model/text_trace.h"

namespace contrafact::advise {
namespace {

using whatif::Improvement;
using whatif::section_improvement;

// One improvement of critical sections, by all models.
struct Priced {
  whatif::SectionGains bounds;
  SimulatedEffect simulated;
};

struct Case {
  explicit Case(const std::string& text) : trace(*model::parse_text(text)) {}
  base::Result<Priced> price(const Improvement& improvement) {
    const Pricer pricer(facts, &sections, {});
    EXPECT_TRUE(pricer.simulates());
    EXPECT_EQ(pricer.baseline()->retimed_ns, sections.graph.duration_ns());
    base::Result<whatif::SectionGains> bounds = pricer.section_gains({&improvement, 1});
    if (!bounds) return bounds.error();
    base::Result<SimulatedEffect> simulated = pricer.simulate({&improvement, 1});
    if (!simulated) return simulated.error();
    return Priced{*bounds, *simulated};
  }
  model::Trace trace;
  model::Facts facts{trace};
  analysis::SectionFacts sections{facts};
};

// x holds the lock for 40 us; y, which asks 10 us later, waits for it and needs 40 us itself. Both then end.
std::string two_holds(const std::string& set) {
  return "fact agent native\nfact cores 2\nlock l mutex\naccess_set s complete " + set +
         "\nthread x\nthread y\n0 x thread_begin\n0 y thread_begin\n10000 x lock_acquire l\n"
         "20000 y lock_request l\n50000 x accesses s\n50000 x lock_release l\n50000 y lock_acquired l\n"
         "60000 x thread_end\n90000 y accesses s\n90000 y lock_release l\n100000 y thread_end\n";
}

TEST(Pricer, ReadersRunSideBySideUnderEveryBound) {
  Case run(two_holds("0+8:r"));
  const auto estimate = run.price(section_improvement(improve::kinds::reader_writer_lock, {0, 1}));
  ASSERT_TRUE(estimate.ok()) << estimate.error().message;
  EXPECT_NEAR(estimate->bounds.recorded_order, 0.3, 1e-9);  // y ends at 70 us
  ASSERT_TRUE(estimate->bounds.floor.has_value());
  EXPECT_NEAR(*estimate->bounds.floor, 0.3, 1e-9);
  EXPECT_FALSE(estimate->simulated.stuck);
  EXPECT_NEAR(estimate->simulated.gain, 0.3, 0.01);
  EXPECT_LE(estimate->simulated.drawn_low, estimate->simulated.gain);
  EXPECT_GE(estimate->simulated.drawn_high, estimate->simulated.gain);
}

// 130 ns for each of the two, of 1 us on two cores; of 100 us that is nothing worth telling.
TEST(Pricer, SectionsThatNoLongerExcludeEachOtherTakeFromEachOthersCaches) {
  Case brief(
      "fact agent native\nfact cores 2\nlock l mutex\naccess_set s complete 0+8:r\nthread x\nthread y\n"
      "0 x thread_begin\n0 y thread_begin\n100 x lock_acquire l\n200 y lock_request l\n500 x accesses s\n"
      "500 x lock_release l\n500 y lock_acquired l\n600 x thread_end\n900 y accesses s\n900 y lock_release l\n"
      "1000 y thread_end\n");
  const whatif::Improvement readers = section_improvement(improve::kinds::reader_writer_lock, {0, 1});
  const auto made_brief = brief.price(readers);
  ASSERT_TRUE(made_brief.ok()) << made_brief.error().message;
  EXPECT_NEAR(made_brief->simulated.between_cores, 0.13, 1e-6);
  const auto shorter = brief.price(section_improvement(improve::kinds::shorten_section, {0}, {}, {0}, {100}));
  ASSERT_TRUE(shorter.ok()) << shorter.error().message;
  EXPECT_EQ(shorter->simulated.between_cores, 0);
  Case longer(two_holds("0+8:r"));
  const auto made_longer = longer.price(readers);
  ASSERT_TRUE(made_longer.ok()) << made_longer.error().message;
  EXPECT_EQ(made_longer->simulated.between_cores, 0);
}

TEST(Pricer, TheFloorIsWhatConflictsAllow) {
  Case run(two_holds("0+8:rwc"));
  const auto dropped = run.price(section_improvement(improve::kinds::drop_lock, {0, 1}));
  ASSERT_TRUE(dropped.ok()) << dropped.error().message;
  EXPECT_NEAR(dropped->bounds.recorded_order, 0.3, 1e-9);
  EXPECT_NEAR(dropped->bounds.floor.value_or(1), 0, 1e-9);
  const auto shorter = run.price(section_improvement(improve::kinds::shorten_section, {0}, {}, {0}, {10'000}));
  ASSERT_TRUE(shorter.ok()) << shorter.error().message;
  EXPECT_NEAR(shorter->bounds.recorded_order, 0.1, 1e-9);
  EXPECT_FALSE(shorter->bounds.floor.has_value());
}

TEST(Pricer, AnImpossibleChangeIsAnError) {
  Case run(two_holds("0+8:r"));
  EXPECT_FALSE(run.price(section_improvement(improve::kinds::drop_lock, {7})).ok());
}

// ---- Tasks of a JVM

// Main hands t1 out 10 us after its last event, computes for 1990, and waits for it. w1 computes for 2000; others have
// its core for `others_us` of them.
model::Trace beside_others(int others_us) {
  std::string text =
      "fact cores 2\nmethod m1 shop.Main.main Main.java:1\nmethod m2 shop.Job.run Job.java:1\ncontext c1 - m1:7\n"
      "pool p thread_pool 1 1\nthread main\nthread w1\n"
      "cpu main 2000000 2000001 blocked\n"
      "0 main thread_begin\n0 main task_spawn t1 c1 p m2\n10000 main block_begin sleep c1\n10000 main block_end sleep\n"
      "2000000 main wait_begin t1 c1\n2000001 main wait_end t1\n2000001 main thread_end\n"
      "0 w1 task_start t1\n2000000 w1 task_complete t1\n2000000 w1 task_end t1\n";
  if (others_us > 0) text += "cpu w1 0 " + std::to_string(others_us * 1000) + " preempted\n";
  return *model::parse_text(text);
}

SimulatedEffect inlined(const model::Trace& trace) {
  Improvement improvement{.optimisation = improve::kinds::convert_to_inline};
  improvement.tasks = {model::TaskId(0)};
  const model::Facts facts(trace);
  const Pricer pricer(facts, nullptr, {});
  base::Result<SimulatedEffect> effect = pricer.simulate({&improvement, 1});
  EXPECT_TRUE(effect.ok()) << (effect.ok() ? "" : effect.error().message);
  return effect.ok() ? *effect : SimulatedEffect();
}

TEST(Pricer, WhatHangsOnTheMomentIsInDoubtWhereFewerThreadsCompute) {
  EXPECT_EQ(inlined(beside_others(0)).doubt, 0);
  // Others had 400 of 4000 us of the cores. Two threads computed at a time, or a little less; one does.
  const model::Trace trace = beside_others(400);
  const SimulatedEffect effect = inlined(trace);
  EXPECT_NEAR(effect.doubt, 0.1 * 0.5 * (1 - effect.gain), 0.01);
  EXPECT_NEAR(gain_of({.error = 0, .trusted = true}, effect).low, effect.gain - effect.doubt, 1e-12);
  EXPECT_NEAR(gain_of({.error = 0.001, .trusted = true}, effect).low, effect.gain - effect.doubt, 1e-12);
}

TEST(Pricer, NoIntervalOfAJvmIsNarrowerThanPredictionsUsuallyAreOff) {
  const SimulatedEffect effect = inlined(beside_others(0));
  EXPECT_EQ(effect.doubt, 0);
  const Gain gain = gain_of({.error = 0, .trusted = true}, effect);
  EXPECT_NEAR(gain.share - gain.low, 0.01 + 0.1 * std::fabs(gain.share), 1e-12);
  EXPECT_NEAR(gain.high - gain.share, 0.01 + 0.1 * std::fabs(gain.share), 1e-12);
  EXPECT_NEAR(gain.share - gain_of({.error = 0.3, .trusted = true}, effect).low, 0.3, 1e-12);  // what is known counts
  EXPECT_EQ(verdict_of({.simulated = effect}, whatif::BaselineCheck{.trusted = true}),
            std::fabs(effect.gain) < kGainMin ? Verdict::no_gain
            : effect.gain < 0                 ? Verdict::loss
                                              : Verdict::gain);
}

// The one gap of the pool is the shortest one, so all of it is hand-out.
TEST(Pricer, HandingOutThatHidesInCodeMayBeGainedBesides) {
  EXPECT_EQ(inlined(beside_others(0)).more, 0);
  model::Trace trace = *model::parse_text(
      "fact cores 2\nmethod m1 shop.Main.main Main.java:1\nmethod m2 shop.Job.run Job.java:1\ncontext c1 - m1:7\n"
      "pool p thread_pool 1 1\nthread main\nthread w1\n0 main task_spawn t1 c1 p m2\n1000 main task_spawn t2 c1 p m2\n"
      "41000 main wait_begin t2 c1\n100000 main wait_end t2\n100000 main thread_end\n"
      "2000 w1 task_start t1\n50000 w1 task_complete t1\n50000 w1 task_end t1\n"
      "50000 w1 task_start t2\n100000 w1 task_complete t2\n100000 w1 task_end t2\n");
  Improvement improvement{.optimisation = improve::kinds::convert_to_inline};
  improvement.tasks = {model::TaskId(0), model::TaskId(1)};
  const model::Facts facts(trace);
  const Pricer pricer(facts, nullptr, {});
  const base::Result<SimulatedEffect> effect = pricer.simulate({&improvement, 1});
  ASSERT_TRUE(effect.ok()) << effect.error().message;
  // 1 us each is sure; of the 40 after t2's spawn 39 may be the program's own.
  EXPECT_NEAR(effect->more, 0.39, 0.01);
}

// One worker runs two tasks of 100 ms, and the compiler has the other core for 180 of the 200. A second worker gains
// less time than the compiler may need in addition.
TEST(Pricer, WhatTheCompilerLeavesIsInDoubt) {
  const auto trace_with = [](std::string_view more) {
    return *model::parse_text(
        "fact cores 2\nmethod m1 shop.Main.main Main.java:1\nmethod m2 shop.Job.run Job.java:1\ncontext c1 - m1:7\n"
        "pool p thread_pool 1 1\nthread main\nthread w1\n" +
        std::string(more) +
        "cpu main 0 200000000 blocked\n"
        "0 main task_spawn t1 c1 p m2\n0 main task_spawn t2 c1 p m2\n0 main wait_begin t1 c1\n"
        "100000000 main wait_end t1\n100000000 main wait_begin t2 c1\n200000000 main wait_end t2\n"
        "200000000 main thread_end\n"
        "0 w1 worker_idle p\n0 w1 worker_busy p\n0 w1 task_start t1\n100000000 w1 task_complete t1\n"
        "100000000 w1 task_end t1\n100000000 w1 task_start t2\n200000000 w1 task_complete t2\n"
        "200000000 w1 task_end t2\n200000000 w1 worker_idle p\n");
  };
  Improvement two;
  two.optimisation = improve::kinds::pool_size;
  two.pool = model::PoolId(0);
  two.size_before = 1;
  two.size_after = 2;
  const auto gain_with = [&](std::string_view more) {
    const model::Trace trace = trace_with(more);
    const model::Facts facts(trace);
    const Pricer pricer(facts, nullptr, {});
    return gain_of(*pricer.baseline(), *pricer.simulate({&two, 1}));
  };
  const Gain alone = gain_with("");
  EXPECT_NEAR(alone.share, 0.5, 0.01);
  EXPECT_GT(alone.low, 0.4);
  const Gain beside = gain_with("vm_ran 0 180000000\n");
  EXPECT_LT(beside.share, 0.1);
  EXPECT_LT(beside.low, 0);
}

// Ten times a pool of one is made for one task: starting its thread takes 140 of some 300 us.
TEST(Headline, OfPoolsWhoseThreadsTakeLongToStartIsSimulated) {
  std::string text =
      "fact cores 2\nmethod m1 shop.Main.main Main.java:1\nmethod m2 shop.Job.run Job.java:1\n"
      "method m3 java.util.concurrent.ThreadPoolExecutor$Worker.run T.java:1\ncontext c1 - m1:7\nthread main\n";
  for (int i = 0; i < 10; ++i) text += fmt::format("pool p{} thread_pool 1 1\nthread w{}\n", i, i);
  text += "0 main thread_begin\n";
  for (int i = 0; i < 10; ++i) {
    const auto line = [&](int us, std::string_view what) {
      text += fmt::format("{} {}\n", 1000 * (300 * i + us), what);
    };
    line(0, fmt::format("main task_spawn t{} c1 p{} m2", i, i));
    line(20, fmt::format("main task_spawn r{} c1 - m3", i));
    line(160, fmt::format("main pool_size p{} 1", i));
    line(170, fmt::format("main wait_begin t{} c1", i));
    line(280, fmt::format("main wait_end t{}", i));
    line(200, fmt::format("w{} task_start r{}", i, i));
    line(210, fmt::format("w{} task_start t{}", i, i));
    line(270, fmt::format("w{} task_complete t{}", i, i));
    line(270, fmt::format("w{} task_end t{}", i, i));
    line(290, fmt::format("w{} task_end r{}", i, i));
  }
  const model::Trace trace = *model::parse_text(text + "3100000 main thread_end\n");
  const model::Facts facts(trace);
  const Pricer pricer(facts, nullptr, {});
  const Shortage shortage = shortage_of(pricer, usage_of(facts));
  EXPECT_THAT(shortage.reasons, testing::Contains(testing::HasSubstr("starting the threads of pools took 4")));
  EXPECT_EQ(headline_of(pricer, shortage).model, model::Origin::simulated);
}

}  // namespace
}  // namespace contrafact::advise
