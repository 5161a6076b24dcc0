// Events as a server with a pool makes them, for this folder's tests and benchmarks: tasks created, spawned and waited
// for by a few workers, with methods, contexts that repeat, and times whose gaps spread from 50 ns to milliseconds.
#pragma once

#include <random>
#include <vector>

#include "format/event_block.h"

namespace contrafact::format {

struct PlainEvent {
  ThreadId thread;
  RunSource source = RunSource::program;
  EventKind kind;
  int64_t time_ns;
  std::array<uint32_t, kOperandsMax> operands{};
  bool operator==(const PlainEvent&) const = default;
};

// One pass of the drainer: the events of `threads` workers in a few milliseconds, thread by thread.
class SyntheticLoad {
 public:
  SyntheticLoad(uint32_t threads, bool with_methods, uint64_t seed = 1)
      : random_(seed), with_methods_(with_methods), now_ns_(threads, 1'000'000'000'000), next_task_(threads) {
    for (uint32_t t = 0; t < threads; ++t) next_task_[t] = 256 * t;
  }

  // Appends about `events` events to the encoder (stopping when it is full) and, if given, to `plain`.
  void pass(uint32_t events, EventEncoder& encoder, std::vector<PlainEvent>* plain = nullptr) {
    const auto threads = static_cast<uint32_t>(now_ns_.size());
    for (uint32_t t = 0; t < threads; ++t) {
      const uint32_t until = encoder.event_count() + events / threads;
      encoder.begin_run(ThreadId(t));
      while (encoder.event_count() < until) {
        if (encoder.event_count() + kRequestEventsMax > kEventsPerBlockMax) return;
        request(t, encoder, plain);
      }
    }
  }

  static constexpr uint32_t kRequestEventsMax = 64;

 private:
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }

  void put(uint32_t t, EventKind kind, std::array<uint32_t, kOperandsMax> operands, bool same_time = false) {
    // Log-uniform gaps: 50 ns to 3 ms.
    if (!same_time) now_ns_[t] += int64_t{50 + below(64)} << below(16);
    encoder_->append(kind, now_ns_[t], operands.data());
    if (plain_) plain_->push_back({ThreadId(t), RunSource::program, kind, now_ns_[t], operands});
  }

  // A worker runs a task that creates, spawns and awaits three others.
  void request(uint32_t t, EventEncoder& encoder, std::vector<PlainEvent>* plain) {
    encoder_ = &encoder;
    plain_ = plain;
    const uint32_t route = below(12);
    const uint32_t task = below(next_task_[t] + 1);
    put(t, EventKind::worker_busy, {0, below(4)});
    put(t, EventKind::task_start, {task});
    uint32_t children[3];
    for (uint32_t& child : children) {
      child = next_task_[t]++;
      if (child % 256 == 255) next_task_[t] += 256 * static_cast<uint32_t>(now_ns_.size() - 1);
      const auto site = static_cast<uint32_t>(&child - children);
      put(t, EventKind::task_create, {child, route * 8 + site, route * 3 + site});
      put(t, EventKind::task_spawn, {child, route * 8 + 3 + site, site % 2, route * 3 + site}, true);
      if (with_methods_) methods(t, route);
    }
    for (const uint32_t child : children) {
      put(t, EventKind::wait_begin, {child, route * 8 + 7});
      put(t, EventKind::wait_end, {child, 0});
    }
    put(t, EventKind::task_complete, {task, below(50) == 0});
    put(t, EventKind::task_end, {task, 0}, true);
    put(t, EventKind::worker_idle, {0, below(4)});
  }

  void methods(uint32_t t, uint32_t route) {
    for (uint32_t i = 0; i < 6; ++i) {
      const uint32_t method = route * 16 + below(8);
      put(t, EventKind::method_enter, {method});
      put(t, EventKind::method_exit, {method, 0});
    }
  }

  std::mt19937_64 random_;
  bool with_methods_;
  std::vector<int64_t> now_ns_;
  std::vector<uint32_t> next_task_;
  EventEncoder* encoder_ = nullptr;
  std::vector<PlainEvent>* plain_ = nullptr;
};

}  // namespace contrafact::format
