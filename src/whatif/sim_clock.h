// Simulated time: a queue of timed events, and K cores. The cores are either shared equally by all threads that want
// one (processor sharing, which the operating system's fair scheduler amounts to over a few slices), or taken in turns
// (sim_slices.h).
//
// Not thread-safe. Deterministic: ties are broken by id. A CPU stretch of shared cores costs O(log n) however often the
// sharing changes, because stretches are ordered by virtual time, which runs slower the more threads share the cores.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/saturating.h"
#include "model/cores_left.h"
#include "whatif/sim_slices.h"
#include "whatif/sim_vm_work.h"

namespace contrafact::whatif {

// What happens at a time.
enum class TimedKind : uint32_t { resume, due, release };

class SimClock {
 public:
  struct Event {
    bool cpu;  // a CPU stretch of thread `id` is over; otherwise a timed event
    TimedKind kind;
    uint32_t id;
  };

  // `cores`: 0 for unlimited. `slice_ns`: 0 for equal shares; `stays_ns` and `placement` are as in sim_slices.h.
  // `vm_work` uses a part of shared cores, and outlives the clock. `left`: of shared cores, what threads may use in each period; then they
  // wait for the next one.
  explicit SimClock(uint32_t cores, int64_t slice_ns = 0, int64_t stays_ns = 0, const WakePlacement& placement = {},
                    const VmWork& vm_work = {}, const model::CoresLeft& left = {})
      : cores_(cores),
        period_ns_(cores > 0 ? left.period_ns : 0),
        allowed_ns_(static_cast<int64_t>(left.share * static_cast<double>(left.period_ns) * cores)) {
    if (cores > 0 && slice_ns > 0) slices_.emplace(cores, slice_ns, stays_ns, placement);
    if (cores > 0 && slice_ns == 0 && vm_work.total_ns() > 0) vm_load_.emplace(vm_work, cores);
  }

  // True if a thread has a core wholly or not at all.
  bool sliced() const { return slices_.has_value(); }
  int64_t now_ns() const { return now_ns_; }
  int64_t cpu_ns() const { return sliced() ? slices_->cpu_ns() : cpu_ns_; }
  void at(int64_t time_ns, TimedKind kind, uint32_t id) {
    push(timed_, {std::min(time_ns, kLatest), static_cast<uint32_t>(kind), id});
  }
  // Thread `id` wants a core until it has used it for this long.
  void use_core(int64_t duration_ns, uint32_t id) {
    if (sliced()) return slices_->use(now_ns_, duration_ns, id);
    cpu_ns_ = base::add_saturated(cpu_ns_, duration_ns);
    note_idle(id);
    push(running_, {base::add_saturated(virtual_, in_virtual(duration_ns)), 0, id});
  }

  // This much computing of the program's is left out, and the virtual machine's work for it.
  void leave_out(int64_t ns) {
    if (vm_load_) vm_load_->leave_out(ns);
  }

  // How many threads use a core or want one.
  // REQUIRES: !sliced()
  size_t running() const { return running_.size(); }

  // Until `until_ns`, no thread that wants a core makes progress.
  // REQUIRES: !sliced()
  void freeze(int64_t until_ns) { frozen_until_ns_ = std::max(frozen_until_ns_, std::min(until_ns, kLatest)); }

  // Whether the core that the thread has was idle before; true once for each time that it gets it. Of shared cores: never.
  bool was_idle(uint32_t id) { return sliced() && slices_->was_idle(id); }

  // From here on idle_before() is known. Before anything runs.
  void watch_idle_cores() { idle_since_ns_.assign(sliced() ? 0 : cores_, 0); }
  // Of the core that the thread has; null if it has none. Of shared cores: with so many threads on them, since when there were no more.
  IdleBefore* idle_before(uint32_t id) {
    if (sliced()) return slices_->idle_before(id);
    return id < idle_before_.size() ? &idle_before_[id] : nullptr;
  }

  // The thread uses a core until `stop_core`.
  // REQUIRES: sliced()
  void hold_core(uint32_t id) { slices_->use(now_ns_, SimSlices::kUntilEndNow, id); }
  void stop_core(uint32_t id) { slices_->end_now(now_ns_, id); }
  // The thread is woken. True: it queues for a core at once, and no idle core has to wake up for it.
  bool wake(uint32_t id) { return slices_->wake(id); }

