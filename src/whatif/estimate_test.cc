#include "whatif/estimate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/text_trace.h"

namespace contrafact::whatif {
namespace {

using model::TaskId;
using model::Trace;
using ::testing::HasSubstr;

Trace parsed(std::string_view text) {
  base::Result<Trace> trace = model::parse_text(text);
  EXPECT_TRUE(trace.ok()) << trace.error().message;
  return trace.ok() ? *std::move(trace) : Trace{};
}

Estimator made(const Trace& trace) {
  base::Result<Estimator> estimator = Estimator::create(trace);
  EXPECT_TRUE(estimator.ok()) << estimator.error().message;
  return *std::move(estimator);
}

Improvement improvement(Optimisation optimisation, std::vector<uint32_t> tasks) {
  Improvement result;
  result.optimisation = optimisation;
  for (uint32_t task : tasks) result.tasks.push_back(TaskId(task - 1));  // as in the text: t1 is the first
  return result;
}

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
  const Estimator estimator = made(trace);
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
  const Trace trace = parsed(kFigure2);
  EXPECT_EQ(estimated_events(trace, {}), events_of(trace));
  const Figures base = made(trace).base();
  EXPECT_EQ(base.duration_ns, 100);
  EXPECT_EQ(base.peak_occupied, 2u);
  EXPECT_EQ(base.peak_active, 1u);
}

TEST(Estimate, InlineOfFigure2) {
  // The body takes its 61 ns from 10 on; handing out cost 2, which goes; so main asks at 71, gets it at once, and has 10
  // ns to the method's end and 10 more to its own.
  EXPECT_EQ(estimated_events(parsed(kFigure2), {improvement(Optimisation::convert_to_inline, {1})}),
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

}  // namespace
}  // namespace contrafact::whatif
