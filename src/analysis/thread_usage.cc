#include "analysis/thread_usage.h"

#include <algorithm>
#include <array>

#include "base/merge_runs.h"
#include "model/library_calls.h"

namespace contrafact::analysis {
namespace {

using model::EventKind;
using model::PoolId;
using model::ThreadId;
using model::ThreadState;
using model::ThreadUse;
using model::Trace;

// One thread goes from one state to another.
struct Change {
  int64_t time_ns;
  uint32_t pool;  // PoolId::kNone: of no pool
  ThreadState from;
  ThreadState to;
};

// Threads in each state now; `outside` stands for "not there".
using Counts = std::array<uint32_t, model::kThreadStates>;

uint32_t count(const Counts& counts, ThreadState state) {
  return counts[static_cast<size_t>(state)];
}

UsageStep step_of(int64_t time_ns, const Counts& counts) {
  UsageStep step;
  step.time_ns = time_ns;
  step.blocked = count(counts, ThreadState::blocked);
  step.active = count(counts, ThreadState::active) + step.blocked;
  step.waiting = count(counts, ThreadState::waiting);
  step.unoccupied = count(counts, ThreadState::unoccupied);
  return step;
}

bool same_counts(const UsageStep& x, const UsageStep& y) {
  return x.active == y.active && x.blocked == y.blocked && x.waiting == y.waiting && x.unoccupied == y.unoccupied;
}

// Time spent at each value of one series.
class Histogram {
 public:
  void add(uint32_t value, int64_t duration_ns) {
    if (value >= time_ns_.size()) time_ns_.resize(value + 1);
    time_ns_[value] += duration_ns;
  }

  UsageAggregate aggregate() const {
    UsageAggregate result;
    int64_t total_ns = 0;
    double weighted = 0;
    for (size_t value = 0; value < time_ns_.size(); ++value) {
      total_ns += time_ns_[value];
      weighted += static_cast<double>(time_ns_[value]) * static_cast<double>(value);
      if (time_ns_[value] > 0) result.peak = static_cast<uint32_t>(value);
    }
    if (total_ns == 0) return result;
    result.mean = weighted / static_cast<double>(total_ns);
    result.p50 = percentile(total_ns, 0.50);
    result.p90 = percentile(total_ns, 0.90);
    result.p99 = percentile(total_ns, 0.99);
    return result;
  }

  const std::vector<int64_t>& time_ns() const { return time_ns_; }

 private:
  uint32_t percentile(int64_t total_ns, double share) const {
    const double wanted = share * static_cast<double>(total_ns);
    double seen = 0;
    for (size_t value = 0; value < time_ns_.size(); ++value) {
      seen += static_cast<double>(time_ns_[value]);
      if (seen >= wanted) return static_cast<uint32_t>(value);
    }
    return static_cast<uint32_t>(time_ns_.size() - 1);
  }

  std::vector<int64_t> time_ns_;
};

// The six series over one group of threads.
class Series {
 public:
  explicit Series(int64_t begin_ns) : now_ns_(begin_ns) {}

  const Counts& counts() const { return counts_; }

  void apply(const Change& change) {
    advance(change.time_ns);
    --counts_[static_cast<size_t>(change.from)];
    ++counts_[static_cast<size_t>(change.to)];
  }

  void advance(int64_t time_ns) {
    const int64_t duration_ns = time_ns - now_ns_;
    if (duration_ns <= 0) return;
    const UsageStep step = step_of(now_ns_, counts_);
    active_.add(step.active, duration_ns);
    blocked_.add(step.blocked, duration_ns);
    waiting_.add(step.waiting, duration_ns);
    unoccupied_.add(step.unoccupied, duration_ns);
    occupied_.add(step.occupied(), duration_ns);
    total_.add(step.total(), duration_ns);
    now_ns_ = time_ns;
  }

  UsageAggregates aggregates() const {
    return {active_.aggregate(),     blocked_.aggregate(),  waiting_.aggregate(),
            unoccupied_.aggregate(), occupied_.aggregate(), total_.aggregate()};
  }
  const Histogram& occupied() const { return occupied_; }

