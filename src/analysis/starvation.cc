#include "analysis/starvation.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "analysis/pool_waits.h"
#include "model/pool_capacity.h"

namespace contrafact::analysis {
namespace {

using model::PoolId;
using model::TaskId;
using model::TaskRow;
using model::ThreadId;
using model::Trace;

// A wait for more tasks than these counts as one that goes on.
constexpr size_t kSourcesMax = 256;
// The longest times in which all workers of a pool wait are looked at closely.
constexpr size_t kSuspectsMax = 64;
// Near starvation: no worker is left, or one, or at most one in so many.
constexpr uint32_t kNearShare = 4;

// When some of several tasks stood in a queue: from the first hand-out to the last start.
struct Queued {
  int64_t begin_ns = 0, end_ns = 0;
};

int64_t due_ns(const Trace& trace, const TaskRow& task) {
  return trace.time_ns[task.spawn.index()] + int64_t{task.delay_us} * 1000;
}

bool is_queued_at(const Trace& trace, const TaskRow& task, int64_t time_ns) {
  if (!task.spawn.valid() || !task.pool.valid()) return false;
  return due_ns(trace, task) <= time_ns && (!task.start.valid() || trace.time_ns[task.start.index()] > time_ns);
}

// Which threads can go on at one instant, and which tasks can then be complete: the least fixed point of "a thread goes
// on if it sleeps for nothing, or for a task that completes; a task completes if its thread goes on, or if its pool has
// a worker that goes on, or gets one more".
class Instant {
 public:
  Instant(const Trace& trace, const std::vector<model::ThreadUse>& uses, const std::vector<uint32_t>& sizes,
          const std::vector<std::vector<ResultSleep>>& sleeps, int64_t time_ns)
      : trace_(trace), sizes_(sizes), time_ns_(time_ns), asleep_(sleeps.size()), workers_(sizes.size()) {
    for (uint32_t i = 0; i < sleeps.size(); ++i) {
      const auto after =
          std::ranges::upper_bound(sleeps[i], time_ns, {}, [](const ResultSleep& sleep) { return sleep.begin_ns; });
      if (after != sleeps[i].begin() && std::prev(after)->end_ns > time_ns && std::prev(after)->task.valid())
        asleep_[i] = &*std::prev(after);
      const model::ThreadUse& use = uses[i];
      if (use.role == model::ThreadRole::worker && use.begin_ns <= time_ns && time_ns < use.end_ns)
        workers_[use.pool.index()].push_back(i);
    }
    find_stuck();
  }

  // The sleep in which a thread cannot go on; null: it can.
  const ResultSleep* stuck(uint32_t thread) const { return asleep_[thread]; }
  const std::vector<uint32_t>& workers(PoolId pool) const { return workers_[pool.index()]; }
  bool is_starved(PoolId pool) const { return sizes_[pool.index()] > 0 && !goes_on(pool); }

 private:
  void find_stuck() {
    constexpr size_t kRoundsMax = 1000;  // a chain of as many waits is none that anybody can read
    bool changed = true;
    for (size_t round = 0; changed; ++round) {
      changed = false;
      for (const ResultSleep*& sleep : asleep_) {
        if (sleep == nullptr || (round < kRoundsMax && !completes(sleep->task))) continue;
        sleep = nullptr;
        changed = true;
      }
    }
  }

  bool goes_on(PoolId pool) const {
    const uint32_t size = sizes_[pool.index()];
    if (size == 0 || workers_[pool.index()].size() < size) return true;
    return std::ranges::any_of(workers_[pool.index()], [&](uint32_t thread) {
      return asleep_[thread] == nullptr || !asleep_[thread]->keeps_worker;
    });
  }

  bool completes(TaskId task) const {
    size_t looked_at = 0;
    return completes(task, looked_at);
  }