  // Moves to the next event; false if there is none.
  bool next(Event& event) {
    if (sliced()) return next_sliced(event);
    if (timed_.empty() && running_.empty()) return false;
    ended_ = UINT32_MAX;
    while (period_ns_ > 0 && !running_.empty()) {
      begin_period_if_over();
      const int64_t then_ns = used_up_ns();
      if (then_ns > cpu_event_ns() || (!timed_.empty() && then_ns > timed_.front().key)) break;
      advance(then_ns);
      if (now_ns_ < period_end_ns_) freeze(period_end_ns_);
    }
    int64_t cpu_at_ns = cpu_event_ns();
    while (vm_load_ && !running_.empty()) {
      const int64_t steady_ns = after_freeze_ns(vm_load_->steady_ns(running_.size()));
      if (steady_ns >= cpu_at_ns || (!timed_.empty() && steady_ns >= timed_.front().key)) break;
      advance(steady_ns);
      cpu_at_ns = cpu_event_ns();
    }
    if (!timed_.empty() && timed_.front().key <= cpu_at_ns) {
      const Entry entry = pop(timed_);
      advance(entry.key);
      event = {false, static_cast<TimedKind>(entry.kind), entry.id};
    } else {
      advance(cpu_at_ns);
      const Entry entry = pop(running_);
      event = {true, TimedKind::resume, entry.id};
      ended_ = entry.id;
      if (running_.size() < idle_since_ns_.size()) idle_since_ns_[running_.size()] = now_ns_;  // a core has become idle
    }
    return true;
  }

 private:
  struct Entry {
    int64_t key;
    uint32_t kind;
    uint32_t id;
    bool before(const Entry& other) const {
      if (key != other.key) return key < other.key;
      return kind != other.kind ? kind < other.kind : id < other.id;
    }
  };
  // Virtual time counts in 1/1024 ns. So shares of cores round to less than a millionth over any stretch that matters,
  // and 2^53 ns (104 days) fit.
  static constexpr int kFraction = 10;
  static int64_t in_virtual(int64_t real_ns) { return base::multiply_saturated(real_ns, int64_t{1} << kFraction); }
  // The sum of a hostile trace's times may be later than any clock shows.
  static constexpr int64_t kLatest = int64_t{1} << 62;
  __extension__ using Wide = __int128;

  bool next_sliced(Event& event) {
    slices_->settle(now_ns_);
    for (;;) {
      const int64_t cpu_at_ns = slices_->next_ns();
      if (!timed_.empty() && timed_.front().key <= cpu_at_ns) {
        const Entry entry = pop(timed_);
        now_ns_ = entry.key;
        event = {false, static_cast<TimedKind>(entry.kind), entry.id};
        return true;
      }
      if (!slices_->moves()) return false;  // no thread is left, or all spin in vain
      now_ns_ = cpu_at_ns;
      const uint32_t id = slices_->step(cpu_at_ns);
      if (id == SimSlices::kNone) continue;
      event = {true, TimedKind::resume, id};
      return true;
    }
  }

  // The time at which `passed_ns` will have passed without freezes.
  int64_t after_freeze_ns(int64_t passed_ns) const {
    return std::min(kLatest, base::add_saturated(std::max(now_ns_, frozen_until_ns_), passed_ns));
  }
  int64_t cpu_event_ns() const {
    return running_.empty() ? INT64_MAX : after_freeze_ns(real_until(running_.front().key));
  }

  bool shared() const { return cores_ != 0 && running_.size() > cores_; }

  int64_t real_until(int64_t key) const {
    const int64_t left = key - virtual_;
    if (left <= 0) return 0;
    if (vm_load_) {
      const double per_ns = vm_load_->speed(running_.size()) * (int64_t{1} << kFraction);
      return static_cast<int64_t>(
          std::min(std::ceil(static_cast<double>(left) / per_ns), static_cast<double>(kLatest)));
    }
    if (!shared()) return base::add_saturated(left, (int64_t{1} << kFraction) - 1) >> kFraction;
    const Wide per_ns = static_cast<Wide>(cores_) << kFraction;
    const Wide until_ns = (static_cast<Wide>(left) * static_cast<Wide>(running_.size()) + per_ns - 1) / per_ns;
    return static_cast<int64_t>(std::min<Wide>(until_ns, kLatest));
  }

