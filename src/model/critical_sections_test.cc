#include "model/critical_sections.h"

#include <gtest/gtest.h>

#include "model/sync_wakes.h"
#include "model/text_trace.h"

namespace contrafact::model {
namespace {

Trace native(std::string_view events) {
  base::Result<Trace> trace = parse_text(
      "method m .work w.cc:1\ncontext c - m:2\nlock l mutex\nlock v condition\nlock b barrier\nlock s semaphore\n"
      "thread x\nthread y\nthread z\n" +
      std::string(events));
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().message);
  return trace.ok() ? std::move(*trace) : Trace();
}

TEST(CriticalSections, SurviveTextAndBack) {
  const Trace trace = native("0 x lock_acquire l c\n5 x lock_release l c\n");
  const std::string text = print_text(trace);
  const base::Result<Trace> again = parse_text(text);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(print_text(*again), text);
  EXPECT_EQ(critical_sections(*again).size(), 1u);
}

TEST(CriticalSections, OneThatIsNeverGivenUpLastsToTheEnd) {
  const auto sections = critical_sections(native("0 x lock_acquire l c\n0 y thread_begin\n70 y thread_end\n"));
  ASSERT_EQ(sections.size(), 1u);
  EXPECT_FALSE(sections[0].release.valid());
  EXPECT_EQ(sections[0].hold_ns(), 70);
}

TEST(CriticalSections, ARequestThatIsNeverGrantedIsNoSection) {
  const auto sections = critical_sections(native("0 x lock_acquire l c\n5 y lock_request l c\n9 x thread_end\n"));
  ASSERT_EQ(sections.size(), 2u);
  EXPECT_NE(sections[1].outcome, Outcome::normal);
}

// Of y's only the release is left, and of x's first two only the acquisitions: nothing is held past the next one.
TEST(CriticalSections, WhereEventsAreMissingNoneOutlastsTheNext) {
  const auto sections = critical_sections(
      native("loss 9\n0 x lock_acquire l c\n10 x lock_acquire l c\n30 y lock_release l c\n40 y lock_acquire l c\n"
             "50 y lock_release l c\n60 x lock_acquire l c\n65 x lock_release l c\n90 x thread_end\n"));
  ASSERT_EQ(sections.size(), 4u);
  EXPECT_EQ(sections[0].hold_ns(), 10);
  EXPECT_EQ(sections[1].hold_ns(), 30);
  EXPECT_EQ(sections[2].hold_ns(), 10);
  EXPECT_EQ(sections[3].hold_ns(), 5);
}

struct Woken {
  uint32_t thread, by;
  bool operator==(const Woken&) const = default;
};

std::vector<Woken> woken(const Trace& trace) {
  const auto sections = critical_sections(trace);
  std::vector<Woken> out;
  for (const SyncWake& wake : sync_wakes(trace, sections)) {
    out.push_back({sections[wake.wait].thread.value, trace.thread_of(wake.cause).value});
  }
  return out;
}

TEST(SyncWakes, ASignalReachesOneABroadcastAll) {
  EXPECT_EQ(woken(native("0 x sync_wait v c\n1 y sync_wait v c\n10 z sync_signal v c\n12 y sync_woken v\n"
                         "20 z sync_signal v c\n22 x sync_woken v\n")),
            (std::vector<Woken>{{1, 2}, {0, 2}}));
  EXPECT_EQ(woken(native("0 x sync_wait v c\n1 y sync_wait v c\n10 z sync_broadcast v c\n12 y sync_woken v\n"
                         "22 x sync_woken v\n")),
            (std::vector<Woken>{{1, 2}, {0, 2}}));
}

TEST(SyncWakes, ASignalBeforeTheWaitAndATimeoutWakeNobody) {
  EXPECT_TRUE(woken(native("0 z sync_signal v c\n1 x sync_wait v c\n5 x sync_woken v timeout\n")).empty());
  EXPECT_TRUE(woken(native("0 z sync_signal v c\n1 x sync_wait v c\n5 x sync_woken v\n")).empty());
}

TEST(SyncWakes, TheLastAtABarrierWakesTheOthersRoundByRound) {
  EXPECT_EQ(woken(native("0 x sync_wait b c\n5 y sync_wait b c\n6 y sync_woken b\n7 y sync_wait b c\n8 x sync_woken b\n"
                         "20 x sync_wait b c\n21 x sync_woken b\n22 y sync_woken b\n")),
            (std::vector<Woken>{{0, 1}, {1, 0}}));
}

TEST(SyncWakes, APostWakesWhoeverWaitedForIt) {
  EXPECT_EQ(woken(native("0 x lock_request s c\n10 z sync_signal s c\n12 x lock_acquired s\n20 z sync_signal s c\n"
                         "25 y lock_acquire s c\n")),
            (std::vector<Woken>{{0, 2}}));
}

}  // namespace
}  // namespace contrafact::model
