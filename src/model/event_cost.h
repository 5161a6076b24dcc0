// What recording one event cost the thread that it happened on, by kind of event. A run with many small tasks is longer
// for it, and shorter by as much where there are fewer tasks.
//
// A recorder that has timed itself says so in facts (`recording.ns.KIND`). Of other recordings one cost is known for all
// kinds: between a task's completion and its end, a pool's worker does next to nothing where nobody has to be woken, so
// that the time between these two events is the recorder's.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>

#include "model/trace.h"

namespace contrafact::model {

class EventCosts {
 public:
  EventCosts() = default;  // nothing is known: events cost nothing
  // The same for all kinds.
  explicit EventCosts(int64_t ns) : plain_ns_(ns) { of_kind_.fill(ns); }

  // In ns.
  int64_t of(EventKind kind) const { return of_kind_[static_cast<size_t>(kind)]; }
  // Of an event of which nothing more is known: neither its kind nor what is done for it.
  int64_t plain_ns() const { return plain_ns_; }
  // Whether the recorder timed itself at events of this kind.
  bool measured(EventKind kind) const { return measured_[static_cast<size_t>(kind)]; }
  bool any() const { return measured_.any() || plain_ns_ > 0; }
  void set(EventKind kind, int64_t ns) {
    of_kind_[static_cast<size_t>(kind)] = ns;
    measured_.set(static_cast<size_t>(kind));
  }

 private:
  std::array<int64_t, format::kEventKinds> of_kind_{};
  int64_t plain_ns_ = 0;
  std::bitset<format::kEventKinds> measured_;
};

// Kinds that the recorder did not time cost as much as the one cost that is known without it: the tenth percentile of
// the times from completion to end, at most 200 ns; 0 where fewer than a hundred tasks show it. Facts above 200 us are
// none. Linear in the events.
EventCosts event_costs(const Trace& trace);

}  // namespace contrafact::model