  bool completes(TaskId task, size_t& looked_at) const {
    constexpr size_t kDepthMax = 4 * kSourcesMax;
    if (++looked_at > kDepthMax) return true;
    if (const std::optional<int64_t> done_ns = completed_ns(trace_, task); done_ns && *done_ns <= time_ns_) return true;
    const TaskRow& row = trace_.tasks[task.index()];
    if (row.start.valid() && trace_.time_ns[row.start.index()] <= time_ns_)
      return asleep_[trace_.thread_of(row.start).index()] == nullptr;
    if (is_queued_at(trace_, row, time_ns_)) return goes_on(row.pool);
    bool any = false, all = true;
    const std::span<const model::Dependency> dependencies = dependencies_of(trace_, task);
    for (const model::Dependency& dependency : dependencies) {
      const bool done = completes(dependency.source, looked_at);
      any |= done;
      all &= done;
    }
    if (dependencies.empty()) return true;  // by hand, or handed out later by who can
    return dependencies.front().mode == format::DependsMode::any ? any : all;
  }

  const Trace& trace_;
  const std::vector<uint32_t>& sizes_;
  int64_t time_ns_;
  std::vector<const ResultSleep*> asleep_;  // by thread; null: it can go on
  std::vector<std::vector<uint32_t>> workers_;
};

// All of one pool's workers wait for tasks of pools that wait for each other.
struct Suspect {
  PoolId pool;
  int64_t begin_ns = 0, end_ns = 0;
};

// The waiters of one pool over time.
class PoolWatch {
 public:
  PoolWatch(PoolId pool, uint32_t size) : pool_(pool), size_(size) {}

  void add(const ResultSleep& sleep, const Queued& queued) {
    changes_.push_back({sleep.begin_ns, 1, 0, &sleep});
    changes_.push_back({sleep.end_ns, -1, 0, nullptr});
    const int64_t begin_ns = std::max(sleep.begin_ns, queued.begin_ns);
    const int64_t end_ns = std::min(sleep.end_ns, queued.end_ns);
    if (begin_ns >= end_ns) return;
    changes_.push_back({begin_ns, 0, 1, &sleep});
    changes_.push_back({end_ns, 0, -1, nullptr});
  }

  // Goes through time: what the functions below say.
  void run() {
    std::ranges::sort(changes_, {}, [](const Change& change) {
      return std::pair(change.time_ns, change.waiting + change.queued);  // ends first
    });
    int64_t since_ns = 0;
    int64_t waiting = 0, queued = 0;
    const ResultSleep* latest = nullptr;  // whose task went to the queue, or stood there
    for (const Change& change : changes_) {
      if (since_ns < change.time_ns && waiting > 0) {
        if (waiting >= size_) suspect(since_ns, change.time_ns);
        if (queued > 0) note(since_ns, change.time_ns, static_cast<uint32_t>(waiting), latest);
      }
      since_ns = change.time_ns;
      waiting += change.waiting;
      queued += change.queued;
      if (change.queued > 0) latest = change.sleep;
    }
  }

  const std::vector<Suspect>& suspects() const { return suspects_; }

  std::optional<StarvationRisk> risk() const {
    if (most_ == 0 || most_ >= size_) return std::nullopt;
    if (size_ - most_ > std::max(1u, size_ / kNearShare)) return std::nullopt;
    StarvationRisk risk{.pool = pool_, .size = size_, .waiting = most_, .at_ns = most_at_ns_, .time_ns = most_time_ns_};
    return risk;
  }
  const ResultSleep* example() const { return example_; }

 private:
  struct Change {
    int64_t time_ns;
    int32_t waiting, queued;
    const ResultSleep* sleep;
  };

  void suspect(int64_t begin_ns, int64_t end_ns) {
    if (!suspects_.empty() && suspects_.back().end_ns == begin_ns)
      suspects_.back().end_ns = end_ns;
    else
      suspects_.push_back({pool_, begin_ns, end_ns});
  }

  void note(int64_t begin_ns, int64_t end_ns, uint32_t waiting, const ResultSleep* latest) {
    if (waiting > most_) {
      most_ = waiting;
      most_at_ns_ = begin_ns;
      most_time_ns_ = 0;
      example_ = latest;
    }
    if (waiting == most_) most_time_ns_ += end_ns - begin_ns;
  }

  PoolId pool_;
  uint32_t size_;
  std::vector<Change> changes_;
  std::vector<Suspect> suspects_;
  uint32_t most_ = 0;
  int64_t most_at_ns_ = 0, most_time_ns_ = 0;
  const ResultSleep* example_ = nullptr;
};

class Detector {
 public:
  explicit Detector(const model::Facts& facts) : trace_(facts.trace()), uses_(facts.uses()) {}

