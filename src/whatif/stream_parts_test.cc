#include "whatif/stream_parts.h"

#include <gtest/gtest.h>

#include <vector>

#include "model/text_trace.h"
#include "whatif/simulate.h"

namespace contrafact::whatif {
namespace {

// A stream of four elements, each of which sleeps for 100 and computes for 20, on a pool of one worker: it halves until
// a part is a quarter of it, were there so many elements that four parts are made; here two parts of two.
constexpr std::string_view kParts = R"(
fact cores 4
method m1 shop.Main.main Main.java:1
method m2 java.util.stream.AbstractTask.compute AbstractTask.java:303
context c1 - m1:7
pool f fork_join 1 1
thread main
thread w1
thread w2
0 main task_spawn t1 c1 f m2
0 main wait_begin t1 c1
10 w1 task_start t1
10 w1 task_spawn t2 c1 f m2
10 w1 block_begin sleep c1
110 w1 block_end sleep
130 w1 block_begin sleep c1
230 w1 block_end sleep
250 w1 task_end t1
250 w1 task_start t2
250 w1 block_begin sleep c1
350 w1 block_end sleep
370 w1 block_begin sleep c1
470 w1 block_end sleep
490 w1 task_complete t1
490 w1 task_end t2
500 main wait_end t1
)";

model::Trace stream_trace() {
  base::Result<model::Trace> trace = model::parse_text(kParts);
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().message);
  return trace.ok() ? *std::move(trace) : model::Trace();
}

std::vector<PoolSize> sizes(uint32_t workers) {
  return {{model::PoolId(0), workers}};
}

TEST(StreamParts, APoolOfTwiceTheWorkersHalvesOnceMore) {
  EXPECT_EQ(more_halvings(3, 3), 0u);
  EXPECT_EQ(more_halvings(3, 4), 0u);  // 12 and 16 parts at most: 16 each
  EXPECT_EQ(more_halvings(3, 6), 1u);
  EXPECT_EQ(more_halvings(3, 12), 2u);
  EXPECT_EQ(more_halvings(12, 3), 0u);
}

TEST(StreamParts, PartsAreCutBetweenTheWaitsOfTheirElements) {
  const model::Trace trace = stream_trace();
  const std::optional<model::Trace> parts = with_stream_parts(trace, sizes(4));
  ASSERT_TRUE(parts.has_value());
  ASSERT_EQ(parts->tasks.size(), 4u);
  const auto time = [&](model::EventIndex event) { return parts->time_ns[event.index()]; };
  EXPECT_EQ(time(parts->tasks[0].end), 130);  // where its second element begins
  EXPECT_EQ(time(parts->tasks[2].spawn), 10);
  EXPECT_EQ(time(parts->tasks[2].start), 130);
  EXPECT_EQ(time(parts->tasks[2].end), 250);
  EXPECT_EQ(time(parts->tasks[1].end), 370);
  EXPECT_EQ(time(parts->tasks[3].end), 490);
}

TEST(StreamParts, ALargerPoolHasAllElementsAtOnce) {
  const model::Trace trace = stream_trace();
  base::Result<Simulation> one = simulate(trace, {});
  ASSERT_TRUE(one.ok()) << one.error().message;
  EXPECT_EQ(one->duration_ns, 500);
  base::Result<Simulation> four = simulate(trace, {.pool_sizes = sizes(4)});
  ASSERT_TRUE(four.ok()) << four.error().message;
  EXPECT_TRUE(four->stuck.empty());
  EXPECT_LT(four->duration_ns, 250);
}

TEST(StreamParts, OtherPoolsAndSmallerOnesLeaveThemAsTheyAre) {
  EXPECT_FALSE(with_stream_parts(stream_trace(), sizes(1)));
  EXPECT_FALSE(with_stream_parts(stream_trace(), {}));
}

}  // namespace
}  // namespace contrafact::whatif
