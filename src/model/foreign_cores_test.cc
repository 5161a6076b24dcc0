#include "model/foreign_cores.h"

#include <gtest/gtest.h>

#include <string>

#include "model/text_trace.h"

namespace contrafact::model {
namespace {

// Thread a loses the only core from 1,000,000 to 2,000,000 ns; thread b has it from 1,001,000 ns on until
// `b_leaves_ns`.
ForeignCores lost_by_a(int64_t b_leaves_ns) {
  const base::Result<Trace> trace = parse_text(
      "fact agent native\nfact cores 1\nthread a\nthread b\ncpu a 1000000 2000000 preempted\n"
      "cpu b 1000 1001000 blocked\ncpu b " +
      std::to_string(b_leaves_ns) +
      " 2900000 blocked\n0 a thread_begin\n3000000 a thread_end\n0 b thread_begin\n2950000 b thread_end\n");
  EXPECT_TRUE(trace) << trace.error().message;
  return trace ? ForeignCores(*trace, 1) : ForeignCores();
}

TEST(ForeignCores, HadTheCoreWhereNoThreadOfTheProgramHadIt) {
  EXPECT_EQ(lost_by_a(1'500'000).lost_ns(1'000'000, 2'000'000), 500'000);
}

// The switch from b back to a takes a while, too.
TEST(ForeignCores, HadNothingBetweenTwoThreadsOfTheProgram) {
  EXPECT_EQ(lost_by_a(1'996'000).lost_ns(1'000'000, 2'000'000), 0);
}

}  // namespace
}  // namespace contrafact::model
