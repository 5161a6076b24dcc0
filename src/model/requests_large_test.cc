// Recordings of many requests. Each step that is linear in what came before a request would take several times as long as these tests allow.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "model/cpu_time_for_test.h"
#include "model/requests.h"
#include "model/text_trace.h"

namespace contrafact::model {
namespace {

constexpr int kRequests = 100'000;
constexpr int64_t kEachNs = 10'000;
constexpr double kSecondsMost = 3;

Requests requests_of(const std::string& text) {
  const base::Result<Trace> trace = parse_text(
      "method m1 shop.Job.run Job.java:1\npool p thread_pool 2 2\nthread loop\nthread w1\nconnection c1 accepted 80 "
      "5001\n" +
      text);
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().message);
  Requests found;
  if (trace) {
    EXPECT_LT(cpu_seconds_of([&] { found = requests_by_connection(*trace); }), kSecondsMost);
  }
  EXPECT_EQ(found.all.size(), kRequests);
  return found;
}

// A loop receives them.
std::string received(int64_t at_ns) {
  return fmt::format("{} loop block_begin poll -\n{} loop block_end poll\n{} loop receive c1 10\n", at_ns - 5'000,
                     at_ns, at_ns);
}

// A thread that the kernel saw sleep before each request.
TEST(ManyRequests, AreTakenFromAQueue) {
  std::string loop, worker, sleeps;
  for (int i = 1; i <= kRequests; ++i) {
    const int64_t at_ns = i * kEachNs;
    loop += received(at_ns);
    worker += fmt::format("{} w1 send c1 10\n", at_ns + 3'000);
    sleeps += fmt::format("cpu w1 {} {} blocked\n", at_ns - 2'000, at_ns + 1'000);
  }
  const Requests found = requests_of(sleeps + loop + "0 w1 thread_begin\n" + worker);
  ASSERT_FALSE(found.all.empty());
  EXPECT_EQ(found.all.back().second.begin_ns, kRequests * kEachNs + 1'000);
}

// Each task hands out the next one; the first is as old as the program.
TEST(ManyRequests, AreAnsweredByTasksThatHandEachOtherOut) {
  std::string loop = "0 loop task_spawn t1 - p m1\n", worker;
  for (int i = 1; i <= kRequests; ++i) {
    const int64_t at_ns = i * kEachNs;
    loop += received(at_ns);
    worker +=
        fmt::format("{0} w1 task_start t{1}\n{2} w1 send c1 10\n{2} w1 task_spawn t{3} - p m1\n{2} w1 task_end t{1}\n",
                    at_ns + 1'000, i, at_ns + 2'000, i + 1);
  }
  const Requests found = requests_of(loop + worker);
  ASSERT_FALSE(found.all.empty());
  EXPECT_TRUE(found.all.back().then.valid());
}

// The loop never sleeps, and other programs take its core from it again and again.
TEST(ManyRequests, AreServedByAThreadThatNeverSleeps) {
  std::string loop, taken = "cpu loop 1 2 blocked\n";
  for (int i = 1; i <= kRequests; ++i) {
    const int64_t at_ns = i * kEachNs;
    loop += fmt::format("{} loop receive c1 10\n{} loop send c1 10\n", at_ns, at_ns + 3'000);
    taken += fmt::format("cpu loop {} {} preempted\n", at_ns + 4'000, at_ns + 5'000);
  }
  const Requests found = requests_of(taken + "0 loop thread_begin\n" + loop);
  ASSERT_FALSE(found.all.empty());
  EXPECT_GE(found.all.back().first.end_ns, kRequests * kEachNs + 3'000);
}

}  // namespace
}  // namespace contrafact::model
