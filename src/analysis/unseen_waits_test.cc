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

}  // namespace
}  // namespace contrafact::analysis
