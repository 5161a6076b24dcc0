// What is left out of simulated runs: the recorder's work, other programs', and the virtual machine's for either.
#include "whatif/left_out.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "model/text_trace.h"
#include "whatif/sim_latency.h"
#include "whatif/simulate.h"

namespace contrafact::whatif {
namespace {

using model::EventKind;

model::Trace left_out_trace(const std::string& text) {
  base::Result<model::Trace> trace = model::parse_text(
      "fact cores 2\nmethod m1 shop.Main.main Main.java:1\nmethod m2 shop.Sum.compute Sum.java:1\ncontext c1 - m1:7\n"
      "pool p fork_join 2 2\nthread main\nthread w1\nthread w2\ncpu w2 0 1 blocked\n" +
      text);
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().message);
  return trace.ok() ? std::move(*trace) : model::Trace();
}

Simulation simulated_without(const model::Trace& trace, const LeftOut& left_out, const Variant& variant = {}) {
  const model::Facts facts(trace);
  base::Result<Simulation> result = Simulator(facts, left_out).simulate(variant);
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
  return result.ok() ? std::move(*result) : Simulation();
}

LeftOut recording(std::initializer_list<std::pair<EventKind, int64_t>> costs) {
  LeftOut left_out;
  for (const auto& [kind, ns] : costs) left_out.recording.set(kind, ns);
  return left_out;
}

// Main computes for 10 us between two forks, which nobody runs.
constexpr const char* kTwoForks =
    "0 main thread_begin\n10000 main task_spawn t1 c1 p m2\n20000 main task_spawn t2 c1 p m2\n30000 main thread_end\n";

TEST(LeftOut, EachKindOfEventTakesItsOwnTime) {
  const model::Trace trace = left_out_trace(kTwoForks);
  EXPECT_EQ(simulated_without(trace, {}).duration_ns, 30'000);
  EXPECT_EQ(
      simulated_without(trace, recording({{EventKind::task_spawn, 400}, {EventKind::thread_end, 30}})).duration_ns,
      30'000 - 2 * 400 - 30);
  EXPECT_EQ(simulated_without(trace, recording({{EventKind::task_start, 400}})).duration_ns, 30'000);
}

// An event's time may be read before the rest of the work for it, as where two events have one time.
TEST(LeftOut, WhatATimeIsTooShortForIsLeftOutOfTheNext) {
  const model::Trace trace =
      left_out_trace("0 main thread_begin\n10 main task_spawn t1 c1 p m2\n30000 main thread_end\n");
  EXPECT_EQ(simulated_without(trace, recording({{EventKind::task_spawn, 400}})).duration_ns, 30'000 - 400);
}

TEST(LeftOut, AWaitHasRoomForIt) {
  const model::Trace trace = left_out_trace(
      "0 main thread_begin\n10000 main wait_begin t9 c1\n20000 main wait_end t9 timeout\n30000 main thread_end\n");
  EXPECT_EQ(simulated_without(trace, recording({{EventKind::wait_end, 400}})).duration_ns, 30'000);
}

// Two threads, one of which lost its core for 1 ms of 3.
TEST(LeftOut, OtherProgramsLeaveTheCores) {
  const model::Trace trace = left_out_trace(
      "cpu main 1000000 2000000 preempted\n0 main thread_begin\n3000000 main thread_end\n"
      "0 w1 thread_begin\n2000000 w1 thread_end\n");
  EXPECT_EQ(simulated_without(trace, {}).duration_ns, 3'000'000);
  EXPECT_EQ(simulated_without(trace, {{}, true}).duration_ns, 3'000'000 - 1'000'000);
}

// w1 runs t1, which forks t2, and runs that itself while it waits for it.
constexpr const char* kForkAndHelp =
    "0 main thread_begin\n1000 main task_spawn t1 c1 p m2\n1000 main wait_begin t1 c1\n100000 main wait_end t1\n"
    "101000 main thread_end\n"
    "1000 w1 worker_busy p\n2000 w1 task_start t1\n12000 w1 task_spawn t2 c1 p m2\n"
    "14000 w1 wait_begin t2 c1\n14000 w1 task_start t2\n34000 w1 task_complete t2\n37000 w1 task_end t2\n"
    "37000 w1 wait_end t2\n87000 w1 task_complete t1\n87000 w1 task_end t1\n87000 w1 worker_idle p\n";

// From its completion to its end a task that is called takes nothing: 3 us are the library's.
TEST(LeftOut, ACalledTaskHasNothingOfWhatHandingItOverTook) {
  const model::Trace trace = left_out_trace(kForkAndHelp);
  Variant called;
  called.treatments.assign(trace.tasks.size(), Treatment::keep);
  called.treatments[1] = Treatment::inline_at_spawn;
  LeftOut all;
  all.recording = model::EventCosts(1);
  const int64_t before_ns = simulated_without(trace, {}, called).duration_ns;
  const int64_t after_ns = simulated_without(trace, all, called).duration_ns;
  EXPECT_NEAR(static_cast<double>(before_ns - after_ns), 3'000, 50);
  EXPECT_NEAR(static_cast<double>(simulated_without(trace, {}).duration_ns),
              static_cast<double>(simulated_without(trace, all).duration_ns), 50);
}

// Main starts w1 and w2, and is off its core for 50 us and for 900 us meanwhile; later it is off its core for 10 us more.
constexpr const char* kTwoStarts =
    "cpu main 10000 60000 blocked\ncpu main 110000 1010000 blocked\ncpu main 1500000 1510000 blocked\n"
    "0 main thread_begin\n0 main task_spawn t1 c1 - m2\n100000 main task_spawn t2 c1 - m2\n"
    "1200000 main wait_begin t1 c1\n1200000 main wait_end t1\n2000000 main thread_end\n"
    "20000 w1 thread_begin\n20000 w1 task_start t1\n70000 w1 task_end t1\n70000 w1 thread_end\n"
    "700000 w2 thread_begin\n700000 w2 task_start t2\n770000 w2 task_end t2\n770000 w2 thread_end\n";

TEST(LeftOut, StartingAThreadTakesWhatTheShorterStartsTook) {
  const model::Trace trace = left_out_trace(kTwoStarts);
  EXPECT_EQ(start_pause_ns(trace, 0.5), 50'000);
  EXPECT_EQ(start_pause_ns(trace, 1), 900'000);
  EXPECT_EQ(start_pause_ns(left_out_trace(kTwoForks), 0.5), 0) << "no thread is started";
}

// Others had a core for 200 us of 2000 (on two cores, 5 %) while main wanted it: its long start may have waited for them.
TEST(LeftOut, AStartThatMayHaveWaitedForOtherProgramsDoesNot) {
  const model::Trace quiet = left_out_trace(kTwoStarts);
  EXPECT_EQ(simulated_without(quiet, {{}, true}).duration_ns, 2'000'000) << "nobody else had a core";
  const model::Trace busy = left_out_trace(std::string(kTwoStarts) + "cpu main 1600000 1800000 preempted\n");
  EXPECT_EQ(simulated_without(busy, {{}, true}).duration_ns, 2'000'000 - 200'000 - (900'000 - 50'000));
}

}  // namespace
}  // namespace contrafact::whatif
