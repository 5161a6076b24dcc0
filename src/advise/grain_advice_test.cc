#include "advise/grain_advice.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "improve/kinds/kinds.h"
#include "model/text_trace.h"

namespace contrafact::advise {
namespace {

constexpr std::string_view kRows =
    "fact cores 2\nmethod m1 shop.Main.main Main.java:1\nmethod m2 shop.Job.run Job.java:1\n"
    "context c1 - m1:7\ncontext c2 - m1:8\npool p thread_pool 2 2\nthread main\nthread w1\nthread w2\n";

model::Trace parsed_grains(const std::string& events) {
  base::Result<model::Trace> trace = model::parse_text(std::string(kRows) + events);
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().message);
  return trace.ok() ? *std::move(trace) : model::Trace();
}

// Main hands out `count` tasks of 1 us; each hand-out takes 10 us, so that the workers mostly wait for them.
model::Trace tiny_tasks(uint32_t count) {
  std::string text, workers[2];
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t at_ns = i * 10'000;
    text += fmt::format("{} main task_spawn t{} c1 p m2\n{} main task_handed\n", at_ns, i + 1, at_ns + 10'000);
    workers[i % 2] += fmt::format(
        "{0} w{1} worker_idle p\n{2} w{1} worker_busy p\n{2} w{1} task_start t{3}\n"
        "{4} w{1} task_complete t{3}\n{4} w{1} task_end t{3}\n",
        i < 2 ? at_ns + 1'000 : at_ns - 20'000 + 2'000, i % 2 + 1, at_ns + 1'000, i + 1, at_ns + 2'000);
  }
  const uint32_t end_ns = count * 10'000;
  for (uint32_t i = 0; i < count; ++i)
    text += fmt::format("{0} main wait_begin t{1} c2\n{0} main wait_end t{1}\n", end_ns, i + 1);
  return parsed_grains(text + workers[0] + workers[1]);
}

TEST(GrainAdvice, TinyTasksAreMerged) {
  const model::Trace trace = tiny_tasks(64);
  const model::Facts facts(trace);
  const Pricer pricer(facts, nullptr, {});
  ASSERT_TRUE(pricer.simulates());
  const std::vector<GrainCurve> curves = grain_curves(pricer, {});
  ASSERT_EQ(curves.size(), 1u);
  const GrainCurve& curve = curves[0];
  EXPECT_EQ(curve.before, 64u);
  ASSERT_TRUE(curve.gains());
  const GrainPoint& best = curve.points[curve.best];
  EXPECT_EQ(best.improvement.optimisation, improve::kinds::merge_tasks);
  // 64 us of work remain, and as many hand-outs as tasks: the run of 640 us gets several times shorter.
  EXPECT_GT(best.gain.share, 0.7);
  EXPECT_LE(best.setting, 16u);
  const std::vector<Advice> advices = grain_advices(pricer, curves);
  ASSERT_EQ(advices.size(), 1u);
  EXPECT_EQ(advices[0].verdict, Verdict::gain);
}

// Three tasks of 10 ms on two cores: the third runs alone.
model::Trace coarse_tasks() {
  return parsed_grains(
      "0 main task_spawn t1 c1 p m2\n0 main task_handed\n0 main task_spawn t2 c1 p m2\n0 main task_handed\n"
      "0 main task_spawn t3 c1 p m2\n0 main task_handed\n0 main wait_begin t3 c2\n20000000 main wait_end t3\n"
      "0 w1 worker_idle p\n0 w1 worker_busy p\n0 w1 task_start t1\n10000000 w1 task_complete t1\n10000000 w1 task_end "
      "t1\n"
      "10000000 w1 task_start t3\n20000000 w1 task_complete t3\n20000000 w1 task_end t3\n"
      "0 w2 worker_idle p\n0 w2 worker_busy p\n0 w2 task_start t2\n10000000 w2 task_complete t2\n10000000 w2 task_end "
      "t2\n");
}

TEST(GrainAdvice, CoarseTasksAreSplit) {
  const model::Trace trace = coarse_tasks();
  const model::Facts facts(trace);
  const Pricer pricer(facts, nullptr, {});
  ASSERT_TRUE(pricer.simulates());
  const std::vector<GrainCurve> curves = grain_curves(pricer, {});
  ASSERT_EQ(curves.size(), 1u);
  ASSERT_TRUE(curves[0].gains());
  const GrainPoint& best = curves[0].points[curves[0].best];
  EXPECT_EQ(best.improvement.optimisation, improve::kinds::split_tasks);
  EXPECT_NEAR(best.gain.share, 0.25, 0.01);
}

// Two tasks of 10 ms fill both cores already: no other number of tasks gains anything.
TEST(GrainAdvice, RightTasksStayAsTheyAre) {
  const model::Trace trace = parsed_grains(
      "0 main task_spawn t1 c1 p m2\n0 main task_handed\n0 main task_spawn t2 c1 p m2\n0 main task_handed\n"
      "0 main wait_begin t2 c2\n10000000 main wait_end t2\n"
      "0 w1 worker_idle p\n0 w1 worker_busy p\n0 w1 task_start t1\n10000000 w1 task_complete t1\n10000000 w1 task_end "
      "t1\n"
      "0 w2 worker_idle p\n0 w2 worker_busy p\n0 w2 task_start t2\n10000000 w2 task_complete t2\n10000000 w2 task_end "
      "t2\n");
  const model::Facts facts(trace);
  const Pricer pricer(facts, nullptr, {});
  for (const GrainCurve& curve : grain_curves(pricer, {})) EXPECT_FALSE(curve.gains());
}

// t1 runs t2 while it waits for it. Its thread is off the core for 2 ms meanwhile.
TEST(GrainAdvice, WhatNestedTasksAreOffTheCoreTogetherCountsOnce) {
  const model::Trace trace = parsed_grains(
      "cpu w1 3000000 5000000 blocked\n0 main task_spawn t1 c1 p m2\n0 main wait_begin t1 c2\n"
      "9000000 main wait_end t1\n9000000 main thread_end\n"
      "0 w1 worker_idle p\n0 w1 worker_busy p\n0 w1 task_start t1\n1000000 w1 task_spawn t2 c1 p m2\n"
      "1000000 w1 wait_begin t2 c2\n1000000 w1 task_start t2\n8000000 w1 task_complete t2\n8000000 w1 task_end t2\n"
      "8000000 w1 wait_end t2\n9000000 w1 task_complete t1\n9000000 w1 task_end t1\n9000000 w1 worker_idle p\n");
  const model::Facts facts(trace);
  const Pricer pricer(facts, nullptr, {});
  ASSERT_TRUE(pricer.simulates());
  const std::vector<GrainCurve> curves = grain_curves(pricer, {});
  ASSERT_EQ(curves.size(), 1u);
  EXPECT_EQ(curves[0].axis, GrainAxis::level);
  EXPECT_EQ(curves[0].blocked_ns, 2'000'000);
}

}  // namespace
}  // namespace contrafact::advise
