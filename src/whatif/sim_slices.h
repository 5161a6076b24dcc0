// K cores that threads take in turns, as the operating system's fair scheduler hands them out. Each core has a run
// queue of its own. The thread that has run least goes first. A running thread keeps its core for a slice, and longer
// while no thread waits there. A thread that comes back from a wait keeps a little of its lead, which is the time by
// which it had run less than others.
//
// A thread that wants a core gets the one that it used last, if that is idle, else another idle one, else it queues for
// the one that it used last. A woken thread may queue although another core is idle, or preempt the running thread:
// as often as recorded, or, under another load than the recorded one, by its lag (sim_wake_placement.h). An idle core
// takes a thread out of another core's run queue only when the thread has waited there for a while: Linux leaves a
// thread where its data is in the caches, and does not look for work at all where a core idles for short times only.
//
// With locks it matters that a thread has its core wholly or not at all: a lock's holder that lost its core keeps the
// lock. Without locks, the equal shares of sim_clock.h give the same result at less cost.
//
// A damaged trace may claim that threads compete for cores for months. So that no run of slices takes long, a slice
// grows after every kSlicesBeforeGrowth for each core: after half an hour of turns, somewhat longer turns change no
// visible figure.
//
// Not thread-safe. Deterministic: ties are broken by id. O(cores) a decision, O(log threads) for a thread in a queue,
// O(threads) for one that moves to another core.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/saturating.h"
#include "whatif/sim_wake_placement.h"

namespace contrafact::whatif {

// How long a core was idle before it got the thread that uses it, and how much that thread has computed since to fill caches again.
struct IdleBefore {
  int64_t idle_ns = 0;
  int64_t refilled_ns = 0;
};

class SimSlices {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;
  // A stretch without an end of its own: until `end_now`.
  static constexpr int64_t kUntilEndNow = INT64_MAX / 4;
  // For each core: 26 minutes in slices of 3 ms. A fuzzer looks for faults, not for figures, and its code is so slow
  // that it would spend most of its time with damaged traces that claim months.
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
  static constexpr uint32_t kSlicesBeforeGrowth = 1u << 12;
#else
  static constexpr uint32_t kSlicesBeforeGrowth = 1u << 19;
#endif
  static constexpr int64_t kGrowth = 16;
  // Linux's cost of a migration.
  static constexpr int64_t kStaysNs = 500'000;
  // The most of its lead that a thread keeps when it comes back from a wait.
  static constexpr int64_t kOwedMostNs = 100'000;

  // `stays_ns`: for this long, no idle core takes a thread that waits for its own core, unless `placement` says that
  // this happens at ticks.
  // REQUIRES: cores > 0, slice_ns > 0, stays_ns >= 0.
  SimSlices(uint32_t cores, int64_t slice_ns, int64_t stays_ns = kStaysNs, const WakePlacement& placement = {})
      : slice_ns_(slice_ns), stays_ns_(stays_ns), placement_(placement), cores_(cores), idle_(cores) {
    CHECK(cores > 0 && slice_ns > 0 && stays_ns >= 0 && (placement.staying == 0 || placement.tick_ns > 0));
  }

  int64_t cpu_ns() const { return cpu_ns_; }

  // The thread is woken, and will want a core. True: it queues for one at once. False: an idle core has to wake up
  // first.
  bool wake(uint32_t id) {
    if (!placement_.known) return false;
    Thread& thread = thread_of(id);
    thread.woken = true;
    thread.stays = idle_ > 0 && next_stays(id, thread);
    return thread.stays || idle_ == 0;
  }

