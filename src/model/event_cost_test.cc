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
  EXPECT_EQ(event_cost_ns(tasks_that_end(100, 42, false)), 42);
  EXPECT_EQ(event_cost_ns(tasks_that_end(100, 5'000, false)), 200);
}

TEST(EventCost, IsNotKnownFromFewTasksOrWhereThreadsAreWoken) {
  EXPECT_EQ(event_cost_ns(tasks_that_end(99, 42, false)), 0);
  EXPECT_EQ(event_cost_ns(tasks_that_end(100, 42, true)), 0);
}

}  // namespace
}  // namespace contrafact::model
