#include "model/result_waits.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "model/text_trace.h"

namespace contrafact::model {
namespace {

// main hands out t1 to t5, in this order. It waits for t1 before t4 is handed out and again at the end, and t1 for t2;
// for t3 it waits in vain; a stage depends on t4; nobody waits for t5.
constexpr std::string_view kWaits = R"(thread main
thread w1
pool p1 thread_pool 4
method m1 shop.Main.main Main.java:10
context c1 - m1:11
context c2 - m1:12
context c3 - m1:13
0 main thread_begin
10 main task_spawn t1 c1 p1 m1
11 main task_spawn t2 c1 p1 m1
12 main task_spawn t3 c1 p1 m1
20 main wait_begin t1 c2
30 main wait_end t1
31 main task_spawn t4 c1 p1 m1
32 main task_spawn t5 c1 p1 m1
33 main task_create t6 c1
33 main task_depends t6 t4 all
34 main wait_begin t3 c2
35 main wait_end t3 timeout
36 main wait_begin t1 c3
37 main wait_end t1
38 main thread_end
15 w1 task_start t1
16 w1 wait_begin t2 c2
18 w1 wait_end t2
25 w1 task_end t1
)";

TEST(ResultWaits, SayWhoAsksAndWhatWasHandedOutBefore) {
  base::Result<Trace> trace = parse_text(kWaits);
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  const std::vector<ResultWait> waits = result_waits(*trace);
  ASSERT_EQ(waits.size(), 6u);
  EXPECT_EQ(waits[0].asker, Asker::spawner);
  EXPECT_EQ(waits[0].place, ContextId(1));  // of the first wait
  EXPECT_EQ(waits[0].next, TaskId(1));
  EXPECT_EQ(waits[0].last, TaskId(2));  // t4 was handed out later than that
  EXPECT_EQ(waits[1].asker, Asker::others);
  EXPECT_EQ(waits[2].asker, Asker::no_result);
  EXPECT_EQ(waits[3].asker, Asker::stage);
  EXPECT_EQ(waits[4].asker, Asker::nobody);
}

TEST(ResultWaits, AWorkerThatThePoolStartsIsNotHandedOutByTheProgram) {
  base::Result<Trace> trace = parse_text(R"(thread main
thread w1
pool p1 thread_pool 1
method m1 shop.Main.main Main.java:10
method worker java.util.concurrent.ThreadPoolExecutor$Worker.run ThreadPoolExecutor.java:640
context c1 - m1:11
10 main task_spawn t1 c1 p1 m1
11 main task_spawn w c1 - worker
13 main wait_begin t1 c1
12 w1 task_start w
13 w1 task_start t1
20 w1 task_end t1
21 main wait_end t1
30 w1 task_end w
)");
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  ASSERT_EQ(trace->tasks[1].kind, TaskKind::thread);
  EXPECT_FALSE(result_waits(*trace)[0].next.valid());
  EXPECT_EQ(result_waits(*trace)[0].batch, 1u);
}

// main hands out two batches at one place; of the second it asks for the last one first.
TEST(ResultWaits, OfEachBatchOneIsAskedForFirst) {
  base::Result<Trace> trace = parse_text(R"(thread main
pool p1 thread_pool 1
method m1 shop.Main.main Main.java:10
context c1 - m1:11
context c2 - m1:12
10 main task_spawn t1 c1 p1 m1
11 main task_spawn t2 c1 p1 m1
12 main task_spawn t3 c2 p1 m1
13 main wait_begin t1 c1
14 main wait_end t1
15 main wait_begin t2 c1
16 main wait_end t2
17 main task_spawn t4 c1 p1 m1
18 main task_spawn t5 c1 p1 m1
19 main task_spawn t6 c1 p1 m1
20 main wait_begin t6 c1
21 main wait_end t6
22 main wait_begin t4 c1
23 main wait_end t4
24 main wait_begin t3 c1
25 main wait_end t3
)");
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  std::vector<uint32_t> batches;
  for (const ResultWait& wait : result_waits(*trace)) batches.push_back(wait.batch);
  EXPECT_EQ(batches, (std::vector<uint32_t>{2, 0, 1, 0, 0, 3}));
}

// One body that hands out two tasks at each of twenty places, and then asks for the first of each.
TEST(ResultWaits, EachOfManyPlacesHasBatchesOfItsOwn) {
  constexpr int kPlaces = 20;
  std::string text = "thread main\npool p1 thread_pool 1\nmethod m1 shop.Main.main Main.java:10\n";
  for (int i = 0; i < kPlaces; ++i) text += fmt::format("context c{} - m1:{}\n", i, 11 + i);
  for (int i = 0; i < 2 * kPlaces; ++i) text += fmt::format("{} main task_spawn t{} c{} p1 m1\n", 10 + i, i, i / 2);
  for (int i = 0; i < kPlaces; ++i)
    text += fmt::format("{0} main wait_begin t{1} c0\n{0} main wait_end t{1}\n", 100 + i, 2 * i);
  base::Result<Trace> trace = parse_text(text);
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  const std::vector<ResultWait> waits = result_waits(*trace);
  ASSERT_EQ(waits.size(), size_t{2 * kPlaces});
  for (int i = 0; i < 2 * kPlaces; ++i) EXPECT_EQ(waits[i].batch, i % 2 == 0 ? 2u : 0u) << i;
}

TEST(ResultWaits, OfWhatIsWaitedForAtOnceNothingCameBetween) {
  base::Result<Trace> trace = parse_text(R"(thread main
pool p1 thread_pool 1
method m1 shop.Main.main Main.java:10
context c1 - m1:11
0 main thread_begin
10 main task_spawn t1 c1 p1 m1
11 main wait_begin t1 c1
20 main wait_end t1
21 main task_spawn t2 c1 p1 m1
30 main thread_end
)");
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  const std::vector<ResultWait> waits = result_waits(*trace);
  EXPECT_EQ(waits[0].asker, Asker::spawner);
  EXPECT_FALSE(waits[0].next.valid());
  EXPECT_FALSE(waits[0].last.valid());
  EXPECT_EQ(waits[1].asker, Asker::nobody);
}

}  // namespace
}  // namespace contrafact::model
