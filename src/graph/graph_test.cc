// The trace-DAG: built, verified, propagated unchanged and with tasks moved.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/lane_machine.h"
#include "graph/lane_peaks.h"
#include "graph/propagate.h"
#include "graph/trace_dag.h"
#include "model/text_trace.h"

namespace contrafact::graph {
namespace {

using ::testing::HasSubstr;

// main hands out t1 and t2, and waits for both; each of two workers runs one.
constexpr char kTwoTasks[] = R"(thread main
thread w1
thread w2
pool p thread_pool 2
0 main thread_begin
100 main task_spawn t1 - p
150 main task_spawn t2 - p
120 w1 task_start t1
520 w1 task_end t1
160 w2 task_start t2
260 w2 task_end t2
200 main wait_begin t1
530 main wait_end t1
540 main wait_begin t2
541 main wait_end t2
600 main thread_end
)";

TraceDag dag_of(const model::Trace& trace) {
  base::Result<TraceDag> dag = build_dag(trace);
  CHECK(dag.ok());
  return *std::move(dag);
}

TEST(Propagate, UnchangedHasTheRecordedTimes) {
  const model::Trace trace = *model::parse_text(kTwoTasks);
  const TraceDag dag = dag_of(trace);
  Propagator propagator(dag);
  const Propagated& propagated = propagator.run({}, {.steps = true});
  EXPECT_EQ(propagated.end_ns, 600);
  EXPECT_TRUE(propagated.stuck.empty());
  size_t vertices = 0;
  for (const std::vector<Step>& steps : propagated.steps) {
    for (const Step& step : steps) {
      if (step.kind != Step::Kind::vertex) continue;
      EXPECT_EQ(step.time_ns, trace.time_ns[dag.vertex_event[step.index]]);
      ++vertices;
    }
  }
  EXPECT_EQ(vertices, dag.vertices.size());
}

TEST(Propagate, ATaskAtItsSpawnHoldsItsSpawner) {
  const model::Trace trace = *model::parse_text(kTwoTasks);
  const TraceDag dag = dag_of(trace);
  Propagator propagator(dag);
  const std::vector<Placement> placements{Placement::at_spawn, Placement::own_thread};
  const Propagated& propagated = propagator.run(placements);
  // t1 runs from 100 to 500 on main; the gap to the next event, which a hand-out may have cost, is at most 50.
  EXPECT_EQ(propagator.completed_ns(TaskId(0)), 500);
  EXPECT_GE(propagator.available_ns(TaskId(1)), 500);
  EXPECT_LE(propagator.available_ns(TaskId(1)), 550);
  EXPECT_GT(propagated.end_ns, 600);
}

TEST(Propagate, SaysWhoWaitsForWhom) {
  // Main waits for t1, and wakes it only then, if t1 runs in main's midst.
  const model::Trace trace = *model::parse_text(R"(thread main
thread w1
pool p thread_pool 1
0 main thread_begin
10 main task_spawn t1 - p
15 main task_spawn t2 - p
20 w1 task_start t1
30 w1 wait_begin t2
50 main task_start t2
60 main task_end t2
65 w1 wait_end t2
70 w1 task_end t1
80 main thread_end
)");
  const TraceDag dag = dag_of(trace);
  Propagator propagator(dag);
  const std::vector<Placement> placements{Placement::at_spawn, Placement::own_thread};
  const Propagated& propagated = propagator.run(placements);
  ASSERT_FALSE(propagated.stuck.empty());
  EXPECT_EQ(propagated.stuck[0].task, TaskId(0));
  EXPECT_EQ(propagated.stuck[0].waits_for, TaskId(1));
}

TEST(Propagate, CountsItsWorkAndGivesUp) {
  const model::Trace trace = *model::parse_text(kTwoTasks);
  const TraceDag dag = dag_of(trace);
  Propagator propagator(dag);
  EXPECT_GE(propagator.run({}).visits, dag.vertices.size());
  EXPECT_FALSE(propagator.run({}).gave_up);
  EXPECT_TRUE(propagator.run({}, {.visits_max = 3}).gave_up);
  EXPECT_FALSE(propagator.run({}).gave_up);
}

TEST(Verify, AcceptsWhatIsBuilt) {
  const model::Trace trace = *model::parse_text(kTwoTasks);
  EXPECT_TRUE(verify(dag_of(trace)).ok());
}

// Why a sound DAG is refused after one change.
template <typename Change>
std::string refusal(Change change) {
  const model::Trace trace = *model::parse_text(kTwoTasks);
  TraceDag dag = dag_of(trace);
  change(dag);
  const base::Status status = verify(dag);
  return status.ok() ? "" : status.error().message;
}

Vertex& first_of(TraceDag& dag, VertexKind kind) {
  for (Vertex& vertex : dag.vertices) {
    if (vertex.vertex_kind() == kind) return vertex;
  }
  CHECK(false);
}

TEST(Verify, RefusesBodiesThatOverlapOrLeaveGaps) {
  EXPECT_THAT(refusal([](TraceDag& dag) { dag.bodies[2].begin = dag.bodies[2].end = 0; }), HasSubstr("to no body"));
  EXPECT_THAT(refusal([](TraceDag& dag) { dag.bodies[0] = dag.bodies[2]; }), HasSubstr("to two bodies"));
  EXPECT_THAT(refusal([](TraceDag& dag) { dag.bodies[2].end = 1000; }), HasSubstr("beyond the vertices"));
}

TEST(Verify, RefusesVerticesThatNameNothing) {
  EXPECT_THAT(refusal([](TraceDag& dag) { first_of(dag, VertexKind::spawn).id = 7; }), HasSubstr("names no task"));
  EXPECT_THAT(refusal([](TraceDag& dag) { first_of(dag, VertexKind::wait).kind = uint32_t(VertexKind::block); }),
              HasSubstr("names no wake-up"));
  EXPECT_THAT(refusal([](TraceDag& dag) { dag.task_flags[0] = kHasSpawn; }), HasSubstr("never completes"));
}

TEST(Verify, RefusesTasksThatAreNotCalledOnce) {
  EXPECT_THAT(refusal([](TraceDag& dag) { first_of(dag, VertexKind::call).id ^= 1; }), HasSubstr("called twice"));
  EXPECT_THAT(refusal([](TraceDag& dag) { first_of(dag, VertexKind::call).kind = uint32_t(VertexKind::sleep); }),
              HasSubstr("never called"));
}

// One row for each change, in one lane.
uint32_t peak_of(const std::vector<std::pair<int64_t, bool>>& changes, int64_t end_ns, size_t lane,
                 size_t kept = kLanes) {
  LanePeaks peaks(changes.size(), kept);
  peaks.begin(0, end_ns);
  size_t row = 0;
  LaneRow none;
  for (int64_t& each : none.lane) each = kNever;
  for (const auto& [time_ns, rises] : changes) {
    peaks.rows()[row] = none;
    peaks.rows()[row++].lane[lane] = time_ns * 2 + rises;
  }
  while (row % LanePeaks::kChunk != 0) peaks.rows()[row++] = none;
  peaks.count(row);
  return peaks.find(lane);
}

TEST(LanePeaks, ThreadsThatHandOverAtOneInstantCountOnce) {
  EXPECT_EQ(peak_of({{0, true}, {10, true}, {10, false}, {20, false}}, 20, 3), 1u);
  EXPECT_EQ(peak_of({{0, true}, {9, true}, {10, false}, {20, false}}, 20, 3), 2u);
}

TEST(LanePeaks, ChangesOutsideTheRunCountToo) {
  EXPECT_EQ(
      peak_of({{-50, true}, {-40, true}, {5, false}, {1'000'000, true}, {1'000'001, true}, {2'000'000, false}}, 20, 0),
      3u);
}

// A short burst in a long run, more changes than one chunk holds, in no order of time.
TEST(LanePeaks, AreFoundInsideABucket) {
  std::vector<std::pair<int64_t, bool>> changes;
  for (int64_t i = 0; i < 3000; ++i) {
    changes.emplace_back(i * 1000, true);
    changes.emplace_back(i * 1000 + 500, false);
  }
  for (int64_t i = 0; i < 9; ++i) {
    changes.emplace_back(1'234'001 + i, true);
    changes.emplace_back(1'234'030 + i, false);
  }
  std::swap(changes[5], changes[6003]);
  EXPECT_EQ(peak_of(changes, 3'000'000, 7), 10u);
  EXPECT_EQ(peak_of(changes, 3'000'000, 7, 8), 10u);
  EXPECT_EQ(peak_of(changes, 3'000'000, 0, 1), 10u);
}

// The changes of the other lanes are forgotten, and do not alter the peaks of the first ones.
TEST(LanePeaks, KeepTheFirstLanesAlone) {
  constexpr size_t kKept = 4;
  for (const LaneMachine* machine : lane_machines()) {
    LanePeaks peaks(PeakMemory::kChunk, kKept);
    peaks.begin(0, 1000);
    for (size_t row = 0; row < PeakMemory::kChunk; ++row) {
      for (size_t lane = 0; lane < kLanes; ++lane)
        peaks.rows()[row].lane[lane] = row < lane + 2 ? static_cast<int64_t>(row) * 2 + 1 : kNever;
    }
    machine->count(peaks.memory(), PeakMemory::kChunk);
    for (size_t lane = 0; lane < kKept; ++lane) EXPECT_EQ(peaks.find(lane), lane + 2);
  }
}

// Changes that follow each other and are hours apart, in the midst of others.
TEST(LanePeaks, AreFoundAmongChangesFarApart) {
  std::vector<std::pair<int64_t, bool>> changes;
  constexpr int64_t kHour = 3'600'000'000'000;
  for (int64_t i = 0; i < 2000; ++i) {
    changes.emplace_back(i * 1000, true);
    changes.emplace_back(i * 1000 + 500, false);
  }
  for (int64_t i = 0; i < 20; ++i) changes.emplace_back((i % 2) * kHour + i * 10, true);
  for (int64_t i = 0; i < 20; ++i) changes.emplace_back((i % 2) * kHour + 1000 + i * 10, false);
  EXPECT_EQ(peak_of(changes, 2 * kHour, 2), 11u);
}

}  // namespace
}  // namespace contrafact::graph
