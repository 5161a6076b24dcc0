// Which wake-ups hold a variant back, and what a variant's tasks take.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/text_trace.h"
#include "whatif/estimate.h"
#include "whatif/optimisations_for_test.h"
#include "whatif/search.h"
#include "whatif/sim_wakes.h"

namespace contrafact::whatif {
namespace {

using model::Trace;
using ::testing::HasSubstr;

// main hands out a task and waits for it; between its start and its end the task is in a block. The wake-ups are
// main's.
std::string block_text(std::string_view reason, std::string_view context, int64_t wake_ns) {
  return fmt::format(R"(thread main
thread w1
pool p1 thread_pool 1
method m1 shop.Main.main Main.java:10
method m2 shop.Main.lambda Main.java:5
method m3 java.util.concurrent.locks.ReentrantLock.lock ReentrantLock.java:322
method m4 java.util.concurrent.CountDownLatch.await CountDownLatch.java:232
context c1 - m1:11
context c2 - m2:6
context lock c2 m3:322
context latch c2 m4:232
0 main thread_begin
0 w1 thread_begin
0 w1 worker_idle p1
10 main task_spawn t1 c1 p1 m2
{} main wake w1
60 main wait_begin t1 c1
14 w1 worker_busy p1
15 w1 task_start t1
20 w1 block_begin {} {}
50 w1 block_end {}
75 w1 task_complete t1
76 w1 task_end t1
77 w1 worker_idle p1
80 main wait_end t1
90 main thread_end
90 w1 worker_busy p1
90 w1 thread_end
)",
                     wake_ns, reason, context, reason);
}

Trace with_block(std::string_view reason, std::string_view context, int64_t wake_ns) {
  base::Result<Trace> trace = model::parse_text(block_text(reason, context, wake_ns));
  EXPECT_TRUE(trace.ok()) << trace.error().message;
  return trace.ok() ? *std::move(trace) : Trace{};
}

base::Result<Estimate> inlined(const Trace& trace) {
  base::Result<Estimator> estimator = Estimator::create(trace);
  EXPECT_TRUE(estimator.ok());
  Improvement improvement{.optimisation = &kInline};
  improvement.tasks = {model::TaskId(0)};
  return estimator->estimate(std::span(&improvement, 1));
}

size_t causes_simulated(const Trace& trace) {
  return match_wakes(trace).count;
}

TEST(Causes, WhoeverWakesAnIdleWorkerEndsNoSleepOfItsTask) {
  EXPECT_TRUE(inlined(with_block("sleep", "c2", 12)).ok());
}

TEST(Causes, ALatchThatTheSpawnerOpensLaterMakesAnInlinedTaskWaitForItself) {
  Trace trace = with_block("park", "latch", 45);
  base::Result<Estimate> estimate = inlined(trace);
  ASSERT_FALSE(estimate.ok());
  EXPECT_THAT(estimate.error().message, HasSubstr("would deadlock"));
  EXPECT_EQ(causes_simulated(trace), 1u);
}

TEST(Causes, ALockThatTheSpawnerHappenedToHoldDoesNot) {
  Trace trace = with_block("park", "lock", 45);
  EXPECT_TRUE(inlined(trace).ok());
  EXPECT_EQ(causes_simulated(trace), 0u);
}

// The task serves a connection whose other end is main's: run by main at once, it would wait for what main sends later.
TEST(Causes, ARequestThatTheSpawnerSendsLaterMakesAnInlinedTaskWaitForItself) {
  std::string text = block_text("io", "c2", 12);
  const auto put = [&](std::string_view before, std::string_view line) {
    const size_t at = text.find(before);
    ASSERT_NE(at, std::string::npos);
    text.insert(at, line);
  };
  put("0 main thread_begin", "connection a accepted 80 5001\nconnection o connected 5001 80\n");
  put("60 main wait_begin", "45 main send o 8\n");
  put("75 w1 task_complete", "51 w1 receive a 8\n");
  base::Result<Trace> trace = model::parse_text(text);
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  base::Result<Estimate> estimate = inlined(*trace);
  ASSERT_FALSE(estimate.ok());
  EXPECT_THAT(estimate.error().message, HasSubstr("would deadlock"));
  EXPECT_EQ(causes_simulated(*trace), 1u);
}

TEST(Response, IsFromTheHandOutToTheResult) {
  base::Result<Estimator> estimator = Estimator::create(with_block("sleep", "c2", 12));
  ASSERT_TRUE(estimator.ok());
  EXPECT_EQ(estimator->base().mean_response_ns, 65.0);
}

// A time-out of 10 ms that is cancelled as soon as the result is there, as orTimeout makes one: it was nobody's
// request.
TEST(Response, IsNotOfATaskThatWasCancelledBeforeItWasDue) {
  std::string text = block_text("sleep", "c2", 12);
  const size_t at = text.find("60 main wait_begin");
  ASSERT_NE(at, std::string::npos);
  text.insert(at, "52 main task_spawn t9 c1 p1 m2\n52 main task_delay t9 10000\n54 main task_complete t9 cancelled\n");
  base::Result<Trace> trace = model::parse_text(text);
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  base::Result<Estimator> estimator = Estimator::create(*trace);
  ASSERT_TRUE(estimator.ok());
  EXPECT_EQ(estimator->base().mean_response_ns, 65.0);
  Improvement improvement{.optimisation = &kInline};
  improvement.tasks = {model::TaskId(0)};
  base::Result<Estimate> estimate = estimator->estimate(std::span(&improvement, 1));
  ASSERT_TRUE(estimate.ok());
  EXPECT_GT(estimate->figures.mean_response_ns, 0);
}

TEST(Filters, MuchSlowerTasksDoNotPassThoughTheRunIsNoLonger) {
  const Figures base{.duration_ns = 1000, .mean_response_ns = 100};
  EXPECT_TRUE(passes_filters({.duration_ns = 1000, .mean_response_ns = 105}, base));
  EXPECT_FALSE(passes_filters({.duration_ns = 1000, .mean_response_ns = 106}, base));
  EXPECT_FALSE(passes_filters({.duration_ns = 1001, .mean_response_ns = 100}, base));
}

TEST(Filters, LossesPassAsFarAsAskedFor) {
  const Figures base{.duration_ns = 1000, .mean_response_ns = 100};
  EXPECT_TRUE(passes_filters({.duration_ns = 1030, .mean_response_ns = 100}, base, 0.03));
  EXPECT_FALSE(passes_filters({.duration_ns = 1031, .mean_response_ns = 100}, base, 0.03));
  EXPECT_TRUE(passes_filters({.duration_ns = 1100, .mean_response_ns = 110}, base, 0.1));
  EXPECT_FALSE(passes_filters({.duration_ns = 1000, .mean_response_ns = 106}, base, 0.03));
}

}  // namespace
}  // namespace contrafact::whatif
