#include "whatif/spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/text_trace.h"
#include "whatif/combinator_expression.h"

namespace contrafact::whatif {
namespace {

using model::TaskId;
using ::testing::HasSubstr;

// Figure 3: a sum of two long operations.
constexpr std::string_view kSum = R"(thread main
thread w1
thread w2
thread w3
pool p1 thread_pool 3
method m0 shop.Main.main Main.java:1
method m1 shop.Sum.parallelSum Sum.java:5
method m2 shop.Sum.longOperation1 Sum.java:20
method m3 shop.Sum.longOperation2 Sum.java:30
context c0 - m0:3
context c1 - m1:6
context c2 - m1:7
context c3 - m1:8
0 main task_spawn t1 c0 p1 m1
5 w1 task_start t1
10 w1 task_spawn t2 c1 p1 m2
20 w1 task_spawn t3 c2 p1 m3
30 w1 wait_begin t2 c3
120 w1 wait_end t2
130 w1 wait_begin t3 c3
220 w1 wait_end t3
230 w1 task_complete t1
231 w1 task_end t1
15 w2 task_start t2
110 w2 task_complete t2
111 w2 task_end t2
25 w3 task_start t3
210 w3 task_complete t3
211 w3 task_end t3
)";

model::Trace parsed() {
  base::Result<model::Trace> trace = model::parse_text(kSum);
  CHECK(trace.ok());
  return *std::move(trace);
}

Improvement combinator(const model::Trace& trace) {
  Improvement improvement{.optimisation = Optimisation::convert_to_combinator};
  improvement.tasks = {TaskId(0)};
  improvement.spawn_context = trace.tasks[0].spawn_context;
  improvement.body = trace.tasks[0].body;
  improvement.context_tasks = 1;
  return improvement;
}

TEST(Combinator, SubTasksStayParallel) {
  model::Trace trace = parsed();
  std::vector<CombinatorStage> stages = combinator_stages(trace, TaskId(0));
  ASSERT_EQ(stages.size(), 1u);
  EXPECT_EQ(stages[0].spawned.size(), 2u);
  EXPECT_EQ(combinator_expression(trace, stages),
            "f1 = supplyAsync(Sum::longOperation1); f2 = supplyAsync(Sum::longOperation2); "
            "f1.thenCombine(f2, (a, b) -> <both>).thenApply(results -> <what follows Sum.parallelSum (Sum.java:8)>)");
}

TEST(Spec, ComesBackAsItWent) {
  model::Trace trace = parsed();
  Improvement improvement = combinator(trace);
  std::string text = spec_of(trace, std::span(&improvement, 1)).dump();
  EXPECT_THAT(text, HasSubstr("thenCombine"));
  base::Result<std::vector<Improvement>> read = parse_spec(trace, text);
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->size(), 1u);
  EXPECT_EQ((*read)[0].tasks, improvement.tasks);
  EXPECT_EQ((*read)[0].optimisation, improvement.optimisation);
  EXPECT_EQ((*read)[0].spawn_context, improvement.spawn_context);
}

TEST(Spec, ByHandMeansEveryTaskOfThePlace) {
  base::Result<std::vector<Improvement>> read = parse_spec(parsed(), R"({"spec_version": 1, "improvements": [
      {"optimisation": "convert-to-inline", "spawn_stack": [{"class": "shop.Sum", "method": "parallelSum"}]}]})");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ((*read)[0].tasks, (std::vector<TaskId>{TaskId(1), TaskId(2)}));
}

TEST(Spec, EachMistakeIsNamed) {
  model::Trace trace = parsed();
  auto message = [&](std::string text) {
    base::Result<std::vector<Improvement>> read = parse_spec(trace, text);
    return read.ok() ? std::string("read") : read.error().message;
  };
  auto one = [&](const std::string& fields) { return message(R"({"spec_version": 1, "improvements": [{)" + fields + "}]}"); };
  const std::string place = R"("spawn_stack": [{"class": "shop.Sum", "method": "parallelSum"}])";
  EXPECT_EQ(message("{"), "is no JSON");
  EXPECT_EQ(message("[]"), "is no improvement spec: \"spec_version\" is missing");
  EXPECT_EQ(message(R"({"spec_version": 99})"), "is of version 99, this contrafact reads version 1");
  EXPECT_EQ(message(R"({"spec_version": 1, "improvements": []})"), "has no \"improvements\"");
  EXPECT_EQ(one(""), "improvement 1: \"optimisation\" is missing");
  EXPECT_THAT(one(R"("optimisation": "faster")"), HasSubstr("there is no optimisation \"faster\""));
  EXPECT_THAT(one(R"("optimisation": "convert-to-inline")"), HasSubstr("\"spawn_stack\" must be"));
  EXPECT_THAT(one(R"("optimisation": "convert-to-inline", "tasks": [[99, 1]], )" + place), HasSubstr("has no task 99"));
  EXPECT_THAT(one(R"("optimisation": "convert-to-inline", "tasks": [[0, 1]], )" + place),
              HasSubstr("task 0 was not spawned at shop.Sum.parallelSum"));
  EXPECT_THAT(one(R"("optimisation": "convert-to-inline", "tasks": 3, )" + place), HasSubstr("[first, count]"));
  EXPECT_THAT(one(R"("optimisation": "hoist-branch", )" + place), HasSubstr("hoist-branch needs \"tasks\""));
}

}  // namespace
}  // namespace contrafact::whatif
