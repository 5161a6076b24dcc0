#include "analysis/lock_profile.h"

#include <gmock/gmock.h>

#include "analysis/text_trace_for_test.h"

namespace contrafact::analysis {
namespace {

constexpr std::string_view kNative =
    "method m1 .produce queue.cc:10\nmethod m2 .consume queue.cc:30\n"
    "context c1 - m1:12\ncontext c2 - m2:33\ncontext c3 c1 m2:33\n"
    "lock l mutex \"queue\"\nlock r rwlock\nlock s semaphore\nlock b barrier\n"
    "thread a\nthread b\nthread c\n";

model::Trace native(std::string_view events) {
  return parsed(std::string(kNative) + std::string(events));
}

const LockSiteStats& site_row(const LockProfile& profile, std::string_view label) {
  for (const LockSiteStats& row : profile.lock_sites) {
    if (profile.sites[row.site].label == label) return row;
  }
  ADD_FAILURE() << "no site " << label;
  static const LockSiteStats none;
  return none;
}

TEST(LockProfile, ChargesAWaitToWhoeverHeldTheLock) {
  const model::Trace trace = native(
      "0 a thread_begin\n0 b thread_begin\n10 a lock_acquire l c1\n20 b lock_request l c2\n50 a lock_release l c1\n"
      "55 b lock_acquired l\n75 b lock_release l c2\n100 a thread_end\n100 b thread_end\n");
  const LockProfile profile = lock_profile(trace);
  ASSERT_EQ(profile.locks.size(), 1u);
  const LockRowStats& lock = profile.locks[0];
  EXPECT_EQ(lock_name(trace, lock.lock), "queue");
  EXPECT_EQ(lock.use.acquisitions, 2u);
  EXPECT_EQ(lock.use.contended, 1u);
  EXPECT_EQ(lock.use.wait.total_ns, 35);
  EXPECT_EQ(lock.use.owner_wait_ns, 30);
  EXPECT_EQ(lock.use.hold.total_ns, 60);
  EXPECT_EQ(lock.use.hold.max_ns, 40);
  EXPECT_EQ(lock.threads, 2u);
  EXPECT_DOUBLE_EQ(lock.held_share, 0.6);
  EXPECT_DOUBLE_EQ(lock.wait_share, 35.0 / 200);
  const LockSiteStats& consume = site_row(profile, "consume (queue.cc:33)");
  EXPECT_EQ(profile.sites[consume.owner_site].label, "produce (queue.cc:12)");
  EXPECT_DOUBLE_EQ(consume.owner_share, 30.0 / 35);
}

TEST(LockProfile, CallersDoNotSplitASite) {
  const LockProfile profile =
      lock_profile(native("0 a lock_acquire l c2\n5 b lock_request l c3\n9 a lock_release l c2\n10 b lock_acquired "
                          "l\n12 b lock_release l c2\n"));
  ASSERT_EQ(profile.lock_sites.size(), 1u);
  EXPECT_EQ(profile.lock_sites[0].use.acquisitions, 2u);
}

TEST(LockProfile, ARecursiveLockIsOneSection) {
  const LockProfile profile = lock_profile(
      native("0 a lock_acquire l c1\n1 a lock_acquire l c1\n2 a lock_release l c1\n9 a lock_release l c1\n"));
  EXPECT_EQ(profile.locks[0].use.acquisitions, 1u);
  EXPECT_EQ(profile.locks[0].use.hold.total_ns, 9);
}

TEST(LockProfile, ReadersOverlapAndCountOnceInTheHeldShare) {
  const LockProfile profile = lock_profile(
      native("0 a thread_begin\n0 a lock_acquire_shared r c1\n10 b lock_acquire_shared r c2\n20 c lock_request r c1\n"
             "40 a lock_release r c1\n60 b lock_release r c2\n60 c lock_acquired r\n80 c lock_release r c1\n"
             "100 a thread_end\n"));
  const LockRowStats& lock = profile.locks[0];
  EXPECT_EQ(lock.use.shared, 2u);
  EXPECT_DOUBLE_EQ(lock.held_share, 0.8);
  EXPECT_EQ(lock.use.wait.total_ns, 40);
  EXPECT_EQ(lock.use.owner_wait_ns, 60);  // two readers at once: 20 of the one, 40 of the other
}

TEST(LockProfile, AFailedTryAndATimeoutAcquireNothing) {
  const LockProfile profile = lock_profile(
      native("0 a lock_acquire l c1\n5 b lock_busy l c2\n10 b lock_request l c2\n20 b lock_acquired l timeout\n"
             "30 a lock_release l c1\n"));
  EXPECT_EQ(profile.locks[0].use.acquisitions, 1u);
  EXPECT_EQ(profile.locks[0].use.failed, 2u);
  EXPECT_EQ(profile.locks[0].use.wait.total_ns, 10);
}

TEST(LockProfile, AnOwnerThatWaitsItselfIsAChain) {
  const LockProfile profile = lock_profile(
      native("lock l2 mutex\n0 c lock_acquire l2 c1\n0 a lock_acquire l c1\n5 a lock_request l2 c1\n"
             "10 b lock_request l c2\n30 c lock_release l2 c1\n30 a lock_acquired l2\n40 a lock_release l2 c1\n"
             "40 a lock_release l c1\n40 b lock_acquired l\n50 b lock_release l c2\n"));
  const LockSiteStats& waiting = site_row(profile, "consume (queue.cc:33)");
  EXPECT_EQ(waiting.use.owner_wait_ns, 30);
  EXPECT_EQ(waiting.use.chained_ns, 20);
}

TEST(LockProfile, ALockThatAnotherThreadGivesUpEndsThere) {
  const LockProfile profile = lock_profile(
      native("0 a lock_acquire l c1\n30 b lock_release l c2\n40 a lock_acquire l c1\n45 a lock_release l c1\n"));
  EXPECT_EQ(profile.locks[0].use.hold.total_ns, 35);
}

TEST(LockProfile, SemaphoresAreAcquiredButNotHeld) {
  const LockProfile profile =
      lock_profile(native("0 a lock_acquire s c1\n5 a lock_request s c1\n9 b sync_signal s c2\n10 a lock_acquired "
                          "s\n20 a lock_busy s c1\n"));
  EXPECT_EQ(profile.locks[0].use.acquisitions, 2u);
  EXPECT_EQ(profile.locks[0].use.contended, 1u);
  EXPECT_EQ(profile.locks[0].use.hold.count, 0u);
  EXPECT_EQ(profile.locks[0].use.failed, 1u);
}

// Locks of one class are one row. Of a JVM's locks only the waits are known, and who held them.
TEST(LockProfile, WaitsOfAJvmAreCountedByClassOfLock) {
  const model::Trace trace = parsed(
      "fact jvm.name x\nmethod m1 shop.Cache.get Cache.java:10\nmethod m2 shop.Cache.put Cache.java:30\n"
      "context c1 - m1:12\ncontext c2 - m2:33\nlock l1 monitor \"shop.Cache\"\nlock l2 monitor \"shop.Cache\"\n"
      "lock l3 condition \"shop.Queue\"\nthread a\nthread b\nthread c\n0 a thread_begin\n0 b thread_begin\n"
      "10 a block_begin monitor c1\n10 a blocked_on l1 b\n10 a holder_at c2\n40 a block_end monitor\n"
      "50 b block_begin monitor c1\n50 b blocked_on l2 c\n60 b block_end monitor\n"
      "70 b block_begin object_wait c1\n70 b blocked_on l3\n90 b block_end object_wait\n"
      "100 a thread_end\n100 b thread_end\n");
  const LockProfile profile = lock_profile(trace, {.locks_only = true});
  ASSERT_EQ(profile.locks.size(), 1u);
  const LockRowStats& lock = profile.locks[0];
  EXPECT_EQ(lock_name(trace, lock.lock), "shop.Cache");
  EXPECT_EQ(lock.instances, 2u);
  EXPECT_EQ(lock.threads, 2u);
  EXPECT_EQ(lock.use.contended, 2u);
  EXPECT_TRUE(lock.use.waits_only);
  EXPECT_EQ(lock.use.wait.total_ns, 40);
  EXPECT_EQ(lock.use.hold.count, 0u);
  EXPECT_EQ(profile.left_out, 1u);
  EXPECT_EQ(profile.left_out_wait_ns, 20);
  const LockSiteStats& get = site_row(profile, "Cache.get (Cache.java:12)");
  EXPECT_EQ(profile.sites[get.owner_site].label, "Cache.put (Cache.java:33)");
  EXPECT_DOUBLE_EQ(get.owner_share, 0.75);
  ASSERT_EQ(profile.longest_waits.size(), 2u);
  EXPECT_EQ(profile.longest_waits[0].wait_ns(), 30);
}

}  // namespace
}  // namespace contrafact::analysis
