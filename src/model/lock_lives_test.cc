#include "model/lock_lives.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/critical_sections.h"
#include "model/text_trace.h"

namespace contrafact::model {
namespace {

using testing::ElementsAre;

Trace native_run(std::string_view events) {
  base::Result<Trace> trace = parse_text(
      "method m .work w.cc:1\ncontext c - m:2\nlock l mutex\nlock v condition\nlock b barrier\n"
      "thread x\nthread y\n" +
      std::string(events));
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().message);
  return trace.ok() ? std::move(*trace) : Trace();
}

// The lock of each section, in the order of the locks' numbers.
std::vector<uint32_t> locks_of_sections(const Trace& trace) {
  std::vector<uint32_t> locks;
  for (const CriticalSection& section : critical_sections(trace)) locks.push_back(section.lock.value);
  return locks;
}

TEST(LockLives, EndWhereALockIsDestroyed) {
  const Trace trace = native_run(
      "0 x lock_acquire l c\n5 x lock_release l c\n9 x lock_destroy l c\n"
      "12 y lock_acquire l c\n15 y lock_release l c\n");
  EXPECT_THAT(locks_of_sections(trace), ElementsAre(0, 3));
  EXPECT_EQ(trace.locks[3].kind, format::LockKind::mutex);
  EXPECT_EQ(trace.locks[3].address, trace.locks[0].address);
  EXPECT_EQ(trace.locks[3].name, trace.locks[0].name);
}

TEST(LockLives, EndWhereALockIsInitialisedInWhateverOrderTheThreadsStandInTheFile) {
  const Trace trace = native_run(
      "30 x lock_init l c\n31 x lock_acquire l c\n32 x lock_release l c\n"
      "0 y lock_acquire l c\n5 y lock_release l c\n40 y lock_acquire l c\n41 y lock_release l c\n");
  EXPECT_THAT(locks_of_sections(trace), ElementsAre(0, 3, 3));
}

TEST(LockLives, UnusedOnesAreNone) {
  const Trace trace = native_run(
      "0 x lock_init l c\n1 x lock_destroy l c\n2 x lock_init l c\n3 x lock_acquire l c\n4 x lock_release l c\n"
      "5 x lock_destroy l c\n6 x lock_init l c\n7 x lock_destroy l c\n");
  EXPECT_THAT(locks_of_sections(trace), ElementsAre(0));
  EXPECT_EQ(trace.locks.size(), 3u);
}

TEST(LockLives, KeepAWaitTogetherThatOutlivesItsCondition) {
  const Trace trace = native_run(
      "0 x sync_wait v c\n5 y sync_broadcast v c\n6 y lock_destroy v c\n9 x sync_woken v\n"
      "12 y lock_init v c\n13 y sync_wait v c\n14 x sync_signal v c\n15 y sync_woken v\n");
  const auto sections = critical_sections(trace);
  ASSERT_EQ(sections.size(), 2u);
  EXPECT_EQ(sections[0].lock.value, 1u);
  EXPECT_EQ(sections[0].request_ns, 0);
  EXPECT_EQ(sections[0].acquire_ns, 9);
  EXPECT_EQ(sections[1].lock.value, 3u);
}

TEST(LockLives, KeepAHoldTogetherThatOutlivesItsLock) {
  const auto sections = critical_sections(native_run(
      "0 x lock_acquire l c\n1 x lock_acquire l c\n5 y lock_init l c\n8 x lock_release l c\n9 x lock_release l c\n"
      "10 y lock_acquire l c\n11 y lock_release l c\n"));
  ASSERT_EQ(sections.size(), 2u);
  EXPECT_EQ(sections[0].hold_ns(), 9);
  EXPECT_EQ(sections[1].lock.value, 3u);
}

TEST(LockLives, SurviveTextAndBack) {
  const Trace trace = native_run(
      "0 x lock_init l c\n1 x lock_acquire l c\n2 x lock_release l c\n3 x lock_destroy l c\n"
      "4 x lock_init l c\n5 x lock_acquire l c\n6 x lock_release l c\n7 x lock_destroy l c\n");
  ASSERT_THAT(locks_of_sections(trace), ElementsAre(0, 3));
  const std::string text = print_text(trace);
  const base::Result<Trace> again = parse_text(text);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(print_text(*again), text);
  EXPECT_EQ(again->locks.size(), 4u);
}

}  // namespace
}  // namespace contrafact::model
