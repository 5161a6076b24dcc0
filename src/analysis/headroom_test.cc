#include "analysis/headroom.h"

#include <gmock/gmock.h>

#include "analysis/metric_set.h"
#include "analysis/text_trace_for_test.h"

namespace contrafact::analysis {
namespace {

// Two workers of a pool of five, both occupied from 100 to 200, one of them until 400.
constexpr std::string_view kEvents = R"(
method m shop.Job.run
pool p thread_pool 5 5
pool cached thread_pool 0 max
thread main
thread w1
thread w2
0 main task_spawn t1 - p m
0 main task_spawn t2 - p m
50 main task_spawn t3 - p m
100 w1 task_start t1
200 w1 task_end t1
100 w2 task_start t2
200 w2 task_end t2
200 w1 task_start t3
400 w1 task_end t3
50 main wait_begin t3
400 main wait_end t3
)";

// The same, but the third task is on a thread that the recording does not contain, as in estimates of stages.
TEST(Headroom, AnEstimateMayNeedMoreWorkersThanThereAre) {
  std::string two(kEvents);
  two.replace(two.find("thread_pool 5 5"), 15, "thread_pool 2 2");
  std::string three = two;
  three.replace(three.find("200 w1 task_start t3\n400 w1 task_end t3\n"), 40,
                "150 stage task_start t3\n350 stage task_end t3\n");
  three.insert(three.find("thread w1"), "thread stage\n");
  const model::Trace recorded = parsed(two), estimated = parsed(three);
  const std::optional<OverfullPool> full = overfull_pool(recorded, estimated);
  ASSERT_TRUE(full);
  EXPECT_EQ(full->needed, 3u);
  EXPECT_EQ(full->size, 2u);
  EXPECT_FALSE(overfull_pool(recorded, recorded));
  EXPECT_FALSE(overfull_pool(parsed(std::string(kEvents)), estimated));
}

TEST(Headroom, CopiesThatFit) {
  const model::Trace trace = parsed(std::string(kEvents));
  const std::vector<PoolHeadroom> rows = headroom(trace, thread_usage(trace));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].size, 5u);
  EXPECT_EQ(rows[0].workers_seen, 2u);
  EXPECT_EQ(rows[0].peak_occupied, 2u);
  EXPECT_DOUBLE_EQ(rows[0].mean_occupied, 1.0);
  EXPECT_DOUBLE_EQ(rows[0].utilisation, 0.2);
  EXPECT_EQ(rows[0].saturated_ns, 0);
  EXPECT_EQ(rows[0].queue_peak, 3u);
  EXPECT_EQ(rows[0].copies_by_peak, 2u);
  EXPECT_DOUBLE_EQ(*rows[0].copies_by_mean, 5.0);
}

TEST(Headroom, SaturatedPools) {
  std::string text(kEvents);
  text.replace(text.find("p thread_pool 5 5"), 17, "p thread_pool 2 2");
  const model::Trace trace = parsed(text);
  const std::vector<PoolHeadroom> rows = headroom(trace, thread_usage(trace));
  EXPECT_EQ(rows[0].saturated_ns, 100);
  EXPECT_EQ(rows[0].copies_by_peak, 1u);
}

TEST(Headroom, PoolsWithoutASize) {
  const model::Trace trace = parsed(R"(
method m shop.Job.run
pool cached thread_pool 0 max
thread main
thread w1
0 main task_spawn t1 - cached m
10 w1 task_start t1
20 w1 task_end t1
)");
  const std::vector<PoolHeadroom> rows = headroom(trace, thread_usage(trace));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].size, 0u);
  EXPECT_FALSE(rows[0].copies_by_peak.has_value());
}

TEST(MetricSet, NamesAndValues) {
  const model::Trace trace = parsed(std::string(kEvents));
  const std::vector<Metric> metrics = run_metrics(trace, thread_usage(trace));
  ASSERT_EQ(metrics.size(), metric_specs().size());
  const auto value = [&](std::string_view name) {
    for (const Metric& metric : metrics) {
      if (metric.spec->name == name) return metric.value;
    }
    ADD_FAILURE() << name;
    return -1.0;
  };
  EXPECT_DOUBLE_EQ(value("duration"), 400e-9);
  EXPECT_DOUBLE_EQ(value("peak_occupied"), 3);
  EXPECT_DOUBLE_EQ(value("mean_waiting"), 350.0 / 400);
  EXPECT_DOUBLE_EQ(value("waiting_share"), 350.0 / 800);
  EXPECT_DOUBLE_EQ(value("copies_by_peak"), 2);
  EXPECT_DOUBLE_EQ(value("queue_peak"), 3);
  EXPECT_DOUBLE_EQ(value("tasks_run"), 3);
  EXPECT_DOUBLE_EQ(value("waits"), 1);
  EXPECT_DOUBLE_EQ(value("thread_time_occupied"), 800e-9);
}

}  // namespace
}  // namespace contrafact::analysis