  // The thread wants a core until it has used it for this long. A thread whose stretch has just ended keeps its core.
  void use(int64_t now_ns, int64_t duration_ns, uint32_t id) {
    Thread& thread = thread_of(id);
    thread.left_ns = duration_ns;
    if (duration_ns == kUntilEndNow) ++endless_;
    if (pending_ != kNone && cores_[pending_].id == id) {
      Core& core = cores_[pending_];
      pending_ = kNone;
      core.since_ns = now_ns;
      return set_end(core, now_ns);
    }
    const uint32_t chosen = core_for(thread);
    Core& core = cores_[chosen];
    see_least(core, now_ns);
    const bool preempts = placement_.by_lag ? place_by_lag(core, chosen, id) : place(core, chosen, thread);
    thread.woken = thread.stays = false;
    if (core.id == kNone) return start(core, now_ns, id);
    if (preempts) core.slice_end_ns = now_ns;
    if (placement_.by_lag) renew_slice(core, now_ns);
    push(core, now_ns, id);
    if ((core.ready.size() == 1 || preempts) && chosen != pending_)
      core.end_ns = std::min(core.end_ns, std::max(core.slice_end_ns, now_ns));
    let_idle_look(thread);
  }

  // Ends, at the next instant, the stretch of a thread that uses a core or waits for one.
  // REQUIRES: the stretch has no end of its own (kUntilEndNow).
  void end_now(int64_t now_ns, uint32_t id) {
    --endless_;
    for (Core& core : cores_) {
      if (core.id != id) continue;
      charge(core, now_ns);
      threads_[id].left_ns = 0;
      core.end_ns = now_ns;
      return;
    }
    threads_[id].left_ns = 0;
  }

  // Whether the core that the thread uses was idle when it got it; once.
  bool was_idle(uint32_t id) {
    for (Core& core : cores_) {
      if (core.id == id) return std::exchange(core.was_idle, false);
    }
    return false;
  }

  // Of the core that the thread uses; null without one.
  IdleBefore* idle_before(uint32_t id) {
    for (Core& core : cores_) {
      if (core.id == id) return &core.idle_before;
    }
    return nullptr;
  }

  // To be called before `next_ns`: frees the core of a thread that did not go on.
  void settle(int64_t now_ns) {
    if (pending_ == kNone) return;
    Core& core = cores_[pending_];
    pending_ = kNone;
    if (placement_.by_lag) keep_lag(core);
    leave(core, now_ns);
    dispatch(core, now_ns);
  }

  int64_t next_ns() const {
    int64_t least_ns = INT64_MAX;
    for (const Core& core : cores_) least_ns = std::min(least_ns, core.end_ns);
    return least_ns;
  }

  // True if a thread uses a core, or waits for one, in a stretch that ends by itself.
  bool moves() const { return cores_.size() - idle_ + ready_ > endless_; }

  // REQUIRES: now_ns == next_ns(). The thread whose stretch is over, or kNone: a slice was, or a thread moved.
  uint32_t step(int64_t now_ns) {
    for (uint32_t k = 0; k < cores_.size(); ++k) {
      Core& core = cores_[k];
      if (core.end_ns != now_ns) continue;
      if (core.id == kNone) {
        dispatch(core, now_ns);
        return kNone;
      }
      charge(core, now_ns);
      const uint32_t id = core.id;
      if (threads_[id].left_ns == 0) {
        core.end_ns = INT64_MAX;
        pending_ = k;
        return id;
      }
      leave(core, now_ns);
      push(core, now_ns, id);
      count_slice();
      dispatch(core, now_ns);
      return kNone;
    }
    return kNone;
  }

 private:
  struct Ready {
    int64_t ran_ns;
    uint32_t id;
    // For a heap with the least on top.
    bool operator<(const Ready& other) const { return ran_ns != other.ran_ns ? ran_ns > other.ran_ns : id > other.id; }
  };
  struct Core {
    uint32_t id = kNone;
    uint32_t last_id = kNone;  // the thread that used it last, or uses it
    int64_t since_ns = 0;      // charged up to here
    int64_t idle_since_ns = INT64_MIN;
    IdleBefore idle_before;
    bool was_idle = false;  // before the thread that uses it, which has not asked for that yet
    int64_t slice_end_ns = 0;
    int64_t end_ns = INT64_MAX;  // the next decision; of an idle core, when it may take another's thread
    int64_t least_ran_ns = 0;    // least `ran_ns` of the threads that it may run, at the last choice
    std::vector<Ready> ready;
    double ready_ran_ns = 0;         // the sum of theirs
    std::vector<uint32_t> departed;  // threads that left it for a wait while they had run more than the average
  };
  struct Thread {
    uint32_t core = kNone;  // that it uses, waits for, or used last
    int64_t left_ns = 0;
    int64_t ran_ns = 0;     // its virtual run time
    int64_t queued_ns = 0;  // when it began to wait for its core
    bool woken = false;     // and has not asked for a core since
    bool stays = false;     // it was woken, and queues for its core although another is idle
    bool departed = false;  // one of its core's `departed`
    double lag_ns = 0;      // by which it had run less than the average when it left its core for a wait
  };

