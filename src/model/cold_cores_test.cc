#include "model/cold_cores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "model/text_trace.h"

namespace contrafact::model {
namespace {

using testing::ElementsAre;

Trace parsed_trace(const std::string& text) {
  base::Result<Trace> trace = parse_text(text);
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().message);
  return trace.ok() ? std::move(*trace) : Trace();
}

ColdCores cores_by(const std::string& fact) {
  return ColdCores(parsed_trace("fact core.refill_ns \"" + fact + "\"\nthread w\n"));
}

TEST(ColdCores, BetweenMeasuredTimesTheLossGrowsInProportion) {
  const ColdCores cores = cores_by("500000:20000 3000000:220000 10000000:200000");
  EXPECT_EQ(cores.full_ns(), 220'000);  // a longer sleep loses no less
  EXPECT_EQ(cores.share(0), 0);
  EXPECT_DOUBLE_EQ(cores.share(250'000), 10.0 / 220);
  EXPECT_DOUBLE_EQ(cores.share(1'750'000), 120.0 / 220);
  EXPECT_EQ(cores.share(5'000'000), 1);
  EXPECT_EQ(cores.share(INT64_MAX), 1);
}

TEST(ColdCores, WithoutTheFactOrWithADamagedOneNothingIsLost) {
  for (const char* text : {"", "500000", "500000:", "500000:1 2:3", "0:7", "500000:-1", "500000:20000x",
                           "500000:20000 ", "1:99999999999"}) {
    const ColdCores cores = cores_by(text);
    EXPECT_EQ(cores.any(), std::string(text) == "500000:20000 ") << text;
    if (!cores.any()) {
      EXPECT_EQ(cores.share(1'000'000), 0) << text;
    }
  }
}

std::vector<std::pair<int64_t, int64_t>> starts_of(const Trace& trace, size_t thread) {
  std::vector<std::pair<int64_t, int64_t>> found;
  const std::vector<std::vector<ColdStart>> all = cold_starts(trace);
  for (const ColdStart& start : all[thread]) found.emplace_back(start.time_ns / 1000, start.idle_ns / 1000);
  return found;
}

TEST(ColdStarts, ACoreIsIdleSinceTheLastThreadLeftIt) {
  const Trace trace = parsed_trace(
      "thread a\nthread b\n"
      "cpu a 0 1000000 blocked\n"        // on until 2000 us
      "cpu a 2000000 9000000 blocked\n"  // b was on until 5000
      "cpu a 9100000 9100000 preempted\n"
      "cpu a 9200000 30000000 blocked\n"
      "cpu b 0 4000000 blocked\n"
      "cpu b 5000000 20000000 blocked\n"
      "cpu b 21000000 31000000 blocked\n"
      "0 a block_begin sleep -\n1000000 a block_end sleep\n40000000 a block_begin sleep -\n50000000 a block_end "
      "sleep\n"
      "0 b block_begin sleep -\n50000000 b block_end sleep\n");
  EXPECT_THAT(starts_of(trace, 0), ElementsAre(std::pair(1000, 0), std::pair(9000, 4000), std::pair(30000, 9000)));
  EXPECT_THAT(starts_of(trace, 1),
              ElementsAre(std::pair(4000, 2000), std::pair(20000, 10800), std::pair(31000, 30000)));
}

}  // namespace
}  // namespace contrafact::model
