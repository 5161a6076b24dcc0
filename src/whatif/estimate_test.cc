#include "whatif/estimate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/text_trace.h"
#include "whatif/trace_for_test.h"

namespace contrafact::whatif {
namespace {

using model::TaskId;
using model::Trace;
using ::testing::HasSubstr;

// The events of the estimated trace, without its tables.
std::string events_of(const Trace& trace) {
  std::string text = model::print_text(trace), events;
  size_t at = 0;
  while (at < text.size()) {
    size_t end = text.find('\n', at);
    if (text[at] >= '0' && text[at] <= '9') events += text.substr(at, end + 1 - at);
    at = end + 1;
  }
  return events;
}

std::string estimated_events(const Trace& trace, std::vector<Improvement> improvements) {
  const Estimator estimator = estimator_of(trace);
  base::Result<Estimate> estimate = estimator.estimate(improvements, {.trace = true});
  EXPECT_TRUE(estimate.ok()) << estimate.error().message;
  if (!estimate) return "";
  EXPECT_TRUE(model::verify(*estimate->trace).ok());
  EXPECT_EQ(estimate->trace->end_ns() - estimate->trace->begin_ns(), estimate->figures.duration_ns);
  return events_of(*estimate->trace);
}

// Rehype's figure 2: queryAge asks a pool for a record and waits for it at once.
constexpr std::string_view kFigure2 = R"(thread main
thread w1
pool p1 thread_pool 1
method m1 AgeQuerier.queryAge AgeQuerier.java:10
method m2 AgeQuerier.lambda AgeQuerier.java:5
context c1 - m1:11
0 main thread_begin
0 w1 thread_begin
0 w1 worker_idle p1
5 main method_enter m1
10 main task_spawn t1 c1 p1 m2
12 main wait_begin t1 c1
14 w1 worker_busy p1
15 w1 task_start t1
20 w1 method_enter m2
70 w1 method_exit m2
75 w1 task_complete t1
76 w1 task_end t1
77 w1 worker_idle p1
80 main wait_end t1
90 main method_exit m1
100 main thread_end
100 w1 worker_busy p1
100 w1 thread_end
)";

TEST(Estimate, UnchangedGivesTheRecordedTrace) {
  const Trace trace = trace_of(kFigure2);
  EXPECT_EQ(estimated_events(trace, {}), events_of(trace));
  const Figures base = estimator_of(trace).base();
  EXPECT_EQ(base.duration_ns, 100);
  EXPECT_EQ(base.peak_occupied, 2u);
  EXPECT_EQ(base.peak_active, 1u);
}

TEST(Estimate, OfARunWithoutTasks) {
  const Trace trace = trace_of("thread main\n0 main thread_begin\n700 main thread_end\n");
  const Estimator estimator = estimator_of(trace);
  base::Result<Estimate> estimate = estimator.estimate({}, {.interval = true});
  ASSERT_TRUE(estimate.ok()) << estimate.error().message;
  EXPECT_EQ(estimator.base().duration_ns, 700);
  EXPECT_EQ(estimate->figures.duration_ns, 700);
  EXPECT_EQ(estimate->duration_low_ns, 700);
  EXPECT_EQ(estimate->duration_high_ns, 700);
}

TEST(Estimate, InlineOfFigure2) {
  // The body takes its 61 ns from 10 on; handing out cost 2, which goes; so main asks at 71, gets it at once, and has
  // 10 ns to the method's end and 10 more to its own.
  EXPECT_EQ(estimated_events(trace_of(kFigure2), {improvement(&kInline, {1})}),
            R"(0 main thread_begin
5 main method_enter m1
10 main task_start t1
15 main method_enter m2
65 main method_exit m2
70 main task_complete t1
71 main task_end t1
71 main wait_begin t1 c1
71 main wait_end t1
81 main method_exit m1
91 main thread_end
)");
}

// Rehype's figure 3: a coordinator t1 on w1 spawns t2 and t3, and adds up their results.
constexpr std::string_view kFigure3 = R"(thread main
thread w1
thread w2
thread w3
pool p1 thread_pool 3
method m1 Example.main Example.java:3
method m2 Example.parallelSum Example.java:10
method m3 Example.longOperation1 Example.java:20
method m4 Example.longOperation2 Example.java:30
context c1 - m1:4
context c2 - m2:11
context c3 - m2:12
context c4 - m2:13
0 main thread_begin
0 w1 worker_idle p1
0 w2 worker_idle p1
0 w3 worker_idle p1
10 main task_spawn t1 c1 p1 m2
20 main wait_begin t1 c1
15 w1 worker_busy p1
16 w1 task_start t1
20 w1 task_spawn t2 c2 p1 m3
24 w1 task_spawn t3 c3 p1 m4
28 w1 wait_begin t2 c4
25 w2 worker_busy p1
26 w2 task_start t2
66 w2 task_complete t2
67 w2 task_end t2
68 w2 worker_idle p1
29 w3 worker_busy p1
30 w3 task_start t3
90 w3 task_complete t3
91 w3 task_end t3
92 w3 worker_idle p1
70 w1 wait_end t2
72 w1 wait_begin t3 c4
95 w1 wait_end t3
100 w1 task_complete t1
101 w1 task_end t1
102 w1 worker_idle p1
106 main wait_end t1
120 main thread_end
120 w1 worker_busy p1
120 w1 thread_end
120 w2 worker_busy p1
120 w2 thread_end
120 w3 worker_busy p1
120 w3 thread_end
)";

