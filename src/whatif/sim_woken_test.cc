#include "whatif/sim_woken.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "whatif/trace_for_test.h"

namespace contrafact::whatif {
namespace {

// The thread that a release woke: when it had a core again, and when it looked at the mutex.
struct Came {
  int64_t core_ns, there_ns;
};

// By section, in the order of acquisitions.
void expect_comings(const Woken& woken, const std::vector<Came>& expected) {
  ASSERT_EQ(woken.by_release.size(), expected.size());
  for (size_t s = 0; s < expected.size(); ++s) {
    EXPECT_EQ(woken.by_release[s].core_ns, expected[s].core_ns) << s;
    EXPECT_EQ(woken.by_release[s].there_ns, expected[s].there_ns) << s;
  }
}

constexpr Came kNobody{INT64_MAX, INT64_MAX};

Woken woken_in(const model::Trace& trace) {
  return find_woken(trace, model::critical_sections(trace));
}

constexpr const char* kThreads = "fact agent native\nfact cores 2\nlock l mutex table\nthread a\nthread b\nthread c\n";

// b sleeps from 110 us on. The release at 200 wakes it. Before b is there, a holds the mutex again and releases it,
// which wakes nobody: the mutex is not marked. b comes in vain at 240, sleeps, and is woken by the release at 300.
TEST(Woken, IsTheFirstAfterAMark) {
  const model::Trace trace = trace_of(std::string(kThreads) +
                                      "cpu b 110000 240000 blocked\ncpu b 245000 330000 blocked\n"
                                      "100000 a lock_acquire l -\n200000 a lock_release l -\n"
                                      "205000 a lock_acquire l -\n210000 a lock_release l -\n"
                                      "215000 a lock_acquire l -\n300000 a lock_release l -\n310000 a thread_end\n"
                                      "105000 b lock_request l -\n333000 b lock_acquired l\n"
                                      "340000 b lock_release l -\n340000 b thread_end\n");
  const Woken woken = woken_in(trace);
  ASSERT_TRUE(woken.known);
  // The way back from the kernel of the one that came in vain is as long as that of the one that did not: 3 us.
  expect_comings(woken, {{240'000, 243'000}, kNobody, {330'000, 333'000}, kNobody});
}

// b and c sleep, b for longer. The first release wakes b, though c comes to its core before it.
TEST(Woken, IsWhoHasSleptForTheLongest) {
  const model::Trace trace = trace_of(std::string(kThreads) +
                                      "cpu b 110000 260000 blocked\ncpu c 120000 230000 blocked\n"
                                      "100000 a lock_acquire l -\n200000 a lock_release l -\n"
                                      "201000 a lock_request l -\n202000 a lock_acquired l\n210000 a lock_release l -\n"
                                      "310000 a thread_end\n"
                                      "105000 b lock_request l -\n262000 b lock_acquired l\n264000 b lock_release l -\n"
                                      "115000 c lock_request l -\n232000 c lock_acquired l\n240000 c lock_release l -\n"
                                      "340000 b thread_end\n340000 c thread_end\n");
  expect_comings(woken_in(trace), {{260'000, 262'000}, {230'000, 232'000}, kNobody, kNobody});
}

// Of a lock of java.util.concurrent who came in vain is still the first of those that wait: the second release wakes b
// again, though c has slept for longer by then.
TEST(Woken, IsWhoAskedFirstForALockOfAJvm) {
  const model::Trace trace = trace_of(
      "fact jvm.name x\nfact cores 2\nlock l mutex table\nthread a\nthread b\nthread c\n"
      "cpu b 110000 240000 blocked\ncpu b 245000 330000 blocked\ncpu c 120000 368000 blocked\n"
      "100000 a lock_acquire l -\n200000 a lock_release l -\n205000 a lock_acquire l -\n300000 a lock_release l -\n"
      "310000 a thread_end\n"
      "105000 b lock_request l -\n333000 b lock_acquired l\n340000 b lock_release l -\n340000 b thread_end\n"
      "115000 c lock_request l -\n370000 c lock_acquired l\n380000 c lock_release l -\n380000 c thread_end\n");
  expect_comings(woken_in(trace), {{240'000, 242'000}, {330'000, 333'000}, {368'000, 370'000}, kNobody});
}

// A thread that lost its core to another one while it waited was not woken.
TEST(Woken, IsNobodyThatWasPreempted) {
  const model::Trace trace = trace_of(std::string(kThreads) +
                                      "cpu b 110000 240000 preempted\n"
                                      "100000 a lock_acquire l -\n200000 a lock_release l -\n300000 a thread_end\n"
                                      "105000 b lock_request l -\n242000 b lock_acquired l\n"
                                      "250000 b lock_release l -\n340000 b thread_end\n");
  expect_comings(woken_in(trace), {kNobody, kNobody});
}

TEST(Woken, IsNotKnownOfALockWithReaders) {
  const model::Trace trace = trace_of(
      "fact agent native\nfact cores 2\nlock l rwlock table\nthread a\nthread b\n"
      "cpu b 110000 240000 blocked\n100000 a lock_acquire l -\n200000 a lock_release l -\n300000 a thread_end\n"
      "105000 b lock_request_shared l -\n242000 b lock_acquired_shared l\n250000 b lock_release l -\n"
      "340000 b thread_end\n");
  const Woken woken = woken_in(trace);
  EXPECT_TRUE(woken.known);
  expect_comings(woken, {kNobody, kNobody});
}

TEST(Woken, IsNotKnownWithoutTheKernelsSwitches) {
  const model::Trace trace = trace_of(std::string(kThreads) +
                                      "100000 a lock_acquire l -\n200000 a lock_release l -\n300000 a thread_end\n"
                                      "105000 b lock_request l -\n242000 b lock_acquired l\n"
                                      "250000 b lock_release l -\n340000 b thread_end\n");
  EXPECT_FALSE(woken_in(trace).known);
}

}  // namespace
}  // namespace contrafact::whatif
