// K cores that threads take in turns, as the operating system's fair scheduler hands them out: who has run least goes
// first; a running thread keeps its core for a slice, and beyond it for as long as nobody waits; a thread that comes
// back from a wait neither loses nor gains by having slept.
//
// With locks it matters that a thread has its core wholly or not at all: a lock's holder that lost its core keeps the
// lock. Where nothing but time is shared, sim_clock.h's equal shares come to the same at less cost.
//
// A damaged trace may claim that threads compete for cores for months. So that no run of slices takes long, a slice
// grows after every kSlicesBeforeGrowth for each core: after half an hour of turns, turns that are somewhat longer
// change nothing that anybody reads.
//
// Not thread-safe. Deterministic: ties are broken by id. O(cores) a decision, O(log threads) for a thread in the queue.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/check.h"
#include "base/saturating.h"

namespace contrafact::whatif {

class SimSlices {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;
  // A stretch without an end of its own: until `end_now`.
  static constexpr int64_t kUntilTold = INT64_MAX / 4;
  // For each core: 26 minutes in slices of 3 ms. A fuzzer looks for faults, not for figures, and its code is so slow
  // that it would spend most of its time with damaged traces that claim months.
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
  static constexpr uint32_t kSlicesBeforeGrowth = 1u << 12;
#else
  static constexpr uint32_t kSlicesBeforeGrowth = 1u << 19;
#endif
  static constexpr int64_t kGrowth = 16;

  // REQUIRES: cores > 0, slice_ns > 0.
  SimSlices(uint32_t cores, int64_t slice_ns) : slice_ns_(slice_ns), cores_(cores), idle_(cores) {
    CHECK(cores > 0 && slice_ns > 0);
  }

  int64_t cpu_ns() const { return cpu_ns_; }

  // The thread wants a core until it has had it for this long. Whoever's stretch has just ended keeps the core.
  void use(int64_t now_ns, int64_t duration_ns, uint32_t id) {
    if (id >= threads_.size()) threads_.resize(id + 1);
    Thread& thread = threads_[id];
    thread.left_ns = duration_ns;
    if (duration_ns == kUntilTold) ++endless_;
    if (pending_ != kNone && cores_[pending_].id == id) {
      Core& core = cores_[pending_];
      pending_ = kNone;
      core.since_ns = now_ns;
      return set_end(core, now_ns);
    }
    thread.ran_ns = std::max(thread.ran_ns, least_ran_ns_);
    if (idle_ > 0) {
      for (Core& core : cores_) {
        if (core.id == kNone) return start(core, now_ns, id);
      }
    }
    push(id);
    if (ready_.size() == 1) limit_all(now_ns);
  }

  // A thread that uses a core, or waits for one, has had enough at the next instant.
  // REQUIRES: it was to go on until told.
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

  // To be called before `next_ns`: the core of whoever did not go on is free.
  void settle(int64_t now_ns) {
    if (pending_ == kNone) return;
    Core& core = cores_[pending_];
    pending_ = kNone;
    core.id = kNone;
    core.end_ns = INT64_MAX;
    ++idle_;
    dispatch(core, now_ns);
  }

  int64_t next_ns() const {
    int64_t least_ns = INT64_MAX;
    for (const Core& core : cores_) least_ns = std::min(least_ns, core.end_ns);
    return least_ns;
  }

  // Somebody uses a core, or waits for one, who will be done by itself.
  bool moves() const { return cores_.size() - idle_ + ready_.size() > endless_; }

  // REQUIRES: now_ns == next_ns(). The thread whose stretch is over, or kNone: a slice was.
  uint32_t step(int64_t now_ns) {
    for (uint32_t k = 0; k < cores_.size(); ++k) {
      Core& core = cores_[k];
      if (core.end_ns != now_ns) continue;
      charge(core, now_ns);
      const uint32_t id = core.id;
      if (threads_[id].left_ns == 0) {
        core.end_ns = INT64_MAX;
        pending_ = k;
        return id;
      }
      core.id = kNone;
      core.end_ns = INT64_MAX;
      ++idle_;
      push(id);
      count_slice();
      dispatch(core, now_ns);
      return kNone;
    }
    return kNone;
  }

 private:
  struct Core {
    uint32_t id = kNone;
    int64_t since_ns = 0;  // charged up to here
    int64_t slice_end_ns = 0;
    int64_t end_ns = INT64_MAX;  // the next decision
  };
  struct Thread {
    int64_t left_ns = 0;
    int64_t ran_ns = 0;  // its virtual run time
  };
  struct Ready {
    int64_t ran_ns;
    uint32_t id;
    // For a heap with the least on top.
    bool operator<(const Ready& other) const { return ran_ns != other.ran_ns ? ran_ns > other.ran_ns : id > other.id; }
  };

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

  void set_end(Core& core, int64_t now_ns) {
    core.end_ns = now_ns + threads_[core.id].left_ns;
    if (!ready_.empty()) core.end_ns = std::min(core.end_ns, std::max(core.slice_end_ns, now_ns));
  }

  void limit_all(int64_t now_ns) {
    for (uint32_t k = 0; k < cores_.size(); ++k) {
      if (cores_[k].id != kNone && k != pending_)
        cores_[k].end_ns = std::min(cores_[k].end_ns, std::max(cores_[k].slice_end_ns, now_ns));
    }
  }

  void start(Core& core, int64_t now_ns, uint32_t id) {
    core.id = id;
    core.since_ns = now_ns;
    core.slice_end_ns = base::add_saturated(now_ns, slice_ns_);
    --idle_;
    set_end(core, now_ns);
  }

  void push(uint32_t id) {
    ready_.push_back({threads_[id].ran_ns, id});
    std::push_heap(ready_.begin(), ready_.end());
  }

  void dispatch(Core& core, int64_t now_ns) {
    if (ready_.empty()) return;
    std::pop_heap(ready_.begin(), ready_.end());
    const Ready next = ready_.back();
    ready_.pop_back();
    least_ran_ns_ = std::max(least_ran_ns_, next.ran_ns);
    start(core, now_ns, next.id);
  }

  int64_t slice_ns_;
  uint64_t slices_ = 0;
  std::vector<Core> cores_;
  uint32_t idle_;
  size_t endless_ = 0;        // threads that go on until told
  uint32_t pending_ = kNone;  // the core whose thread's stretch has just ended
  std::vector<Thread> threads_;
  std::vector<Ready> ready_;
  int64_t least_ran_ns_ = 0;
  int64_t cpu_ns_ = 0;
};

}  // namespace contrafact::whatif
