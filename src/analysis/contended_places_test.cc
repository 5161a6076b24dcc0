#include "analysis/contended_places.h"

#include "analysis/text_trace_for_test.h"

namespace contrafact::analysis {
namespace {

std::vector<ContendedPlace> places_in(std::string_view events) {
  const model::Trace trace = parsed_with_rows(events);
  return contended_places(model::Facts(trace));
}

// Two workers that wait at one line overlap for 10; at another line one waits for 5.
constexpr std::string_view kWaits = R"(
0 main thread_begin
0 w1 thread_begin
0 w2 thread_begin
1 main task_spawn t1 c1 p m2
2 main task_spawn t2 c1 p m2
10 w1 task_start t1
10 w2 task_start t2
20 w1 block_begin monitor c2
30 w2 block_begin monitor c2
40 w1 block_end monitor
60 w2 block_end monitor
70 w1 block_begin monitor c4
75 w1 block_end monitor
80 w1 block_begin sleep c2
85 w1 block_end sleep
90 w1 task_end t1
90 w2 task_end t2
100 main thread_end
)";

TEST(ContendedPlaces, WaitsAtOneLineCoverTheirUnion) {
  const std::vector<ContendedPlace> places = places_in(kWaits);
  ASSERT_EQ(places.size(), 2u);
  EXPECT_EQ(places[0].contended_ns, 40);
  EXPECT_EQ(places[0].context, model::ContextId(1));
  EXPECT_FALSE(places[0].holder_may_wait);
  EXPECT_EQ(places[1].contended_ns, 5);
}

TEST(ContendedPlaces, AMethodThatWaitsForMayHoldItsLockMeanwhile) {
  for (const char* waits :
       {"80 w2 wait_begin t1 c3\n90 w2 wait_end t1\n", "80 w2 block_begin park c3\n85 w2 block_end park\n"}) {
    SCOPED_TRACE(waits);
    std::string events(kWaits);
    const size_t at = events.find("90 w1 task_end");
    events.insert(at, waits);
    const std::vector<ContendedPlace> places = places_in(events);
    ASSERT_EQ(places.size(), 2u);
    EXPECT_TRUE(places[0].holder_may_wait);
    EXPECT_FALSE(places[1].holder_may_wait);
  }
}

// Two lines, one lock: their waits count together. One line, two locks: apart.
TEST(ContendedPlaces, KnownLocksAreToldApartWhereverTheyAreAskedFor) {
  std::string events(kWaits);
  const auto put_behind = [&](std::string_view line, std::string_view more) {
    events.insert(events.find(line) + line.size(), more);
  };
  put_behind("20 w1 block_begin monitor c2\n", "20 w1 blocked_on l1 main\n20 w1 holder_at c4\n");
  put_behind("30 w2 block_begin monitor c2\n", "30 w2 blocked_on l2\n");
  put_behind("70 w1 block_begin monitor c4\n", "70 w1 blocked_on l1\n");
  const std::vector<ContendedPlace> places =
      places_in("fact jvm.name x\nlock l1 monitor a\nlock l2 monitor b\n" + events);
  ASSERT_EQ(places.size(), 2u);
  EXPECT_EQ(places[0].lock, model::LockId(1));
  EXPECT_EQ(places[0].contended_ns, 30);
  EXPECT_FALSE(places[0].holder_at.valid());
  EXPECT_EQ(places[1].lock, model::LockId(0));
  EXPECT_EQ(places[1].contended_ns, 25);
  EXPECT_EQ(places[1].context, model::ContextId(1));
  EXPECT_EQ(places[1].holder_at, model::ContextId(3));
}

TEST(ContendedPlaces, NativeRunsHoldTheirLocks) {
  EXPECT_TRUE(places_in("fact agent native\nlock l1 mutex\n0 main thread_begin\n10 main block_begin monitor c2\n20 "
                        "main block_end monitor\n"
                        "30 main thread_end\n")
                  .empty());
}

}  // namespace
}  // namespace contrafact::analysis
