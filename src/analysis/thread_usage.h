// Thread use over time (Rehype, sections 2 and 4.4): how many threads are active, waiting and unoccupied at each
// instant, the aggregates of each series, and the concurrency profile of the paper's figure 4. Definitions:
// docs/metrics.md.
//
// Pure functions; O(n log n) in the number of state changes.
#pragma once

#include <vector>

#include "model/facts.h"

namespace contrafact::analysis {

// Threads in each state from `time_ns` to the next step's time.
struct UsageStep {
  int64_t time_ns = 0;
  uint32_t active = 0;  // includes `blocked`
  uint32_t blocked = 0;
  uint32_t waiting = 0;
  uint32_t unoccupied = 0;
  uint32_t occupied() const { return active + waiting; }
  uint32_t total() const { return active + waiting + unoccupied; }
};

// Weighted by time. A percentile is the least number of threads that is not exceeded for that share of the window.
struct UsageAggregate {
  double mean = 0;
  uint32_t peak = 0;  // held for more than zero time
  uint32_t p50 = 0;
  uint32_t p90 = 0;
  uint32_t p99 = 0;
};

struct UsageAggregates {
  UsageAggregate active, blocked, waiting, unoccupied, occupied, total;
};

struct UsageWindow {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  int64_t duration_ns() const { return end_ns - begin_ns; }
};

struct PoolUsage {
  model::PoolId pool;
  uint32_t workers = 0;  // threads of the pool seen in the run
  UsageAggregates aggregates;
  std::vector<int64_t> occupied_ns;  // [n]: time with exactly n workers occupied
};

struct ThreadUsage {
  UsageWindow window;
  std::vector<UsageStep> steps;  // the first at window.begin_ns; times strictly increase; neighbours differ
  UsageAggregates aggregates;
  std::vector<PoolUsage> pools;  // pools with at least one worker, in order of id
};

struct ThreadUsageOptions {
  // run: from the trace's first event to its last. tasks: from the first spawn or start to the last end or wait_end,
  // which leaves out the start-up and shut-down of the virtual machine and of pools: their threads' own runs are no
  // tasks.
  enum class Window : uint8_t { run, tasks };
  Window window = Window::run;
  bool steps = true;  // false: aggregates only
};

ThreadUsage thread_usage(const model::Facts& facts, const ThreadUsageOptions& options = {});

// The mean number of threads in each state over each of `bins` equal parts of the window.
struct ProfileBin {
  double position = 0;  // the middle of the part, 0 to 1
  double active = 0, blocked = 0, waiting = 0, unoccupied = 0, occupied = 0;
};
std::vector<ProfileBin> concurrency_profile(const ThreadUsage& usage, size_t bins);

// The share of virtual threads in the time of all occupied threads. Virtual threads are not scarce: a waiting one costs
// some memory, and a running one needs a carrier.
double virtual_share(const model::Facts& facts);

}  // namespace contrafact::analysis
