#include "analysis/lock_bounds.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "model/requests.h"
#include "model/text_trace.h"

namespace contrafact::analysis {
namespace {

// Twenty requests, one every 10 ms, each served for 5 ms by a handler's task. `waiting`: from 1 ms to 3 ms after a request
// came, this thread waits for a lock.
std::vector<LockBound> bounds_where_waits(const std::string& waiting, const std::string& gaps = "",
                                          const std::string& holder = "") {
  std::string threads =
      "fact agent jvm\nmethod m shop.Page.run Page.java:1\nmethod k shop.Cache.get Cache.java:9\ncontext c - k:9\n"
      "pool p thread_pool 1 1\nlock l monitor \"shop.Cache\"\nconnection a accepted 80 5001\nthread main\nthread w\n";
  std::string of_main, of_handler;
  for (int i = 0; i < 20; ++i) {
    const int64_t at_ns = 10'000'000LL * i;
    const auto wait = [&](const std::string& thread) {
      if (thread != waiting) return std::string();
      return fmt::format("{0} {2} block_begin monitor c\n{0} {2} blocked_on l{3}\n{1} {2} block_end monitor\n",
                         at_ns + 1'000'000, at_ns + 3'000'000, thread, holder);
    };
    of_main += fmt::format("{} main task_spawn t{} - p m\n", at_ns, i + 1) + wait("main");
    of_handler += fmt::format("{0} w task_start t{1}\n{0} w receive a 10\n", at_ns, i + 1) + wait("w") +
                  fmt::format("{0} w send a 10\n{0} w task_end t{1}\n", at_ns + 5'000'000, i + 1);
  }
  const base::Result<model::Trace> trace = model::parse_text(threads + gaps + of_main + of_handler);
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().message);
  const model::Facts facts(*trace);
  return lock_bounds(facts, model::requests_by_connection(*trace));
}

// A fifth of a thread waits on average: r * r / (1 - r) is 0.2 where r is 0.358. 102 requests a second fill the lock at 285.
TEST(LockBounds, FollowFromHowLongRequestsWait) {
  const std::vector<LockBound> bounds = bounds_where_waits("w");
  ASSERT_EQ(bounds.size(), 1u);
  EXPECT_EQ(bounds[0].waits, 20u);
  EXPECT_NEAR(bounds[0].held, 0.36, 0.01);
  EXPECT_NEAR(bounds[0].per_second, 285, 5);
}

// The holder was preempted for half of each wait.
TEST(LockBounds, DoNotFollowFromWaitsForAHolderWithoutACore) {
  std::string gaps;
  for (int i = 0; i < 20; ++i)
    gaps += fmt::format("cpu main {} {} preempted\n", 10'000'000LL * i + 1'500'000, 10'000'000LL * i + 2'500'000);
  const std::vector<LockBound> bounds = bounds_where_waits("w", gaps, " main");
  ASSERT_EQ(bounds.size(), 1u);
  EXPECT_NEAR(bounds[0].held, 0.27, 0.01);
}

// Who hands requests out waits for the thread that has just woken it: that says nothing of how much the lock is held.
TEST(LockBounds, DoNotFollowFromWaitsOfWhoHandsRequestsOut) {
  EXPECT_TRUE(bounds_where_waits("main").empty());
}

}  // namespace
}  // namespace contrafact::analysis
