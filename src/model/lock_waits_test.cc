#include "model/lock_waits.h"

#include <gmock/gmock.h>

#include "model/facts.h"
#include "model/text_trace.h"

namespace contrafact::model {
namespace {

constexpr std::string_view kCacheRows =
    "fact jvm.name x\nmethod m1 shop.Cache.get Cache.java:10\ncontext c1 - m1:12\ncontext c2 - m1:30\n"
    "lock l1 monitor \"shop.Cache\"\nthread a\nthread b\nthread c\n";

Trace jvm(std::string_view events) {
  base::Result<Trace> trace = parse_text(std::string(kCacheRows) + std::string(events));
  EXPECT_TRUE(trace.ok()) << trace.error().message;
  return *std::move(trace);
}

TEST(LockWaits, SayWhoHeldTheLockAndWhere) {
  const Trace trace =
      jvm("0 a thread_begin\n0 b thread_begin\n10 a block_begin monitor c1\n10 a blocked_on l1 b\n10 a holder_at c2\n"
          "40 a block_end monitor\n50 a thread_end\n50 b thread_end\n");
  const std::vector<LockWait> waits = lock_waits(trace);
  ASSERT_EQ(waits.size(), 1u);
  EXPECT_EQ(waits[0].lock, LockId(0));
  EXPECT_EQ(waits[0].thread, ThreadId(0));
  EXPECT_EQ(waits[0].site, ContextId(0));
  EXPECT_EQ(waits[0].holder, ThreadId(1));
  EXPECT_EQ(waits[0].holder_at, ContextId(1));
  EXPECT_EQ(waits[0].wait_ns(), 30);
  EXPECT_EQ(waits[0].held_since_ns, INT64_MIN);
}

TEST(LockWaits, AreNoEventsOfLocks) {
  const Trace trace = jvm("10 a block_begin monitor c1\n10 a blocked_on l1 b\n40 a block_end monitor\n");
  EXPECT_FALSE(has_lock_events(trace));
  EXPECT_FALSE(is_native(trace));
  EXPECT_TRUE(critical_sections(trace).empty());
  EXPECT_FALSE(Facts(trace).locks_ordered());
}

TEST(LockWaits, WakenInVainAndParkedAgainAreOne) {
  const Trace trace = jvm(
      "10 a block_begin park c1\n10 a blocked_on l1 b\n20 a block_end park\n21 a block_begin park c1\n"
      "21 a blocked_on l1 c\n40 a block_end park\n60 a block_begin park c2\n60 a blocked_on l1\n70 a block_end park\n");
  const std::vector<LockWait> waits = lock_waits(trace);
  ASSERT_EQ(waits.size(), 2u);
  EXPECT_EQ(waits[0].wait_ns(), 30);
  EXPECT_EQ(waits[0].holder, ThreadId(1));
  EXPECT_EQ(waits[1].wait_ns(), 10);
  EXPECT_FALSE(waits[1].holder.valid());
}

// One section after the other, all at the same place: nothing is recorded between two waits.
TEST(LockWaits, OfTwoSectionsAreTwo) {
  const Trace trace =
      jvm("10 a block_begin monitor c1\n10 a blocked_on l1 b\n20 a block_end monitor\n21 a block_begin monitor c1\n"
          "21 a blocked_on l1 b\n40 a block_end monitor\n"
          "10 b block_begin park c1\n10 b blocked_on l1 a\n20 b block_end park\n30000 b block_begin park c1\n"
          "30000 b blocked_on l1 a\n30010 b block_end park\n");
  const std::vector<LockWait> waits = lock_waits(trace);
  ASSERT_EQ(waits.size(), 4u);
  for (const LockWait& wait : waits) EXPECT_LE(wait.wait_ns(), 19);
}

// b waited until 20 and has had the lock since; c is not known to have had it in between.
TEST(LockWaits, AHolderThatWaitedItselfHasHeldItSince) {
  const Trace trace =
      jvm("5 b block_begin monitor c1\n5 b blocked_on l1 c\n20 b block_end monitor\n"
          "25 a block_begin monitor c1\n25 a blocked_on l1 b\n40 a block_end monitor\n"
          "50 c block_begin monitor c1\n50 c blocked_on l1 b\n60 c block_end monitor\n");
  const std::vector<LockWait> waits = lock_waits(trace);
  ASSERT_EQ(waits.size(), 3u);
  EXPECT_EQ(waits[1].held_since_ns, 20);
  EXPECT_EQ(waits[2].held_since_ns, INT64_MIN);  // a had it after b
}

TEST(LockWaits, AreTheSameAfterPrinting) {
  const Trace trace =
      jvm("10 a block_begin monitor c1\n10 a blocked_on l1 b\n10 a holder_at c2\n40 a block_end monitor\n"
          "60 a block_begin park c2\n60 a blocked_on l1\n70 a block_end park\n");
  const std::string text = print_text(trace);
  const base::Result<Trace> again = parse_text(text);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(print_text(*again), text);
  EXPECT_EQ(again->blocked_on.size(), 2u);
}

TEST(LockWaits, WithoutABlockAreLeftOut) {
  EXPECT_TRUE(jvm("10 a thread_begin\n10 a blocked_on l1 b\n20 a thread_end\n").blocked_on.empty());
}

}  // namespace
}  // namespace contrafact::model
