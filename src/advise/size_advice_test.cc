#include "advise/size_advice.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "improve/kind.h"
#include "model/text_trace.h"

namespace contrafact::advise {
namespace {

constexpr size_t kAll = 7, kFew = 2;

// A pool of one worker runs `tasks` tasks of 10 ms, which are all handed out at once.
std::string one_worker(int tasks) {
  std::string text =
      "fact cores 16\nthread main\nthread w1\npool p1 thread_pool 1\nmethod m1 shop.Main.work Main.java:10\n"
      "context c1 - m1:11\n0 main thread_begin\n";
  for (int i = 1; i <= tasks; ++i) text += fmt::format("{} main task_spawn t{} c1 p1 m1\n", 1000 * i, i);
  const int64_t begin_ns = 100'000, each_ns = 10'000'000;
  text += fmt::format("0 w1 worker_idle p1\n{} w1 worker_busy p1\n", begin_ns);
  for (int i = 1; i <= tasks; ++i) {
    text += fmt::format("{} w1 task_start t{}\n{} w1 task_end t{}\n", begin_ns + (i - 1) * each_ns, i,
                        begin_ns + i * each_ns - 1000, i);
  }
  const int64_t end_ns = begin_ns + tasks * each_ns;
  text += fmt::format("{} main wait_begin t{} c1\n", 1000 * tasks + 500, tasks);
  return text + fmt::format("{0} w1 worker_idle p1\n{0} main wait_end t{1}\n{0} main thread_end\n", end_ns, tasks);
}

// A pool of two workers runs 8 tasks; each works for 10 ms under one monitor, for which the next one waits meanwhile.
std::string two_workers_at_one_lock(bool at_lock) {
  std::string text =
      "fact cores 16\nthread main\nthread w1\nthread w2\npool p1 thread_pool 2\nmethod m1 shop.Main.work "
      "Main.java:10\nmethod m2 shop.Main.put Main.java:20\ncontext c1 - m1:11\ncontext c2 - m2:21\n"
      "0 main thread_begin\n";
  constexpr int kTasks = 8;
  for (int i = 1; i <= kTasks; ++i) text += fmt::format("{} main task_spawn t{} c1 p1 m1\n", 100 * i, i);
  const int64_t begin_ns = 100'000, each_ns = 10'000'000;
  for (const int worker : {1, 2})
    text += fmt::format("0 w{0} worker_idle p1\n{1} w{0} worker_busy p1\n", worker, begin_ns);
  for (int i = 0; i < kTasks; ++i) {
    const int worker = i % 2 + 1;
    const int64_t works_ns = begin_ns + i * each_ns, started_ns = i < 2 ? begin_ns : works_ns - each_ns + 1000;
    text += fmt::format("{} w{} task_start t{}\n", started_ns, worker, i + 1);
    if (i > 0) {
      text += fmt::format("{} w{} block_begin {} c2\n", started_ns + 1000, worker, at_lock ? "monitor" : "io");
      text += fmt::format("{} w{} block_end {}\n", works_ns, worker, at_lock ? "monitor" : "io");
    }
    text += fmt::format("{} w{} task_end t{}\n", works_ns + each_ns - 1000, worker, i + 1);
  }
  const int64_t end_ns = begin_ns + kTasks * each_ns;
  text += fmt::format("{} main wait_begin t{} c1\n", begin_ns, kTasks);
  for (const int worker : {1, 2}) text += fmt::format("{} w{} worker_idle p1\n", end_ns, worker);
  return text + fmt::format("{0} main wait_end t{1}\n{0} main thread_end\n", end_ns, kTasks);
}

SizeAdvices advised(const std::string& text, size_t sizes_max) {
  const base::Result<model::Trace> trace = model::parse_text(text);
  EXPECT_TRUE(trace.ok()) << trace.error().message;
  const model::Facts facts(*trace);
  const Pricer pricer(facts, nullptr, {});
  EXPECT_TRUE(pricer.simulates());
  return advise_sizes(pricer, {.pools = {{model::PoolId(0), 1}}}, sizes_max);
}

TEST(SizeAdvice, OfFewSizesTheLargestSaysWhetherAnyGains) {
  for (const size_t sizes_max : {kAll, kFew, size_t{1}}) {
    SCOPED_TRACE(sizes_max);
    const SizeAdvices none = advised(one_worker(1), sizes_max);
    EXPECT_TRUE(none.advices.empty());
    EXPECT_EQ(none.useless.size(), 1u);
    const SizeAdvices many = advised(one_worker(16), sizes_max);
    ASSERT_EQ(many.advices.size(), 1u);
    EXPECT_EQ(many.advices[0].improvement().size_after, 8u);
    EXPECT_NEAR(many.advices[0].effect.simulated->gain, 7.0 / 8, 0.01);
  }
}

TEST(SizeAdvice, OfFewSizesTheSmallestThatGainsAsMuch) {
  const SizeAdvices few = advised(one_worker(2), kFew);
  ASSERT_EQ(few.advices.size(), 1u);
  EXPECT_EQ(few.advices[0].improvement().size_after, 2u);
  EXPECT_NEAR(few.advices[0].effect.simulated->gain, 0.5, 0.01);
}

// The trace does not contain the lock, but shows that threads wait for it nearly all the time. Waits for something
// outside of the program get no longer with more workers.
TEST(SizeAdvice, MoreWorkersAtOneLockGainNothing) {
  const SizeAdvices at_one_lock = advised(two_workers_at_one_lock(true), kAll);
  for (const Advice& advice : at_one_lock.advices) EXPECT_LT(advice.effect.simulated->gain, 0.07);
  const SizeAdvices outside = advised(two_workers_at_one_lock(false), kAll);
  ASSERT_EQ(outside.advices.size(), 1u);
  EXPECT_GT(outside.advices[0].effect.simulated->gain, 0.4);
}

// Three workers, each of which needs one of two permits for 10 ms: the third waits for 10 ms.
TEST(SizeAdvice, MorePermitsGainWhereThreadsWaitForOne) {
  std::string text =
      "fact cores 4\nmethod m1 shop.Main.main Main.java:1\nmethod m2 shop.Job.run Job.java:1\n"
      "method s java.util.concurrent.Semaphore.acquire Semaphore.java:1\n"
      "context c1 - m1:7\ncontext c2 - m2:9\ncontext c3 c2 s:5\n"
      "pool p thread_pool 3 3 \"jobs\"\npool g permits 2 2 \"java.util.concurrent.Semaphore\"\n"
      "thread main\nthread w1\nthread w2\nthread w3\n0 main thread_begin\n";
  for (const int i : {1, 2, 3}) text += fmt::format("0 main task_spawn t{} c1 p m2\n", i);
  for (const int i : {1, 2, 3}) {
    const int64_t has_ns = i < 3 ? 0 : 10'000'000, end_ns = has_ns + 10'000'000;
    text += fmt::format("0 w{0} worker_idle p\n0 w{0} worker_busy p\n0 w{0} task_start t{0}\n", i);
    if (i == 3) text += fmt::format("0 w3 block_begin park c3\n{} w3 block_end park\n", has_ns);
    text += fmt::format("{0} w{1} permit_take g 1\n{0} w{1} block_begin sleep c2\n", has_ns, i);
    text += fmt::format("{0} w{1} block_end sleep\n{0} w{1} permit_give g 1\n{0} w{1} task_end t{1}\n", end_ns, i);
  }
  text += "0 main wait_begin t3 c1\n20000000 main wait_end t3\n20000000 main thread_end\n";
  const base::Result<model::Trace> trace = model::parse_text(text);
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  const model::Facts facts(*trace);
  const Pricer pricer(facts, nullptr, {});
  const Shortage shortage = shortage_of(pricer, usage_of(facts));
  ASSERT_FALSE(shortage.limits.empty());
  EXPECT_EQ(shortage.limits[0].reason.substr(0, 73),
            "threads waited for one of the 2 permits of java.util.concurrent.Semaphore");
  const SizeAdvices advised = advise_sizes(pricer, shortage, kAll);
  ASSERT_FALSE(advised.advices.empty());
  const Advice& first = advised.advices[0];
  EXPECT_EQ(improve::kind_of(first.improvement()).title(first.candidate), "pool-size 2 -> 3 permits");
  EXPECT_NEAR(first.effect.simulated->gain, 0.5, 0.01);
  EXPECT_EQ(first.candidate.waited_at, model::ContextId(2));
}

}  // namespace
}  // namespace contrafact::advise
