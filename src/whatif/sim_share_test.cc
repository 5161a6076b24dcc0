#include "whatif/sim_share.h"

#include <gtest/gtest.h>

#include <vector>

namespace contrafact::whatif {
namespace {

// One more thread at each of 0, 10, ... 190, one less at each of 1000, 1010, ...: on two cores, ever smaller shares.
CoreShare crowded() {
  std::vector<RunningChange> changes;
  for (int64_t i = 0; i < 20; ++i) changes.push_back({10 * i, 1});
  for (int64_t i = 0; i < 20; ++i) changes.push_back({1000 + 10 * i, -1});
  return {changes, 0, 2};
}

TEST(CoreShare, SharesTheCoresEqually) {
  const CoreShare share = crowded();
  CoreShare::Place place = 0;
  EXPECT_EQ(share.cpu_ns(0, 20, place), 20);     // two threads at most
  EXPECT_EQ(share.cpu_ns(30, 40, place), 5);     // four
  EXPECT_EQ(share.cpu_ns(200, 300, place), 10);  // twenty
  EXPECT_EQ(share.cpu_ns(1200, 1300, place), 100);
}

// The place only says where to look first.
TEST(CoreShare, TellsTheSameFromAnyPlace) {
  const CoreShare share = crowded();
  for (int64_t from_ns = -50; from_ns <= 1300; from_ns += 7) {
    CoreShare::Place place = 0;
    share.cpu_ns(from_ns, from_ns + 1, place);
    for (int64_t begin_ns = -60; begin_ns <= 1300; begin_ns += 13) {
      CoreShare::Place begin = 0, there = place;
      EXPECT_EQ(share.cpu_ns(begin_ns, begin_ns + 25, there), share.cpu_ns(begin_ns, begin_ns + 25, begin));
    }
  }
}

}  // namespace
}  // namespace contrafact::whatif