  Thread& thread_of(uint32_t id) {
    if (id >= threads_.size()) threads_.resize(id + 1);
    return threads_[id];
  }

  // A woken thread keeps a little of its lead. Whether it preempts the thread that uses the core, if one does.
  bool place(Core& core, uint32_t number, Thread& thread) {
    move(thread, number);
    thread.ran_ns = std::max(thread.ran_ns, core.least_ran_ns - kOwedMostNs);
    if (!thread.woken || core.id == kNone || !next_preempts()) return false;
    thread.ran_ns = std::min(thread.ran_ns, core.least_ran_ns - 1);
    return true;
  }

  // The same as Linux does it since 6.12: a thread comes back with the lag that it left with, and preempts the running
  // one if that has then run more than the average.
  bool place_by_lag(Core& core, uint32_t number, uint32_t id) {
    Thread& thread = threads_[id];
    const bool was_here = thread.departed && thread.core == number;
    const double ran_ns = static_cast<double>(thread.ran_ns);
    forget_departed(thread, id);
    thread.core = number;
    const Average others = average(core);
    const double lag_ns = std::exchange(thread.lag_ns, 0);
    if (others.count == 0) {
      thread.ran_ns = core.least_ran_ns;
      return false;
    }
    const double count = static_cast<double>(others.count);
    // One that had run more, and is back before the others have caught up, is where it was.
    const double placed_ns = was_here ? std::max(ran_ns, others.ran_ns) : others.ran_ns - lag_ns * (count + 1) / count;
    thread.ran_ns = static_cast<int64_t>(placed_ns);
    if (core.id == kNone) return false;
    constexpr double kRoundingNs = 1;
    const double all_ns = (others.ran_ns * count + placed_ns) / (count + 1);
    return static_cast<double>(threads_[core.id].ran_ns) > all_ns + kRoundingNs;
  }

  struct Average {
    double ran_ns = 0;
    size_t count = 0;
  };

  // Of all that compete for the core. A thread that has run more than the average competes on while it waits for
  // something else, until the others have caught up.
  Average average(const Core& core) const {
    double sum_ns = core.ready_ran_ns;
    for (const uint32_t id : core.departed) sum_ns += static_cast<double>(threads_[id].ran_ns);
    if (core.id != kNone) sum_ns += static_cast<double>(threads_[core.id].ran_ns);
    const size_t count = core.ready.size() + core.departed.size() + (core.id != kNone);
    return {count == 0 ? 0 : sum_ns / static_cast<double>(count), count};
  }

  // The thread that uses the core leaves it for a wait.
  void keep_lag(Core& core) {
    Thread& thread = threads_[core.id];
    constexpr double kLagMostNs = 1e15;  // a damaged trace's slices grow without bound
    const double most_ns = std::min(2 * static_cast<double>(slice_ns_), kLagMostNs);
    thread.lag_ns = std::min(average(core).ran_ns - static_cast<double>(thread.ran_ns), most_ns);
    if (thread.lag_ns >= 0) return;
    thread.lag_ns = 0;
    if (core.ready.empty()) return;
    thread.departed = true;
    core.departed.push_back(core.id);
  }

  void forget_departed(Thread& thread, uint32_t id) {
    if (std::exchange(thread.departed, false)) std::erase(cores_[thread.core].departed, id);
  }

  // Those with which the others have caught up compete no more.
  void let_departed_go(Core& core) {
    if (core.departed.empty()) return;
    const double all_ns = core.ready.empty() ? std::numeric_limits<double>::infinity() : average(core).ran_ns;
    std::erase_if(core.departed, [&](uint32_t id) {
      if (static_cast<double>(threads_[id].ran_ns) > all_ns) return false;
      threads_[id].departed = false;
      return true;
    });
  }