// As WhatIsCalledWakesNobody of the simulation: 5 us of work and 8 of main's own code are left of each round of 20.
TEST(Estimate, WhatIsCalledWakesNobody) {
  std::string text =
      "method m1 shop.Main.main Main.java:1\nmethod m2 shop.Job.run Job.java:1\ncontext c1 - m1:7\n"
      "pool p thread_pool 1 1\nthread main\nthread w\n0 w worker_idle p\n";
  std::vector<uint32_t> tasks;
  for (int64_t i = 0; i < 10; ++i) {
    const std::string task = " t" + std::to_string(i + 1);
    const auto at = [&](int64_t ns, const std::string& what) {
      text += std::to_string(i * 20'000 + ns) + " " + what + "\n";
    };
    at(0, "main task_spawn" + task + " c1 p m2");
    at(10, "main wake w");
    at(2'010, "main wait_begin" + task + " c1");
    at(3'000, "w worker_busy p");
    at(3'000, "w task_start" + task);
    at(8'000, "w task_complete" + task);
    at(8'000, "w wake main");
    at(10'000, "w task_end" + task);
    at(10'000, "w worker_idle p");
    at(12'000, "main wait_end" + task);
    tasks.push_back(static_cast<uint32_t>(i + 1));
  }
  const Trace trace = trace_of(text + "200000 main thread_end\n");
  const Estimator estimator = estimator_of(trace);
  EXPECT_EQ(estimator.base().duration_ns, 200'000);
  base::Result<Estimate> estimate = estimator.estimate(std::vector{improvement(&kInline, tasks)}, {.trace = true});
  ASSERT_TRUE(estimate.ok()) << estimate.error().message;
  EXPECT_EQ(estimate->figures.duration_ns, 130'000);
  EXPECT_TRUE(model::verify(*estimate->trace).ok());
}

TEST(Estimate, UnchangedFigure3) {
  const Trace trace = trace_of(kFigure3);
  EXPECT_EQ(estimated_events(trace, {}), events_of(trace));
  const Figures base = estimator_of(trace).base();
  EXPECT_EQ(base.peak_occupied, 4u);
  EXPECT_EQ(base.peak_waiting, 2u);
}

TEST(Estimate, CombinatorOfFigure3) {
  // The first part of t1 takes its 12 ns on main, from 10 on. t2 is spawned 4 ns into it, at 14, and starts 6 ns later,
  // at 20; t3 at 18, and starts at 24. The parts after the waits run where the sub-tasks complete: t2 at 60 on w2 (2
  // ns), t3 at 84 on w3, where the sum takes 5 ns and completes t1 at 89. Main asks from 22 + 10 - 10 (the hand-out) =
  // 22 on and wakes up 6 ns after the completion, as recorded, at 95, and needs 14 more.
  EXPECT_EQ(estimated_events(trace_of(kFigure3), {improvement(&kCombinator, {1})}),
            R"(0 main thread_begin
0 w2 worker_idle p1
0 w3 worker_idle p1
10 main task_start t1
14 main task_spawn t2 c2 p1 m3
18 main task_spawn t3 c3 p1 m4
19 w2 worker_busy p1
20 w2 task_start t2
22 main task_end t1
23 w3 worker_busy p1
24 w3 task_start t3
28 main wait_begin t1 c1
60 w2 task_complete t2
60 w2 task_start t4
62 w2 task_end t4
63 w2 task_end t2
64 w2 worker_idle p1
84 w3 task_complete t3
84 w3 task_start t5
89 w3 task_complete t1
90 w3 task_end t5
91 w3 task_end t3
92 w3 worker_idle p1
95 main wait_end t1
109 main thread_end
109 w2 worker_busy p1
109 w2 thread_end
109 w3 worker_busy p1
109 w3 thread_end
)");
}

TEST(Estimate, CombinatorFreesAThread) {
  const Trace trace = trace_of(kFigure3);
  base::Result<Estimate> estimate = estimator_of(trace).estimate(std::vector{improvement(&kCombinator, {1})});
  ASSERT_TRUE(estimate.ok());
  EXPECT_EQ(estimate->figures.peak_occupied, 3u);
  EXPECT_EQ(estimate->figures.peak_waiting, 1u);
  EXPECT_EQ(estimate->figures.duration_ns, 109);
}

TEST(Estimate, HoistOfOneSubTask) {
  // t2 runs on w1 from 20 to 61; handing it out cost 4, which goes, so t3 is spawned at 61 and starts 6 later, at 67.
  Improvement hoist = improvement(&kInline, {2});
  hoist.context_tasks = 2;
  const std::string events = estimated_events(trace_of(kFigure3), {hoist});
  EXPECT_THAT(
      events,
      HasSubstr("20 w1 task_start t2\n60 w1 task_complete t2\n61 w1 task_end t2\n61 w1 task_spawn t3 c3 p1 m4\n"));
  EXPECT_THAT(events, HasSubstr("0 w3 worker_idle p1\n"));
  EXPECT_THAT(events, HasSubstr("67 w3 task_start t3\n127 w3 task_complete t3\n"));
  EXPECT_THAT(events, HasSubstr("132 w1 wait_end t3\n137 w1 task_complete t1\n"));
  EXPECT_THAT(events, HasSubstr("157 main thread_end\n"));
}

TEST(Estimate, InlineOfOuterAndInner) {
  // Everything runs on main: 10 t1, 14 t2 (41 ns), 55 t3 (61 ns), 116 the waits.
  const std::string events =
      estimated_events(trace_of(kFigure3), {improvement(&kInline, {1}), improvement(&kInline, {2, 3})});
  EXPECT_THAT(events,
              HasSubstr("10 main task_start t1\n14 main task_start t2\n54 main task_complete t2\n"
                        "55 main task_end t2\n55 main task_start t3\n115 main task_complete t3\n116 main task_end t3\n"
                        "116 main wait_begin t2 c4\n"));
  EXPECT_THAT(events, testing::Not(HasSubstr("w1 task_start")));
}

TEST(Estimate, CombinatorAroundAnInlinedSubTask) {
  // t2 is inlined into t1's first part on main, so its wait is over at once; only the wait for t3 ends a part.
  const std::string events =
      estimated_events(trace_of(kFigure3), {improvement(&kCombinator, {1}), improvement(&kInline, {2})});
  EXPECT_THAT(events, HasSubstr("10 main task_start t1\n14 main task_start t2\n"));
  EXPECT_THAT(events, HasSubstr("w3 task_complete t3\n"));
  EXPECT_THAT(events, HasSubstr("w3 task_start t4\n"));
  EXPECT_THAT(events, testing::Not(HasSubstr("t5")));
}

TEST(Estimate, RefusesWhatWouldWaitForItself) {
  // t1 waits for t2, which main spawns only after t1: inlined, t1 would never end.
  const Trace trace = trace_of(R"(thread main
thread w1
thread w2
pool p1 thread_pool 2
method m1 A.first A.java:1
method m2 A.second A.java:2
0 main task_spawn t1 - p1 m1
1 w1 task_start t1
2 main task_spawn t2 - p1 m2
3 w1 wait_begin t2
3 w2 task_start t2
9 w2 task_end t2
10 w1 wait_end t2
11 w1 task_end t1
12 main thread_end
)");
  const Estimator estimator = estimator_of(trace);
  base::Result<Estimate> estimate = estimator.estimate(std::vector{improvement(&kInline, {1})});
  ASSERT_FALSE(estimate.ok());
  EXPECT_EQ(
      estimate.error().message,
      "would deadlock: task 0 (A.first (A.java:1)) waits for task 1 (A.second (A.java:2)), which cannot run before it");
}

// A task of pool p attaches a stage to t2, which another worker has completed by then.
constexpr std::string_view kLateStage = R"(thread main
thread w1
thread w2
pool p thread_pool 2
method m1 A.attaches A.java:1
method m2 A.source A.java:2
method m3 A.slow A.java:3
0 main task_spawn t1 - p m1
10 main task_spawn t4 - p m3
20 main task_spawn t2 - p m2
30 w2 task_start t2
100 w1 task_start t1
140 w2 task_complete t2
141 w2 task_end t2
150 w2 task_start t4
200 w1 task_create t3 -
200 w1 task_depends t3 t2 all
205 w1 task_start t3
215 w1 task_complete t3
216 w1 task_end t3
240 w1 task_complete t1
241 w1 task_end t1
5150 w2 task_end t4
5200 main thread_end
)";

TEST(Estimate, AStageWhoseSourceIsLateDoesNotHoldTheTaskAroundIt) {
  // With t4 on main, t2 is spawned 5000 ns later, long after t1 attaches its stage: t1 is as long as before without the
  // stage, and the stage runs when t2 has completed.
  const Trace trace = trace_of(kLateStage);
  const Estimator estimator = estimator_of(trace);
  base::Result<Estimate> estimate = estimator.estimate(std::vector{improvement(&kInline, {4})}, {.trace = true});
  ASSERT_TRUE(estimate.ok()) << estimate.error().message;
  EXPECT_EQ(estimate->figures.detached, 1u);
  const Trace& after = *estimate->trace;
  auto time_of = [&](model::EventIndex event) { return after.time_ns[event.index()]; };
  EXPECT_EQ(time_of(after.tasks[0].end) - time_of(after.tasks[0].start), 241 - 100 - (216 - 205));
  EXPECT_EQ(time_of(after.tasks[2].start), time_of(after.tasks[1].complete));
  EXPECT_NE(after.thread_of(after.tasks[2].start), after.thread_of(after.tasks[0].start));
}

TEST(Estimate, SaysWhyATaskCannotBeMoved) {
  const Trace trace = trace_of(
      "thread main\nthread w\npool p scheduled_thread_pool 1\n0 main task_spawn t1 - p\n1 main task_spawn t2 - p\n"
      "1 main task_delay t2 5\n1 main wait_begin t2\n6001 w task_start t2\n6002 w task_end t2\n6005 main wait_end "
      "t2\n");
  const Estimator estimator = estimator_of(trace);
  auto reason = [&](Improvement wanted) {
    base::Result<Estimate> estimate = estimator.estimate(std::vector{std::move(wanted)});
    return estimate.ok() ? "" : estimate.error().message;
  };
  EXPECT_THAT(reason(improvement(&kInline, {1})), HasSubstr("was never started"));
  EXPECT_THAT(reason(improvement(&kInline, {2})), HasSubstr("is delayed or periodic"));
  EXPECT_THAT(reason(improvement(&kCombinator, {2})), HasSubstr("is delayed or periodic"));
}

TEST(Estimate, AJoinedThreadIsCountedWhileItRuns) {
  const Trace trace = trace_of(R"(thread main
thread t
method m1 A.run A.java:1
0 main task_spawn t1 - - m1
20 t thread_begin
30 t task_start t1
40 main wait_begin t1
130 t task_end t1
135 t thread_end
140 main wait_end t1
150 main thread_end
)");
  const Estimator estimator = estimator_of(trace);
  EXPECT_EQ(estimator.base().duration_ns, 150);
  EXPECT_DOUBLE_EQ(estimator.base().mean_active, (40 + 10 + 100) / 150.0);
  EXPECT_DOUBLE_EQ(estimator.base().mean_waiting, 100 / 150.0);
  EXPECT_EQ(estimated_events(trace, {}), events_of(trace));
}

TEST(Estimate, AnEditCanBeSwitchedOff) {
  const Trace trace = trace_of(kFigure2);
  base::Result<Estimate> estimate =
      estimator_of(trace).estimate(std::vector{improvement(&kInline, {1})}, {.switched_off = {&kInline}});
  ASSERT_TRUE(estimate.ok());
  EXPECT_EQ(estimate->figures.duration_ns, 100);
  EXPECT_TRUE(estimate->edits[0].switched_off);
}

// t1 helps with t4 while it waits for t3. With t5 made in place, t4 is handed out only when t1 is complete: t1 is not
// there then.
TEST(Estimate, WhoHelpsStandsForNoTaskThatIsNotHandedOutYet) {
  const Trace trace = trace_of(R"(pool p fork_join 4
method m Job.run
context c - m:3
thread main
thread w1
thread w2
thread w3
thread w4
0 main task_spawn t1 c p m
1 main task_spawn t2 c p m
10 w1 task_start t1
20 w1 task_spawn t3 c p m
30 w1 wait_begin t3 c
100 w1 task_start t4
150 w1 task_end t4
200 w1 wait_end t3
210 w1 task_end t1
25 w2 task_start t3
190 w2 task_end t3
10 w3 task_start t2
40 w3 task_spawn t5 c p m
50 w3 task_spawn t4 c p m
60 w3 task_end t2
45 w4 task_start t5
50 w4 wait_begin t1 c
215 w4 wait_end t1
220 w4 task_end t5
)");
  const Improvement inlined = improvement(&kInline, {5});
  const base::Result<Estimate> estimate = estimator_of(trace).estimate(std::span(&inlined, 1), {.trace = true});
  ASSERT_TRUE(estimate.ok()) << estimate.error().message;
  EXPECT_TRUE(model::verify(*estimate->trace).ok());
  // t3 is complete at 190, t1 10 + 10 later, t5 5 + 5 after that; then t4 is handed out, and runs for its 50.
  EXPECT_GE(estimate->figures.duration_ns, 270);
  EXPECT_LE(estimate->figures.duration_ns, 350);
  EXPECT_EQ(estimate->figures.detached, 1u);
}

}  // namespace
}  // namespace contrafact::whatif
