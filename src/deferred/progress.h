// Progress: how far one producer's buffers have been processed, for threads that wait for that. Unfinished: the same
// for all buffers of an engine.
//
// The threads that run buffers call complete(); one that keeps a half-run buffer from finishing, because it puts it
// back into a queue, calls nudge(). A waiter sleeps only when there is nothing that it could run itself, and:
//  1. never early: await(n) returns only after buffers 1 to n have been completed;
//  2. never lost: once they have been, or once there is something to help with, no waiter sleeps on. A completer writes
//     `processed` and then reads `waiters`; a waiter writes `waiters` and then reads `processed`, all sequentially
//     consistent: one of the two sees the other. `seen` is read before what the waiter looks at, so that a change in
//     between ends the sleep at once.
// Where nobody waits, a buffer costs an uncontended lock and two plain accesses; a call costs nothing.
//
// `Sync` is the machine: progress_test.cc runs this very code under all interleavings.
// Thread safety: everything.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "deferred/checkpoint_ledger.h"

namespace contrafact::deferred {

struct RealSync {
  using Mutex = std::mutex;
  template <typename T>
  using Atomic = std::atomic<T>;
};

template <typename Sync>
class BasicProgress {
 public:
  // REQUIRES: as CheckpointLedger::complete
  void complete(uint64_t number) {
    {
      std::lock_guard lock(mutex_);
      processed_.store(ledger_.complete(number));
    }
    if (awaited()) nudge();
  }

  void nudge() {
    events_.fetch_add(1);
    events_.notify_all();
  }

  bool awaited() const { return waiters_.load() != 0; }
  // Whether buffers 1 to `number` have been processed. What their calls did is visible.
  bool is_processed(uint64_t number) const { return processed_.load() >= number; }

  // `help()` does a piece of what is waited for, and returns false if there is none.
  template <typename Help>
  void await(uint64_t number, Help help) {
    if (is_processed(number)) return;
    waiters_.fetch_add(1);
    for (;;) {
      const uint32_t seen = events_.load();
      if (is_processed(number)) break;
      if (!help()) events_.wait(seen);
    }
    waiters_.fetch_sub(1);
  }

 private:
  typename Sync::Mutex mutex_;
  CheckpointLedger ledger_;  // under mutex_
  typename Sync::template Atomic<uint64_t> processed_{0};
  typename Sync::template Atomic<uint32_t> waiters_{0};
  typename Sync::template Atomic<uint32_t> events_{0};
};

// How many of an engine's buffers are submitted and not yet processed, for the thread that ends the engine. The rules
// above for sleeping and helping hold here too. Outlives the engine, which may be gone once the last buffer has
// ended().
template <typename Sync>
class BasicUnfinished {
 public:
  void began() { buffers_.fetch_add(1); }
  void ended() {
    buffers_.fetch_sub(1);
    if (awaited()) nudge();
  }
  void nudge() {
    events_.fetch_add(1);
    events_.notify_all();
  }
  bool awaited() const { return awaited_.load(); }

  // Returns when there are none. By one thread. Meanwhile, a buffer may begin only while another one has not ended.
  template <typename Help>
  void await_all(Help help) {
    awaited_.store(true);
    for (;;) {
      const uint32_t seen = events_.load();
      if (buffers_.load() == 0) return;
      if (!help()) events_.wait(seen);
    }
  }

 private:
  typename Sync::template Atomic<uint32_t> buffers_{0};
  typename Sync::template Atomic<bool> awaited_{false};
  typename Sync::template Atomic<uint32_t> events_{0};
};

using Progress = BasicProgress<RealSync>;
using Unfinished = BasicUnfinished<RealSync>;

}  // namespace contrafact::deferred