  // A thread that has used its core alone for longer than a slice has a new one.
  void renew_slice(Core& core, int64_t now_ns) {
    if (core.slice_end_ns >= now_ns) return;
    core.slice_end_ns = base::add_saturated(now_ns, slice_ns_ - (now_ns - core.slice_end_ns) % slice_ns_);
  }

  // Whether the next woken thread preempts another one: the recorded share of them does, spread evenly.
  bool next_preempts() {
    double& due = idle_ == 0 ? preempting_due_ : preempting_though_idle_due_;
    due += idle_ == 0 ? placement_.preempting : placement_.preempting_though_idle;
    if (due < 1) return false;
    due -= 1;
    return true;
  }

  // Whether a thread that is woken while a core is idle queues for a core in use: the recorded share of them does.
  // Threads whose own core is in use come first. Then come those whose core another thread has used since, because it
  // is not known where the kernel would have put them. A thread whose core nobody used since gets it back.
  bool next_stays(uint32_t id, const Thread& thread) {
    constexpr double kDueMost = 2;
    staying_due_ = std::min(staying_due_ + placement_.staying, kDueMost);
    if (thread.core == kNone || cores_[thread.core].last_id == id) return false;
    if (staying_due_ < (cores_[thread.core].id != kNone ? 0 : 1) || placement_.staying == 0) return false;
    staying_due_ -= 1;
    return true;
  }

  void charge(Core& core, int64_t now_ns) {
    const int64_t had_ns = now_ns - core.since_ns;
    core.since_ns = now_ns;
    cpu_ns_ += had_ns;
    threads_[core.id].left_ns -= had_ns;
    threads_[core.id].ran_ns += had_ns;
  }

  void count_slice() {
    if (++slices_ % (uint64_t{kSlicesBeforeGrowth} * cores_.size()) == 0)
      slice_ns_ = base::multiply_saturated(slice_ns_, kGrowth);
  }

  uint32_t core_for(const Thread& thread) const {
    if (thread.core != kNone && (cores_[thread.core].id != kNone) == (thread.stays || idle_ == 0)) return thread.core;
    uint32_t shortest = kNone;  // of those in use
    for (uint32_t k = 0; k < cores_.size(); ++k) {
      if (cores_[k].id == kNone) {
        if (!thread.stays) return k;
      } else if (shortest == kNone || cores_[k].ready.size() < cores_[shortest].ready.size()) {
        shortest = k;
      }
    }
    return shortest != kNone ? shortest : thread.core != kNone ? thread.core : 0;
  }

  // A thread's lead or lag over others on its old core is the same on the new one.
  void move(Thread& thread, uint32_t to) {
    const int64_t from_ns = thread.core == kNone ? 0 : cores_[thread.core].least_ran_ns;
    thread.ran_ns += cores_[to].least_ran_ns - from_ns;
    thread.core = to;
  }

  // Charges the running thread up to now.
  void see_least(Core& core, int64_t now_ns) {
    if (core.id == kNone) return;
    if (now_ns > core.since_ns) charge(core, now_ns);
    int64_t least_ns = threads_[core.id].ran_ns;
    if (!core.ready.empty()) least_ns = std::min(least_ns, core.ready.front().ran_ns);
    core.least_ran_ns = std::max(core.least_ran_ns, least_ns);
  }

  void set_end(Core& core, int64_t now_ns) {
    core.end_ns = now_ns + threads_[core.id].left_ns;
    if (!core.ready.empty()) core.end_ns = std::min(core.end_ns, std::max(core.slice_end_ns, now_ns));
  }

  void start(Core& core, int64_t now_ns, uint32_t id) {
    core.id = core.last_id = id;
    core.was_idle = now_ns > core.idle_since_ns;
    core.idle_before = {core.idle_since_ns == INT64_MIN ? INT64_MAX : now_ns - core.idle_since_ns};
    core.since_ns = now_ns;
    core.slice_end_ns = base::add_saturated(now_ns, slice_ns_);
    --idle_;
    set_end(core, now_ns);
  }

