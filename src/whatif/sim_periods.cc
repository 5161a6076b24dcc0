#include "whatif/sim_periods.h"

#include <algorithm>
#include <map>
#include <optional>

namespace contrafact::whatif {
namespace {

using model::EventKind;
using model::TaskRow;
using model::Trace;

constexpr uint32_t kNone = UINT32_MAX;

// The runs of one periodic task, in their order.
using Chain = std::vector<uint32_t>;

class Periods {
 public:
  explicit Periods(const Trace& trace) : trace_(trace) {}

  std::vector<int64_t> run() {
    find_chains();
    for (const Chain& chain : chains_) {
      for (const int64_t period_ns : periods_of(chain)) by_place_[place_of(chain)].push_back(period_ns);
    }
    for (const Chain& chain : chains_) {
      if (is_late(chain)) set_due(chain);
    }
    return std::move(due_ns_);
  }

 private:
  bool is_periodic_pool(const TaskRow& row) const {
    return row.pool.valid() && trace_.pools[row.pool.index()].kind == format::PoolKind::scheduled_thread_pool;
  }

  // A worker hands the task out again right after it has run it.
  uint32_t run_before(const TaskRow& row) const {
    if (!is_periodic_pool(row) || !row.spawn.valid() || row.spawn.value == 0) return kNone;
    const uint32_t before = row.spawn.value - 1;
    if (trace_.kind[before] != EventKind::task_end) return kNone;
    if (before < trace_.thread_events(trace_.thread_of(row.spawn)).begin) return kNone;
    const TaskRow& ended = trace_.tasks[trace_.a[before]];
    return ended.pool == row.pool && ended.body == row.body ? trace_.a[before] : kNone;
  }

  void find_chains() {
    std::vector<uint32_t> next(trace_.tasks.size(), kNone);
    std::vector<bool> follows(trace_.tasks.size());
    for (uint32_t task = 0; task < trace_.tasks.size(); ++task) {
      const uint32_t before = run_before(trace_.tasks[task]);
      if (before == kNone) continue;
      next[before] = task;
      follows[task] = true;
    }
    for (uint32_t task = 0; task < trace_.tasks.size(); ++task) {
      if (follows[task] || next[task] == kNone || !trace_.tasks[task].spawn.valid()) continue;
      Chain chain;
      for (uint32_t at = task; at != kNone; at = next[at]) chain.push_back(at);
      chains_.push_back(std::move(chain));
    }
  }

  int64_t spawn_ns(uint32_t task) const { return trace_.time_ns[trace_.tasks[task].spawn.index()] - trace_.begin_ns(); }

  // When the run was due. Known for the first run, and for those that were handed out in time.
  std::optional<int64_t> known_due_ns(const Chain& chain, size_t i) const {
    const int64_t delay_us = trace_.tasks[chain[i]].delay_us;
    if (i > 0 && delay_us == 0) return std::nullopt;
    return spawn_ns(chain[i]) + delay_us * 1000;
  }

  std::vector<int64_t> periods_of(const Chain& chain) const {
    std::vector<int64_t> periods;
    for (size_t i = 1; i < chain.size(); ++i) {
      const std::optional<int64_t> before = known_due_ns(chain, i - 1), due = known_due_ns(chain, i);
      if (before && due && *due > *before) periods.push_back(*due - *before);
    }
    return periods;
  }

  uint32_t place_of(const Chain& chain) const { return trace_.tasks[chain.front()].spawn_context.value; }

  // The first run's time contains its scheduling as well as the period: later runs show the period better.
  std::optional<int64_t> period_ns(const Chain& chain) {
    std::vector<int64_t> periods = periods_of(chain);
    if (periods.size() < 2) periods = by_place_[place_of(chain)];
    if (periods.empty()) return std::nullopt;
    const auto middle = periods.begin() + static_cast<ptrdiff_t>(periods.size() / 2);
    std::ranges::nth_element(periods, middle);
    return *middle;
  }

  // True if a run was handed out without a delay. With a fixed delay between runs, that never happens.
  bool is_late(const Chain& chain) const {
    return std::any_of(chain.begin() + 1, chain.end(), [&](uint32_t task) { return trace_.tasks[task].delay_us == 0; });
  }

  void set_due(const Chain& chain) {
    const std::optional<int64_t> period = period_ns(chain);
    if (!period) return;
    int64_t due_ns = *known_due_ns(chain, 0);
    for (size_t i = 1; i < chain.size(); ++i) {
      const std::optional<int64_t> known = known_due_ns(chain, i);
      due_ns = known ? *known : due_ns + *period;
      if (due_ns_.empty()) due_ns_.assign(trace_.tasks.size(), kNoDueTime);
      due_ns_[chain[i]] = due_ns;
    }
  }

  const Trace& trace_;
  std::vector<Chain> chains_;
  std::map<uint32_t, std::vector<int64_t>> by_place_;  // periods of the chains that one place began
  std::vector<int64_t> due_ns_;
};

}  // namespace

std::vector<int64_t> periodic_due_ns(const model::Trace& trace) {
  return Periods(trace).run();
}

}  // namespace contrafact::whatif
