#include "model/pool_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/text_trace.h"

namespace contrafact::model {
namespace {

Trace parsed(const std::string& pools_and_threads, std::string_view events) {
  base::Result<Trace> trace = parse_text("method m Job.run\ncontext c - m:1\n" + pools_and_threads +
                                         "thread main \"main\"\n" + std::string(events));
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().message);
  return trace.ok() ? *std::move(trace) : Trace();
}

const std::string kPools =
    "pool p scheduled_thread_pool 1 1 \"lib.Pool\"\npool q scheduled_thread_pool 1 1 \"lib.Pool\"\n";
const std::string kAlike = kPools + "thread x \"asking-1\"\nthread y \"asking-2\"\n";

// Two tasks for each; both have something to do all the time.
constexpr std::string_view kShared = R"(0 main task_spawn a c p m
0 x worker_idle p
0 y worker_idle q
1 main task_spawn b c q m
2 main task_spawn d c p m
3 main task_spawn e c q m
4 x worker_busy p
4 x task_start a
4 y worker_busy q
4 y task_start b
20 x task_end a
20 x task_start d
21 y task_end b
21 y task_start e
40 x task_end d
41 y task_end e
)";

TEST(PoolGroups, ExecutorsOfOneThreadThatShareTheWorkAreOnePool) {
  const Trace trace = parsed(kAlike, kShared);
  ASSERT_EQ(trace.pools.size(), 2u);
  EXPECT_EQ(trace.string(trace.pools[0].name), "lib.Pool asking-");
  EXPECT_EQ(trace.pools[0].core_size, 2u);
  EXPECT_EQ(trace.pools[0].max_size, 2u);
  for (const TaskRow& task : trace.tasks) EXPECT_EQ(task.pool, PoolId(0));
  for (size_t i = 0; i < trace.event_count(); ++i) {
    if (trace.kind[i] == EventKind::worker_idle || trace.kind[i] == EventKind::worker_busy) {
      EXPECT_EQ(trace.a[i], 0u);
    }
  }
}

// Two were needed; the owner would make five.
TEST(PoolGroups, AGroupIsAsLargeAsItsOwnerLetsItBe) {
  std::string pools = kAlike;
  for (size_t at = pools.find(" 1 1 "); at != std::string::npos; at = pools.find(" 1 1 "))
    pools.replace(at, 5, " 1 5 ");
  const Trace trace = parsed(pools, kShared);
  EXPECT_EQ(trace.pools[0].core_size, 5u);
  EXPECT_EQ(trace.pools[0].max_size, 5u);
}

TEST(PoolGroups, SavedAndLoadedItStaysAsItIs) {
  const Trace trace = parsed(kAlike, kShared);
  base::Result<Trace> again = parse_text(print_text(trace));
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->string(again->pools[0].name), "lib.Pool asking-");
  EXPECT_EQ(again->pools[0].core_size, 2u);
}

TEST(PoolGroups, OthersAreNone) {
  const auto size_of_first = [](const std::string& rows, std::string_view events) {
    return parsed(rows, events).pools[0].core_size;
  };
  EXPECT_EQ(size_of_first(kPools + "thread x \"asking-1\"\nthread y \"telling-1\"\n", kShared), 1u) << "other threads";
  EXPECT_EQ(size_of_first(kPools + "thread x \"asking\"\nthread y \"asking\"\n", kShared), 1u) << "no numbers";
  const std::string other =
      "pool p scheduled_thread_pool 1 1 \"lib.Pool\"\npool q scheduled_thread_pool 1 1 \"lib.Other\"\n";
  EXPECT_EQ(size_of_first(other + "thread x \"asking-1\"\nthread y \"asking-2\"\n", kShared), 1u) << "other names";
}

// Each task belongs to its own executor, as letters do to an actor's: b waits for p, although q has nothing to do.
TEST(PoolGroups, ThoseWhoseTasksWaitForTheirOwnAreNone) {
  const Trace trace = parsed(kAlike, R"(0 x worker_idle p
0 y worker_idle q
1 main task_spawn z c q m
1 y worker_busy q
1 y task_start z
2 y task_end z
3 main task_spawn a c p m
3 main task_spawn b c p m
4 x worker_busy p
4 x task_start a
20 x task_end a
20 x task_start b
40 x task_end b
)");
  EXPECT_EQ(trace.pools[0].core_size, 1u);
  EXPECT_EQ(trace.string(trace.pools[0].name), "lib.Pool");
}

}  // namespace
}  // namespace contrafact::model