  void leave(Core& core, int64_t now_ns) {
    core.id = kNone;
    core.idle_since_ns = now_ns;
    core.end_ns = INT64_MAX;
    ++idle_;
  }

  void push(Core& core, int64_t now_ns, uint32_t id) {
    threads_[id].queued_ns = now_ns;
    core.ready.push_back({threads_[id].ran_ns, id});
    core.ready_ran_ns += static_cast<double>(threads_[id].ran_ns);
    std::push_heap(core.ready.begin(), core.ready.end());
    ++ready_;
  }

  void dispatch(Core& core, int64_t now_ns) {
    let_departed_go(core);
    if (core.ready.empty()) return take_from_others(core, now_ns);
    std::pop_heap(core.ready.begin(), core.ready.end());
    const Ready next = core.ready.back();
    core.ready.pop_back();
    take_off_sum(core, next.ran_ns);
    one_less_ready();
    core.least_ran_ns = std::max(core.least_ran_ns, next.ran_ns);
    start(core, now_ns, next.id);
  }

  // A thread left the queue. Sums of rounded numbers drift: an empty queue's begins anew.
  static void take_off_sum(Core& core, int64_t ran_ns) {
    core.ready_ran_ns = core.ready.empty() ? 0 : core.ready_ran_ns - static_cast<double>(ran_ns);
  }

  // Once no thread waits any more, idle cores have nothing to look for.
  void one_less_ready() {
    if (--ready_ > 0 || idle_ == 0) return;
    for (Core& core : cores_) {
      if (core.id == kNone) core.end_ns = INT64_MAX;
    }
  }

  // When an idle core may take the thread out of the queue that it waits in. Cores tick one after the other.
  int64_t may_move_ns(const Thread& thread) const {
    if (placement_.staying == 0) return base::add_saturated(thread.queued_ns, stays_ns_);
    const int64_t tick_ns = placement_.tick_ns;
    const int64_t first_ns = tick_ns * thread.core / static_cast<int64_t>(cores_.size());
    return base::add_saturated(thread.queued_ns, tick_ns - (thread.queued_ns + tick_ns - first_ns) % tick_ns);
  }

  // The thread has begun to wait in a queue: idle cores look at it when they may take it.
  void let_idle_look(const Thread& thread) {
    if (idle_ == 0) return;
    for (Core& core : cores_) {
      if (core.id == kNone) core.end_ns = std::min(core.end_ns, may_move_ns(thread));
    }
  }

  // The idle core takes the thread that has waited longest for another core, if that is long enough; else it looks
  // again when it will be.
  void take_from_others(Core& idle, int64_t now_ns) {
    idle.end_ns = INT64_MAX;
    if (ready_ == 0) return;
    uint32_t longest = kNone;
    for (const Core& core : cores_) {
      for (const Ready& waiting : core.ready) {
        if (longest == kNone || threads_[waiting.id].queued_ns < threads_[longest].queued_ns) longest = waiting.id;
      }
    }
    Thread& thread = threads_[longest];
    if (const int64_t then_ns = may_move_ns(thread); then_ns > now_ns) {
      idle.end_ns = then_ns;
      return;
    }
    std::vector<Ready>& queue = cores_[thread.core].ready;
    std::erase_if(queue, [&](const Ready& ready) { return ready.id == longest; });
    std::make_heap(queue.begin(), queue.end());
    take_off_sum(cores_[thread.core], thread.ran_ns);
    one_less_ready();
    move(thread, static_cast<uint32_t>(&idle - cores_.data()));
    start(idle, now_ns, longest);
  }

  int64_t slice_ns_;
  const int64_t stays_ns_;
  const WakePlacement placement_;
  double preempting_due_ = 0, preempting_though_idle_due_ = 0, staying_due_ = 0;
  uint64_t slices_ = 0;
  std::vector<Core> cores_;
  uint32_t idle_;
  size_t endless_ = 0;        // threads in a stretch without an end
  uint32_t pending_ = kNone;  // the core whose thread's stretch has just ended
  std::vector<Thread> threads_;
  size_t ready_ = 0;  // threads in the queues
  int64_t cpu_ns_ = 0;
};

}  // namespace contrafact::whatif
