#include "whatif/lock_estimate.h"

#include <gtest/gtest.h>

#include "model/text_trace.h"

namespace contrafact::whatif {
namespace {

struct Case {
  explicit Case(const std::string& text) : trace(*model::parse_text(text)) {}
  base::Result<LockEstimate> estimate(const LockImprovement& improvement) {
    const LockEstimator estimator(trace, sections, sets, recorded, graph, {});
    EXPECT_EQ(estimator.baseline().retimed_ns, graph.duration_ns());
    return estimator.estimate({&improvement, 1});
  }
  model::Trace trace;
  std::vector<model::CriticalSection> sections = model::critical_sections(trace);
  model::SectionSets sets = model::section_sets(trace, sections);
  graph::SectionOrder recorded = graph::recorded_order(trace, sections);
  graph::SyncGraph graph = graph::build_sync_graph(trace, sections, recorded);
};

// x holds the lock for 40 us; y, which asks 10 us later, waits for it and needs 40 us itself. Both then end.
std::string two_holds(const std::string& set) {
  return "fact agent native\nfact cores 2\nlock l mutex\naccess_set s complete " + set +
         "\nthread x\nthread y\n0 x thread_begin\n0 y thread_begin\n10000 x lock_acquire l\n"
         "20000 y lock_request l\n50000 x accesses s\n50000 x lock_release l\n50000 y lock_acquired l\n"
         "60000 x thread_end\n90000 y accesses s\n90000 y lock_release l\n100000 y thread_end\n";
}

TEST(LockEstimate, ReadersRunSideBySideUnderEveryBound) {
  Case run(two_holds("0+8:r"));
  const auto estimate = run.estimate({LockOptimisation::reader_writer_lock, {0, 1}});
  ASSERT_TRUE(estimate.ok()) << estimate.error().message;
  EXPECT_NEAR(estimate->recorded_order, 0.3, 1e-9);  // y ends at 70 us
  ASSERT_TRUE(estimate->floor.has_value());
  EXPECT_NEAR(*estimate->floor, 0.3, 1e-9);
  EXPECT_TRUE(estimate->simulated);
  EXPECT_NEAR(estimate->free_order, 0.3, 0.01);
  EXPECT_LE(estimate->free_order_low, estimate->free_order);
  EXPECT_GE(estimate->free_order_high, estimate->free_order);
}

TEST(LockEstimate, TheFloorIsWhatConflictsAllow) {
  Case run(two_holds("0+8:rwc"));
  const auto dropped = run.estimate({LockOptimisation::drop_lock, {0, 1}});
  ASSERT_TRUE(dropped.ok()) << dropped.error().message;
  EXPECT_NEAR(dropped->recorded_order, 0.3, 1e-9);
  EXPECT_NEAR(dropped->floor.value_or(1), 0, 1e-9);
  const auto shorter = run.estimate({LockOptimisation::shorten_section, {0}, {}, {0}, {10'000}});
  ASSERT_TRUE(shorter.ok()) << shorter.error().message;
  EXPECT_NEAR(shorter->recorded_order, 0.1, 1e-9);
  EXPECT_FALSE(shorter->floor.has_value());
}

TEST(LockEstimate, AnImpossibleChangeIsAnError) {
  Case run(two_holds("0+8:r"));
  EXPECT_FALSE(run.estimate({LockOptimisation::drop_lock, {7}}).ok());
}

}  // namespace
}  // namespace contrafact::whatif
