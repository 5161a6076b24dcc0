#include "analysis/queue_workers.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "analysis/text_trace_for_test.h"

namespace contrafact::analysis {
namespace {

// Two workers, each of which waits `pieces` times at c1 for 2 and then works for 8, and a main thread that works for 10
// and waits at c2 once.
std::string workers_that_take(int pieces, std::string_view reason) {
  std::string text = "0 main thread_begin\n10 main block_begin object_wait c2\n";
  for (const char* worker : {"w1", "w2"}) {
    text += fmt::format("0 {} thread_begin\n", worker);
    for (int i = 0; i < pieces; ++i) {
      text += fmt::format("{0} {1} block_begin {2} c1\n{3} {1} block_end {2}\n", 10 * i, worker, reason, 10 * i + 2);
    }
    text += fmt::format("{} {} thread_end\n", 10 * pieces, worker);
  }
  return text + fmt::format("{0} main block_end object_wait\n{0} main thread_end\n", 10 * pieces);
}

TEST(QueueWorkers, AreThoseThatWaitAtOneLineAgainAndAgain) {
  const model::Trace trace = parsed_with_rows(workers_that_take(20, "object_wait"));
  const std::vector<QueueWorkers> workers = queue_workers(model::Facts(trace));
  ASSERT_EQ(workers.size(), 1u);
  EXPECT_EQ(workers[0].threads.size(), 2u);
  EXPECT_EQ(workers[0].waits, 40u);
  EXPECT_DOUBLE_EQ(workers[0].share, 320.0 / 330);
  EXPECT_THAT(queue_workers_text(model::Facts(trace)), testing::HasSubstr("2 threads, w1 among them, wait"));
}

TEST(QueueWorkers, AreNotThoseThatSeldomWait) {
  EXPECT_TRUE(queue_workers(model::Facts(parsed_with_rows(workers_that_take(5, "object_wait")))).empty());
}

TEST(QueueWorkers, AreNotThoseThatWaitForALockOrSleep) {
  for (const char* reason : {"monitor", "sleep", "io"})
    EXPECT_TRUE(queue_workers(model::Facts(parsed_with_rows(workers_that_take(20, reason)))).empty()) << reason;
}

TEST(QueueWorkers, AreNotThoseWhosePiecesAreTasks) {
  std::string text = "0 main thread_begin\n";
  for (int i = 0; i < 20; ++i) text += fmt::format("0 main task_spawn t{} c2 p m2\n", i);
  for (int i = 0; i < 20; ++i) {
    text += fmt::format(
        "{0} w1 block_begin object_wait c1\n{1} w1 block_end object_wait\n{1} w1 task_start t{3}\n{2} w1 task_end "
        "t{3}\n",
        10 * i, 10 * i + 2, 10 * i + 10, i);
  }
  EXPECT_TRUE(queue_workers(model::Facts(parsed_with_rows(text))).empty());
}

}  // namespace
}  // namespace contrafact::analysis