  Starvations run() {
    find_sizes();
    const auto [in_circle, held] = pools_in_circles(trace_, uses_);
    bool any = false;
    for (uint32_t i = 0; i < sizes_.size(); ++i) any |= in_circle[i] && held[i] && sizes_[i] > 0;
    if (!any) return {};  // nobody to watch
    sleeps_ = result_sleeps(trace_, uses_);
    watch(in_circle);
    std::vector<Suspect> suspects;
    for (auto& [pool, watched] : watched_) {
      watched.run();
      suspects.insert(suspects.end(), watched.suspects().begin(), watched.suspects().end());
    }
    std::ranges::stable_sort(suspects, std::greater<>(),
                             [](const Suspect& suspect) { return suspect.end_ns - suspect.begin_ns; });
    suspects.resize(std::min(suspects.size(), kSuspectsMax));
    for (const Suspect& suspect : suspects) look_at(suspect);
    std::ranges::stable_sort(result_.starved, {}, [](const Starvation& starvation) {
      return std::pair(starvation.end != StarvationEnd::nothing, starvation.begin_ns - starvation.end_ns);
    });
    add_risks();
    return std::move(result_);
  }

 private:
  // Of pools that can starve; 0: of the others.
  void find_sizes() {
    std::vector<uint32_t> seen(trace_.pools.size());
    for (const model::ThreadUse& use : uses_) {
      if (use.role == model::ThreadRole::worker) ++seen[use.pool.index()];
    }
    sizes_.resize(trace_.pools.size());
    for (uint32_t i = 0; i < sizes_.size(); ++i) {
      const format::PoolRow& pool = trace_.pools[i];
      const bool guessed = pool.kind == format::PoolKind::other && pool.core_size == 0;
      const uint32_t size = model::pool_capacity(pool, seen[i]);
      if (!guessed && size != model::kUnboundedPool) sizes_[i] = size;
    }
  }

  void watch(const std::vector<bool>& in_circle) {
    for (uint32_t i = 0; i < uses_.size(); ++i) {
      const model::ThreadUse& use = uses_[i];
      if (use.role != model::ThreadRole::worker || sizes_[use.pool.index()] == 0 || !in_circle[use.pool.index()])
        continue;
      PoolWatch& watched = watched_.try_emplace(use.pool, use.pool, sizes_[use.pool.index()]).first->second;
      for (const ResultSleep& sleep : sleeps_[i]) {
        if (!sleep.task.valid() || !sleep.keeps_worker) continue;
        if (const std::optional<Queued> queued = queued_of(sleep, in_circle)) watched.add(sleep, *queued);
      }
    }
  }

  // When tasks that the sleep waits for stood in the queues of pools that wait for each other; none: it waits for no
  // task of these pools.
  std::optional<Queued> queued_of(const ResultSleep& sleep, const std::vector<bool>& in_circle) const {
    std::optional<Queued> queued;
    for (const TaskId source : runnable_sources(trace_, sleep.task, kSourcesMax)) {
      const TaskRow& row = trace_.tasks[source.index()];
      if (!in_circle[row.pool.valid() ? row.pool.index() : trace_.pools.size()]) continue;
      if (!queued) queued.emplace(INT64_MAX, INT64_MIN);
      if (!row.spawn.valid() || !row.pool.valid()) continue;
      queued->begin_ns = std::min(queued->begin_ns, due_ns(trace_, row));
      const int64_t never_ns = completed_ns(trace_, source).value_or(INT64_MAX);  // cancelled in the queue
      queued->end_ns = std::max(queued->end_ns, row.start.valid() ? trace_.time_ns[row.start.index()] : never_ns);
    }
    return queued;
  }

  // Just before the suspect ends, the starvation is complete: nothing that is stuck comes free by itself.
  void look_at(const Suspect& suspect) {
    const int64_t last_ns = suspect.end_ns - 1;
    const Instant instant(trace_, uses_, sizes_, sleeps_, last_ns);
    if (!instant.is_starved(suspect.pool)) return;
    Starvation starvation{.begin_ns = suspect.begin_ns, .end_ns = suspect.end_ns};
    const std::vector<uint64_t> queued = queued_at(last_ns);
    for (uint32_t i = 0; i < sizes_.size(); ++i) {
      if (queued[i] == 0 || !instant.is_starved(PoolId(i))) continue;
      starvation.pools.push_back(PoolId(i));
      starvation.queued += queued[i];
    }
    if (starvation.pools.empty()) return;  // a deadlock of other kind
    list_waits(instant, starvation);
    add(std::move(starvation));
  }

