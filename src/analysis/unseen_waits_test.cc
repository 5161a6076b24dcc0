#include "analysis/unseen_waits.h"

#include <gmock/gmock.h>

#include "analysis/text_trace_for_test.h"

namespace contrafact::analysis {
namespace {

constexpr char kRowsOfThis[] =
    "fact agent native\nmethod m1 .f f.cc:1\ncontext c1 - m1:2\nlock l mutex\nthread a\nthread b \"other\"\n";

std::optional<UnseenWaits> unseen_in(const std::string& events) {
  return unseen_waits(parsed(kRowsOfThis + events));
}

TEST(UnseenWaits, BlockedTimeOutsideOfWhatEventsTellOfIsUnseen) {
  const auto unseen = unseen_in(
      "cpu a 11 29 blocked\ncpu b 50 70 blocked\ncpu b 80 85 preempted\n0 a thread_begin\n0 b thread_begin\n10 a "
      "lock_request l c1\n30 a "
      "lock_acquired l\n"
      "40 a lock_release l c1\n"
      "100 a thread_end\n100 b thread_end\n");
  ASSERT_TRUE(unseen);
  EXPECT_EQ(unseen->blocked_ns, 20);
  EXPECT_EQ(unseen->threads_ns, 200);
  EXPECT_EQ(unseen->longest.value, 1u);
}

TEST(UnseenWaits, NothingIsSaidWithoutTheKernelOrOfAJvm) {
  EXPECT_FALSE(unseen_in("0 a thread_begin\n100 a thread_end\n"));
  EXPECT_FALSE(unseen_waits(parsed("thread a\ncpu a 10 50 blocked\n0 a thread_begin\n60 a thread_end\n")));
}

TEST(UnseenWaits, TheTextNamesTheThread) {
  const model::Trace trace = parsed(std::string(kRowsOfThis) +
                                    "cpu b 50 90 blocked\n"
                                    "0 a thread_begin\n0 b thread_begin\n"
                                    "100 a thread_end\n100 b thread_end\n");
  EXPECT_EQ(unseen_waits_text(trace),
            "threads were blocked for 20 % of their time, longest other, for something that the recorder does not see");
}

// Futexes of one place count together; what makes no sense counts for nothing.
TEST(UnseenWaits, TheTextSaysInWhatThreadsWereFound) {
  const model::Trace trace = parsed(std::string(kRowsOfThis) +
                                    "fact blocked.0 \"6 0 202 7f00 0\"\nfact blocked.1 \"3 - 202 7f40 0\"\n"
                                    "fact blocked.2 \"1 1 232 0 0\"\nfact blocked.3 \"9 1 0 0 77\"\n"
                                    "fact blocked.left_out 5\ncpu b 50 90 blocked\n0 a thread_begin\n"
                                    "0 b thread_begin\n100 a thread_end\n100 b thread_end\n");
  const auto unseen = unseen_waits(trace);
  ASSERT_TRUE(unseen);
  EXPECT_EQ(unseen->looks, 10u);
  ASSERT_EQ(unseen->places.size(), 3u);
  EXPECT_EQ(unseen->places[0].looks, 6u);
  EXPECT_EQ(unseen->places[0].futex, 0x7f00u);
  EXPECT_THAT(unseen_waits_text(trace), testing::EndsWith(", in 90 % of 10 looks in futex at f (f.cc:1)"));
}

}  // namespace
}  // namespace contrafact::analysis
