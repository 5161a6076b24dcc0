#include "improve/source_places.h"

#include <gmock/gmock.h>

#include "improve/task_candidates.h"
#include "model/facts.h"
#include "model/text_trace.h"

namespace contrafact::improve {
namespace {

using model::ContextId;
using testing::SizeIs;

// One line of the program, c4 and c7, that a map calls back from two lines of its own; and c8, another line.
constexpr std::string_view kCalledBack = R"(pool p thread_pool 1
method m1 shop.Streets.all
method m2 java.util.Map.computeIfAbsent
method m3 shop.Streets.one
method m4 java.util.concurrent.Executor.execute
context c1 - m1:5
context c2 c1 m2:100
context c3 c2 m3:9
context c4 c3 m4:77
context c5 c1 m2:200
context c6 c5 m3:9
context c7 c6 m4:88
context c8 c5 m3:10
context c9 - m2:1
context c10 - m2:2
thread main
thread w
0 main task_spawn a c4 p m3
1 w task_start a
2 w task_end a
3 main task_spawn b c7 p m3
4 w task_start b
5 w task_end b
)";

model::Trace called_back() {
  base::Result<model::Trace> trace = model::parse_text(kCalledBack);
  EXPECT_TRUE(trace.ok()) << trace.error().message;
  return *std::move(trace);
}

TEST(SourcePlaces, LinesOfTheLibraryDoNotCount) {
  const model::Trace trace = called_back();
  const SourcePlaces places(trace);
  const auto of = [&](uint32_t number) { return places.of(ContextId(number - 1)); };
  EXPECT_EQ(of(7), ContextId(3));
  EXPECT_EQ(of(6), ContextId(2));
  EXPECT_EQ(of(5), ContextId(1));
  EXPECT_EQ(of(8), ContextId(7)) << "another line of the program";
  EXPECT_EQ(of(10), ContextId(9)) << "no frame of the program: a place of its own";
  EXPECT_FALSE(places.of(ContextId()).valid());
}

TEST(SourcePlaces, TheKeyOfAStackSaysTheSame) {
  const std::vector<FrameText> x{{"E", "execute", 77}, {"S", "one", 9, true}, {"M", "put", 100}, {"S", "all", 5, true}};
  std::vector<FrameText> y = x;
  y[0].line = 88;
  y[2] = {"M", "compute", 200};
  EXPECT_EQ(place_key(x), place_key(y));
  y[0].method = "submit";
  EXPECT_NE(place_key(x), place_key(y)) << "the line calls something else, too";
  y = x;
  y[1].line = 10;
  EXPECT_NE(place_key(x), place_key(y));
  const std::vector<FrameText> z{{"E", "execute", 77}}, other{{"E", "execute", 78}};
  EXPECT_NE(place_key(z), place_key(other)) << "nothing but lines of libraries is known";
}

// Whoever changes that line changes both tasks: no one improvement has the one alone.
TEST(SourcePlaces, OneLineIsOneImprovement) {
  const model::Trace trace = called_back();
  const Candidates all = task_candidates(trace);
  ASSERT_THAT(all.candidates, SizeIs(1));
  EXPECT_THAT(all.candidates[0].improvement.tasks, SizeIs(2));
}

}  // namespace
}  // namespace contrafact::improve
