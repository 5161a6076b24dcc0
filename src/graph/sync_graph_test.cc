#include "graph/sync_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/random_trace_for_test.h"
#include "model/text_trace.h"

namespace contrafact::graph {
namespace {

using model::Trace;

struct Recording {
  explicit Recording(Trace made) : trace(std::move(made)) {}
  explicit Recording(const std::string& text) : trace(parse(text)) {}
  static Trace parse(const std::string& text) {
    base::Result<Trace> trace = model::parse_text(text);
    EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().message);
    return trace.ok() ? *std::move(trace) : Trace();
  }

  Trace trace;
  std::vector<model::CriticalSection> sections = model::critical_sections(trace);
  SectionOrder recorded = recorded_order(trace, sections);
  SyncGraph graph = build_sync_graph(trace, recorded);
  SectionOrder needed = needed_order(trace, sections, model::section_sets(trace, sections), recorded);
};

constexpr const char* kHead =
    "lock l mutex\nlock v condition\naccess_set reads complete 0+8:r\naccess_set adds complete 0+8:rwc\n"
    "thread x\nthread y\n";

std::string contended(const std::string& set) {
  return std::string(kHead) +
         "0 x thread_begin\n0 y thread_begin\n"
         "10 x lock_acquire l\n20 y lock_request l\n58 x accesses " +
         set +
         "\n60 x lock_release l\n62 y lock_acquired l\n"
         "92 y accesses " +
         set + "\n92 y lock_release l\n80 x thread_end\n100 y thread_end\n";
}

std::vector<std::string> told(const Recording& run) {
  std::vector<std::string> parts;
  for (const PathPart& part : critical_path(run.graph, run.recorded)) {
    const char* how = part.handed != UINT32_MAX ? " handed" : part.woken ? " woken" : "";
    parts.push_back(std::string(run.trace.string(run.trace.threads[part.thread.index()].name)) + " " +
                    std::to_string(part.begin_ns) + "-" + std::to_string(part.end_ns) + how);
  }
  return parts;
}

// y need not wait the 42 ns: it ends at 58, and x at 80.
TEST(SyncGraph, WithoutAnUnnecessaryOrderTheWaiterRunsAtOnce) {
  const Recording run(contended("reads"));
  EXPECT_EQ(run.graph.duration_ns(), 100);
  EXPECT_EQ(propagate(run.graph, run.recorded), 100);
  EXPECT_EQ(propagate(run.graph, run.needed), 80);
}

// A JVM's threads: one that ends it, a daemon, the collector. They last to the end, however early that is.
TEST(SyncGraph, TheVirtualMachinesThreadsDoNotKeepTheRun) {
  const Recording run("fact jvm.name x\n" + contended("reads") +
                      "thread d \"DestroyJavaVM\"\nthread c \"Common-Cleaner\" daemon\n"
                      "5 c thread_begin\n100 d thread_begin\n103 d thread_end\n103 c thread_end\n");
  EXPECT_EQ(run.graph.duration_ns(), 100);
  EXPECT_EQ(propagate(run.graph, run.recorded), 100);
  EXPECT_EQ(propagate(run.graph, run.needed), 80);
}

TEST(SyncGraph, AConflictKeepsItsOrder) {
  const Recording run(contended("adds"));
  EXPECT_EQ(propagate(run.graph, run.needed), 100);
}

TEST(SyncGraph, TheCriticalPathGoesThroughTheHolderOfTheLock) {
  EXPECT_THAT(told(Recording(contended("adds"))), testing::ElementsAre("x 0-60", "y 60-62 handed", "y 62-100"));
}

TEST(SyncGraph, ThePathFollowsSignalsThreadsAndJoins) {
  const Recording run(
      std::string(kHead) +
      "0 x thread_begin\n5 x task_spawn t1\n8 y thread_begin\n8 y task_start t1\n"
      "10 x lock_acquire l\n10 x lock_release l\n10 x sync_wait v\n40 y sync_signal v\n43 x sync_woken v\n"
      "43 x lock_acquire l\n44 x lock_release l\n45 x wait_begin t1\n70 y task_end t1\n70 y thread_end\n"
      "75 x wait_end t1\n80 x thread_end\n");
  EXPECT_EQ(propagate(run.graph, run.recorded), 80);
  EXPECT_THAT(told(run), testing::ElementsAre("x 0-5", "y 5-8 woken", "y 8-70", "x 70-75 woken", "x 75-80"));
}

TEST(SyncGraph, AThreadThatStillWaitsAtTheEndDoesNotHoldItUp) {
  const Recording run(
      std::string(kHead) +
      "0 x thread_begin\n0 y thread_begin\n10 x lock_acquire l\n15 y lock_request l\n50 x lock_release l\n"
      "55 y lock_acquired l\n56 y lock_release l\n57 y sync_wait v\n100 x thread_end\n");
  EXPECT_FALSE(run.graph.counts[1]);
  EXPECT_EQ(propagate(run.graph, run.recorded), 100);
}

// The file ends at 100: x waits for y's end, z sleeps, and y, which works, would have come there 42 ns sooner.
TEST(SyncGraph, ACutOffRunLastsAsLongAsTheThreadsThatWorkedAtItsEnd) {
  const Recording run(
      std::string(kHead) +
      "thread z\n0 x thread_begin\n0 y thread_begin\n1 x task_spawn t1 -\n2 y task_start t1\n3 z block_begin sleep -\n"
      "10 x lock_acquire l\n20 y lock_request l\n58 x accesses reads\n60 x lock_release l\n62 y lock_acquired l\n"
      "65 x wait_begin t1\n92 y accesses reads\n92 y lock_release l\n100 y lock_acquire l\n");
  EXPECT_THAT(run.graph.counts, testing::ElementsAre(false, true, false));
  EXPECT_EQ(propagate(run.graph, run.recorded), 100);
  EXPECT_EQ(propagate(run.graph, run.needed), 58);
}

// Damaged recordings: nothing to compute, but no way out of the rails.
TEST(SyncGraph, RandomTracesKeepTheirDurationOrder) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const Recording run(model::random_trace(seed, 400, seed % 4 == 0));
    EXPECT_GE(propagate(run.graph, run.recorded), 0);
    EXPECT_LE(propagate(run.graph, run.needed), propagate(run.graph, run.recorded));
    int64_t end_ns = INT64_MIN;
    for (const PathPart& part : critical_path(run.graph, run.recorded)) {
      EXPECT_GE(part.begin_ns, end_ns);
      end_ns = part.end_ns;
    }
  }
}

}  // namespace
}  // namespace contrafact::graph