  void begin_period_if_over() {
    if (now_ns_ < period_end_ns_) return;
    // As turns do (sim_slices.h): a damaged trace may claim months.
    if (++periods_ % SimSlices::kSlicesBeforeGrowth == 0) {
      period_ns_ = base::multiply_saturated(period_ns_, SimSlices::kGrowth);
      allowed_ns_ = base::multiply_saturated(allowed_ns_, SimSlices::kGrowth);
    }
    period_end_ns_ = base::add_saturated(now_ns_ - now_ns_ % period_ns_, period_ns_);
    used_ns_ = 0;
  }

  // The next time at which all is used that threads may use in this period; or the period's end, if that comes before. (Threads that are
  // frozen until then use nothing.)
  int64_t used_up_ns() const {
    if (frozen_until_ns_ > now_ns_) return period_end_ns_;
    const auto on_cores = static_cast<int64_t>(std::min<size_t>(running_.size(), cores_));
    const int64_t left_ns = std::max<int64_t>(0, allowed_ns_ - used_ns_);
    return std::min(period_end_ns_, base::add_saturated(now_ns_, left_ns / on_cores + 1));
  }

  // A thread that goes on at once has kept its core.
  void note_idle(uint32_t id) {
    if (idle_since_ns_.empty() || id == ended_) return;
    if (id >= idle_before_.size()) idle_before_.resize(id + 1);
    idle_before_[id] = {running_.size() < idle_since_ns_.size() ? now_ns_ - idle_since_ns_[running_.size()] : 0};
  }

  void advance(int64_t time_ns) {
    const int64_t passed_ns = time_ns - std::max(now_ns_, std::min(frozen_until_ns_, time_ns));
    now_ns_ = time_ns;
    if (passed_ns == 0) return;
    used_ns_ = base::add_saturated(
        used_ns_, base::multiply_saturated(passed_ns, static_cast<int64_t>(std::min<size_t>(running_.size(), cores_))));
    if (vm_load_) {
      const double speed = vm_load_->speed(running_.size());
      virtual_ = base::add_saturated(
          virtual_, std::llround(std::min(static_cast<double>(passed_ns) * speed * (1 << kFraction), 9e18)));
      return vm_load_->advance(passed_ns, running_.size());
    }
    if (!shared()) {
      virtual_ = base::add_saturated(virtual_, in_virtual(passed_ns));
    } else {
      const Wide share = (static_cast<Wide>(passed_ns) * cores_ << kFraction) / static_cast<Wide>(running_.size());
      virtual_ = base::add_saturated(virtual_, static_cast<int64_t>(std::min<Wide>(share, INT64_MAX)));
    }
  }

  // A binary heap, least first.
  static void push(std::vector<Entry>& heap, Entry entry) {
    size_t at = heap.size();
    heap.push_back(entry);
    while (at > 0) {
      const size_t parent = (at - 1) / 2;
      if (!entry.before(heap[parent])) break;
      heap[at] = heap[parent];
      at = parent;
    }
    heap[at] = entry;
  }

  static Entry pop(std::vector<Entry>& heap) {
    const Entry top = heap.front();
    const Entry last = heap.back();
    heap.pop_back();
    const size_t size = heap.size();
    if (size == 0) return top;
    size_t at = 0;
    for (;;) {
      size_t child = 2 * at + 1;
      if (child >= size) break;
      if (child + 1 < size && heap[child + 1].before(heap[child])) ++child;
      if (!heap[child].before(last)) break;
      heap[at] = heap[child];
      at = child;
    }
    heap[at] = last;
    return top;
  }

  const uint32_t cores_;
  std::optional<SimSlices> slices_;
  std::optional<SimVmLoad> vm_load_;
  int64_t now_ns_ = 0;
  int64_t frozen_until_ns_ = 0;
  int64_t virtual_ = 0;
  int64_t cpu_ns_ = 0;
  std::vector<Entry> timed_;
  std::vector<Entry> running_;  // key: virtual time at which the stretch is over
  // What threads may use of the cores in each period; 0: all of it.
  int64_t period_ns_, allowed_ns_;
  int64_t period_end_ns_ = 0, used_ns_ = 0;
  uint64_t periods_ = 0;
  uint32_t ended_ = UINT32_MAX;  // the thread whose stretch has just ended
  std::vector<int64_t>
      idle_since_ns_;  // of shared cores, by threads on them: since when there were no more; empty if nobody asks
  std::vector<IdleBefore> idle_before_;  // by thread
};

}  // namespace contrafact::whatif