 private:
  int64_t now_ns_;
  Counts counts_{};
  Histogram active_, blocked_, waiting_, unoccupied_, occupied_, total_;
};

// A pool's own threads end when the pool is shut down, which a simulated run does not show.
bool is_of_worker(const Trace& trace, uint64_t task) {
  return task < trace.tasks.size() && model::is_worker_run(trace, trace.tasks[task]);
}

UsageWindow tasks_window(const Trace& trace, const std::vector<ThreadUse>& uses, UsageWindow run) {
  UsageWindow window{run.end_ns, run.begin_ns};
  const auto add = [&](size_t i) {
    switch (trace.kind[i]) {
      case EventKind::task_spawn:
      case EventKind::task_start:
        if (is_of_worker(trace, trace.a[i])) break;
        window.begin_ns = std::min(window.begin_ns, trace.time_ns[i]);
        break;
      case EventKind::task_end:
        if (is_of_worker(trace, trace.a[i])) break;
        [[fallthrough]];
      case EventKind::wait_end:
        window.end_ns = std::max(window.end_ns, trace.time_ns[i]);
        break;
      default:
        break;
    }
  };
  for (uint32_t thread = 0; thread < uses.size(); ++thread) {
    if (uses[thread].role == model::ThreadRole::bystander) continue;
    const model::EventRange range = trace.thread_events(ThreadId(thread));
    for (uint32_t i = range.begin; i < range.end; ++i) add(i);
  }
  return window.begin_ns < window.end_ns ? window : run;
}

// Every change of every counted thread inside the window, in order of time.
std::vector<Change> changes_of(const Trace& trace, const std::vector<ThreadUse>& uses, UsageWindow window) {
  std::vector<Change> changes;
  std::vector<size_t> runs;
  for (size_t i = 0; i < uses.size(); ++i) {
    runs.push_back(changes.size());
    ThreadState last = ThreadState::outside;
    const uint32_t pool = uses[i].role == model::ThreadRole::worker ? uses[i].pool.value : PoolId::kNone;
    const auto emit = [&](int64_t begin_ns, int64_t end_ns, ThreadState state) {
      begin_ns = std::max(begin_ns, window.begin_ns);
      if (begin_ns >= std::min(end_ns, window.end_ns) || state == last) return;
      changes.push_back({begin_ns, pool, last, state});
      last = state;
    };
    model::for_each_state(trace, ThreadId(static_cast<uint32_t>(i)), uses[i], emit);
    if (last != ThreadState::outside && uses[i].end_ns < window.end_ns) {
      changes.push_back({uses[i].end_ns, pool, last, ThreadState::outside});
    }
  }
  base::merge_runs(changes, std::move(runs), [](const Change& x, const Change& y) { return x.time_ns < y.time_ns; });
  return changes;
}

void append_step(std::vector<UsageStep>& steps, int64_t time_ns, const Counts& counts) {
  const UsageStep step = step_of(time_ns, counts);
  if (!steps.empty() && steps.back().time_ns == time_ns) steps.pop_back();
  if (steps.empty() || !same_counts(steps.back(), step)) steps.push_back(step);
}

}  // namespace

ThreadUsage thread_usage(const model::Facts& facts, const ThreadUsageOptions& options) {
  const Trace& trace = facts.trace();
  ThreadUsage usage;
  usage.window = {trace.begin_ns(), trace.end_ns()};
  const std::vector<ThreadUse>& uses = facts.uses();
  if (options.window == ThreadUsageOptions::Window::tasks) usage.window = tasks_window(trace, uses, usage.window);
  const std::vector<Change> changes = changes_of(trace, uses, usage.window);

  Series all(usage.window.begin_ns);
  std::vector<Series> of_pool(trace.pools.size(), Series(usage.window.begin_ns));
  if (options.steps) {
    usage.steps.reserve(changes.size() + 1);  // what is not used takes no memory
    append_step(usage.steps, usage.window.begin_ns, all.counts());
  }
  for (const Change& change : changes) {
    all.apply(change);
    if (change.pool != PoolId::kNone) of_pool[change.pool].apply(change);
    if (options.steps) append_step(usage.steps, change.time_ns, all.counts());
  }
  all.advance(usage.window.end_ns);
  usage.aggregates = all.aggregates();

  std::vector<uint32_t> workers(trace.pools.size());
  for (const ThreadUse& use : uses) {
    if (use.role == model::ThreadRole::worker) ++workers[use.pool.index()];
  }
  for (size_t i = 0; i < of_pool.size(); ++i) {
    if (workers[i] == 0) continue;
    of_pool[i].advance(usage.window.end_ns);
    usage.pools.push_back(
        {PoolId(static_cast<uint32_t>(i)), workers[i], of_pool[i].aggregates(), of_pool[i].occupied().time_ns()});
  }
  return usage;
}

std::vector<ProfileBin> concurrency_profile(const ThreadUsage& usage, size_t bins) {
  std::vector<ProfileBin> profile(bins);
  const double duration = static_cast<double>(usage.window.duration_ns());
  if (bins == 0 || duration <= 0) return profile;
  const double bin_ns = duration / static_cast<double>(bins);
  for (size_t i = 0; i < bins; ++i) profile[i].position = (static_cast<double>(i) + 0.5) / static_cast<double>(bins);
  for (size_t i = 0; i < usage.steps.size(); ++i) {
    const UsageStep& step = usage.steps[i];
    const int64_t step_end_ns = i + 1 < usage.steps.size() ? usage.steps[i + 1].time_ns : usage.window.end_ns;
    const double begin = static_cast<double>(step.time_ns - usage.window.begin_ns);
    const double end = static_cast<double>(step_end_ns - usage.window.begin_ns);
    for (size_t bin = static_cast<size_t>(begin / bin_ns); bin < bins && static_cast<double>(bin) * bin_ns < end;
         ++bin) {
      const double low = std::max(begin, static_cast<double>(bin) * bin_ns);
      const double high = std::min(end, static_cast<double>(bin + 1) * bin_ns);
      const double weight = std::max(0.0, high - low) / bin_ns;
      profile[bin].active += weight * step.active;
      profile[bin].blocked += weight * step.blocked;
      profile[bin].waiting += weight * step.waiting;
      profile[bin].unoccupied += weight * step.unoccupied;
      profile[bin].occupied += weight * step.occupied();
    }
  }
  return profile;
}

double virtual_share(const model::Facts& facts) {
  const Trace& trace = facts.trace();
  const auto is_virtual = [](const format::ThreadRow& row) { return row.kind == format::ThreadKind::virtual_thread; };
  if (std::ranges::none_of(trace.threads, is_virtual)) return 0;
  const std::vector<ThreadUse>& uses = facts.uses();
  double all_ns = 0, virtual_ns = 0;
  for (uint32_t i = 0; i < trace.threads.size(); ++i) {
    model::for_each_state(trace, model::ThreadId(i), uses[i],
                          [&](int64_t begin_ns, int64_t end_ns, model::ThreadState state) {
                            if (state == model::ThreadState::outside || state == model::ThreadState::unoccupied) return;
                            all_ns += static_cast<double>(end_ns - begin_ns);
                            if (is_virtual(trace.threads[i])) virtual_ns += static_cast<double>(end_ns - begin_ns);
                          });
  }
  return all_ns > 0 ? virtual_ns / all_ns : 0;
}

}  // namespace contrafact::analysis
