#include "model/event_cost.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "model/text_trace.h"

namespace contrafact::model {
namespace {

// Tasks with this much time between completion and end; of every other one a thread is woken meanwhile.
Trace tasks_that_end(int count, int64_t ns, bool wakes) {
  std::string text =
      "method m1 shop.Job.run Job.java:1\ncontext c1 - m1:1\npool p thread_pool 1 1\nthread main\nthread w1\n";
  for (int i = 1; i <= count; ++i) text += fmt::format("0 main task_spawn t{} c1 p m1\n", i);
  for (int i = 1; i <= count; ++i) {
    const int64_t at_ns = i * 10'000;
    text += fmt::format("{} w1 task_start t{}\n{} w1 task_complete t{}\n", at_ns, i, at_ns + 1'000, i);
    if (wakes) text += fmt::format("{} w1 wake main\n", at_ns + 1'000);
    text += fmt::format("{} w1 task_end t{}\n", at_ns + 1'000 + ns, i);
  }
  base::Result<Trace> trace = parse_text(text);
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().message);
  return trace.ok() ? *std::move(trace) : Trace();
}

TEST(EventCost, IsTheTimeFromACompletionToTheEnd) {
  EXPECT_EQ(event_costs(tasks_that_end(100, 42, false)).plain_ns(), 42);
  EXPECT_EQ(event_costs(tasks_that_end(100, 5'000, false)).plain_ns(), 200);
}

TEST(EventCost, IsNotKnownFromFewTasksOrWhereThreadsAreWoken) {
  EXPECT_EQ(event_costs(tasks_that_end(99, 42, false)).plain_ns(), 0);
  EXPECT_EQ(event_costs(tasks_that_end(100, 42, true)).plain_ns(), 0);
}

TEST(EventCost, OfAKindIsWhatTheRecorderSaysOfItself) {
  const base::Result<Trace> trace = parse_text(
      "fact recording.ns.task_spawn 95\nfact recording.ns.wait_end 0\nfact recording.ns.task_end 200001\n"
      "fact recording.ns.task_start -3\nfact recording.ns.wake 7x\nthread main\n");
  ASSERT_TRUE(trace.ok());
  const EventCosts costs = event_costs(*trace);
  EXPECT_TRUE(costs.measured(EventKind::task_spawn));
  EXPECT_FALSE(costs.measured(EventKind::task_end));
  EXPECT_EQ(costs.of(EventKind::task_spawn), 95);
  EXPECT_EQ(costs.of(EventKind::wait_end), 0);
  for (const EventKind unknown : {EventKind::task_end, EventKind::task_start, EventKind::wake})
    EXPECT_EQ(costs.of(unknown), 0);
}

TEST(EventCost, OfOtherKindsIsTheOneThatTheEventsShow) {
  Trace trace = tasks_that_end(100, 42, false);
  EXPECT_FALSE(event_costs(trace).measured(EventKind::task_spawn));
  trace.facts.push_back({"recording.ns.task_spawn", "95"});
  const EventCosts costs = event_costs(trace);
  EXPECT_EQ(costs.of(EventKind::task_spawn), 95);
  EXPECT_EQ(costs.of(EventKind::task_start), 42);
}

}  // namespace
}  // namespace contrafact::model
