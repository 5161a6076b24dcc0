#include "improve/path_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/text_trace.h"

namespace contrafact::improve {
namespace {

using model::TaskId;
using model::Trace;
using ::testing::ElementsAre;
using whatif::PathCondition;

// A task's keys are its own, not those of a task that its thread runs inside it; and it goes on after that.
TEST(PathKeys, AreOfTheTaskItself) {
  const base::Result<Trace> trace = model::parse_text(R"(pool p fork_join 2
method m1 Job.run
method m2 Job.rest
context c1 - m1:1
context c2 - m1:2
context c3 - m1:3
thread w
0 w task_spawn a c1 p m1
1 w task_start a
2 w task_spawn b c2 p m1
3 w wait_begin b c3
4 w task_start b
5 w method_enter m2
6 w method_exit m2
7 w task_end b
8 w wait_end b
9 w task_spawn c c2 p m1
10 w task_end a
11 w task_start c
12 w method_enter m2
13 w method_exit m2
14 w task_end c
)");
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  const PathKeyIndex index(*trace);
  const auto keys = [&](uint32_t task) { return index.keys(index.set_of(TaskId(task))); };
  using Kind = PathCondition::Kind;
  EXPECT_THAT(keys(0), ElementsAre(PathKey(Kind::spawns_at, 1), PathKey(Kind::waits_at, 2)));
  EXPECT_THAT(keys(1), ElementsAre(PathKey(Kind::enters_method, 1)));
  EXPECT_EQ(index.set_of(TaskId(1)), index.set_of(TaskId(2)));
  const std::vector<TaskId> branch{TaskId(1), TaskId(2)}, others{TaskId(0)};
  const std::vector<PathCondition> conditions = branch_conditions(index, branch, others);
  ASSERT_EQ(conditions.size(), 1u);
  EXPECT_EQ(conditions[0].method, model::MethodId(1));
  EXPECT_TRUE(conditions[0].holds);
}

}  // namespace
}  // namespace contrafact::improve
