#include "analysis/places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/text_trace_for_test.h"

namespace contrafact::analysis {
namespace {

using ::testing::ElementsAre;

TEST(PoolNames, AreTheFieldsThatHoldThem) {
  const model::Trace trace = parsed(R"(
fact pool.field.0 shop.Feed.POOL
fact pool.member.2 shop.Store$Shelf.permits
pool p1 thread_pool 2 2 "java.util.concurrent.ThreadPoolExecutor pool-1-thread-"
pool p2 thread_pool 2 2 "java.util.concurrent.ThreadPoolExecutor pool-2-thread-"
pool p3 permits 4 4 "java.util.concurrent.Semaphore"
thread main
0 main thread_begin
10 main thread_end
)");
  EXPECT_THAT(pool_names(trace),
              ElementsAre("Feed.POOL (pool-1-thread-)", "java.util.concurrent.ThreadPoolExecutor pool-2-thread-",
                          "Store$Shelf.permits (Semaphore)"));
}

TEST(PoolMaker, IsTheContextThatAFactNames) {
  const model::Trace trace = parsed(R"(
fact pool.made.0 0
fact pool.made.1 7
method m1 shop.Server.main Server.java:1
context c1 - m1:12
pool p1 thread_pool 2 2
pool p2 thread_pool 2 2
pool p3 thread_pool 2 2
thread main
0 main task_spawn t1 c1 p1 m1
)");
  EXPECT_EQ(pool_maker(trace, model::PoolId(0)), model::ContextId(0));
  EXPECT_FALSE(pool_maker(trace, model::PoolId(1)).valid());  // no such context
  EXPECT_FALSE(pool_maker(trace, model::PoolId(2)).valid());
}

TEST(PoolNames, SecondOfANameHasANumber) {
  const model::Trace trace = parsed(R"(
fact pool.member.0 shop.Actor.pool
fact pool.member.1 shop.Actor.pool
pool p1 thread_pool 2 2 "java.util.concurrent.ThreadPoolExecutor actor-"
pool p2 thread_pool 2 2 "java.util.concurrent.ThreadPoolExecutor actor-"
pool p3 thread_pool 2 2 "java.util.concurrent.ThreadPoolExecutor actor-"
thread main
0 main thread_begin
10 main thread_end
)");
  EXPECT_EQ(pool_name(trace, model::PoolId(1)), "Actor.pool (actor-) #2");
  EXPECT_EQ(pool_name(trace, model::PoolId(2)), "java.util.concurrent.ThreadPoolExecutor actor-");
  EXPECT_EQ(pool_name(trace, model::PoolId()), "-");
}

TEST(PoolNames, FactsOfPoolsThatAreNotThereCountForNothing) {
  const model::Trace trace = parsed(R"(
fact pool.field.7 shop.Feed.POOL
fact pool.field.x shop.Feed.POOL
fact pool.field.0 POOL
pool p1 thread_pool 2 2 "pool-1-thread-"
thread main
0 main thread_begin
10 main thread_end
)");
  EXPECT_THAT(pool_names(trace), ElementsAre("pool-1-thread-"));
}

}  // namespace
}  // namespace contrafact::analysis