  // By pool.
  std::vector<uint64_t> queued_at(int64_t time_ns) const {
    std::vector<uint64_t> queued(trace_.pools.size());
    for (const TaskRow& row : trace_.tasks) {
      if (row.pool.valid()) queued[row.pool.index()] += is_queued_at(trace_, row, time_ns);
    }
    return queued;
  }

  void list_waits(const Instant& instant, Starvation& starvation) const {
    std::map<std::array<uint32_t, 4>, uint32_t> alike;
    const ResultSleep* first = nullptr;  // to end
    for (const PoolId pool : starvation.pools) {
      for (const uint32_t thread : instant.workers(pool)) {
        const ResultSleep& sleep = *instant.stuck(thread);
        ++starvation.workers;
        ++alike[wait_key(pool, sleep)];
        starvation.begin_ns = std::max(starvation.begin_ns, sleep.begin_ns);
        if (first == nullptr || sleep.end_ns < first->end_ns) first = &sleep;
      }
    }
    starvation.end_ns = first->end_ns;
    starvation.end = end_of(*first);
    for (const auto& [key, workers] : alike) starvation.waits.push_back(wait_of(key, workers));
    std::ranges::stable_sort(starvation.waits, std::greater<>(), &StarvedWait::workers);
  }

  // Pools that starve together have a suspect each: one starvation may come again.
  void add(Starvation starvation) {
    for (Starvation& known : result_.starved) {
      if (known.pools != starvation.pools) continue;
      const bool same = known.begin_ns < starvation.end_ns && starvation.begin_ns < known.end_ns;
      if (same) return;
      ++known.times;
      if (starvation.end_ns - starvation.begin_ns <= known.end_ns - known.begin_ns) return;
      starvation.times = known.times;
      known = std::move(starvation);
      return;
    }
    result_.starved.push_back(std::move(starvation));
  }

  static StarvationEnd end_of(const ResultSleep& sleep) {
    if (sleep.open) return StarvationEnd::nothing;
    switch (sleep.outcome) {
      case model::Outcome::timeout:
        return StarvationEnd::time_out;
      case model::Outcome::interrupted:
        return StarvationEnd::interrupt;
      case model::Outcome::cancelled:
        return StarvationEnd::cancellation;
      default:
        return StarvationEnd::another_thread;
    }
  }

  std::array<uint32_t, 4> wait_key(PoolId pool, const ResultSleep& sleep) const {
    const auto body = [&](TaskId task) {
      return task.valid() ? trace_.tasks[task.index()].body.value : model::MethodId().value;
    };
    return {pool.value, body(sleep.waiter), sleep.context.value, body(sleep.task)};
  }
  static StarvedWait wait_of(const std::array<uint32_t, 4>& key, uint32_t workers) {
    return {PoolId(key[0]), model::MethodId(key[1]), model::ContextId(key[2]), model::MethodId(key[3]), workers};
  }

  void add_risks() {
    for (const auto& [pool, watched] : watched_) {
      std::optional<StarvationRisk> risk = watched.risk();
      if (!risk) continue;
      if (const ResultSleep* sleep = watched.example()) risk->wait = wait_of(wait_key(pool, *sleep), 1);
      result_.risks.push_back(*risk);
    }
  }

  const Trace& trace_;
  const std::vector<model::ThreadUse>& uses_;
  std::vector<uint32_t> sizes_;  // by pool
  std::vector<std::vector<ResultSleep>> sleeps_;
  std::map<PoolId, PoolWatch> watched_;
  Starvations result_;
};

}  // namespace

std::string_view name_of(StarvationEnd end) {
  switch (end) {
    case StarvationEnd::nothing:
      return "nothing";
    case StarvationEnd::time_out:
      return "time-out";
    case StarvationEnd::interrupt:
      return "interrupt";
    case StarvationEnd::cancellation:
      return "cancellation";
    case StarvationEnd::another_thread:
      return "another thread";
  }
  return "?";
}

Starvations starvations(const model::Facts& facts) {
  return Detector(facts).run();
}

}  // namespace contrafact::analysis
