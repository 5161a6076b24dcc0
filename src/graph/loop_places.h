// The places in which the loops of a lane program save the slots that they write. Private to lanes_compile*.cc.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <vector>

#include "graph/none.h"

namespace contrafact::graph {

// Slots that are never read again are reused: few are ever alive.
class SlotPool {
 public:
  uint32_t take() {
    if (free_.empty()) return count_++;
    const uint32_t slot = free_.back();
    free_.pop_back();
    return slot;
  }
  void give_back(uint32_t slot) { free_.push_back(slot); }
  uint32_t count() const { return count_; }

 private:
  std::vector<uint32_t> free_;
  uint32_t count_ = 0;
};

// Which place each loop has. A loop keeps its place while it may run again from its fork: until its join, and longer if
// a loop that opened inside of it closes later, because another run of the inner loop runs the outer loop's join again.
// Loops open and close in the order of the operations.
class PlaceKeeper {
 public:
  uint32_t open(uint32_t loop) {
    const uint32_t place = places_.take();
    held_.emplace_hint(held_.end(), loop, Held{place});
    latest_ = loop;
    return place;
  }
  void close(uint32_t loop) {
    auto at = held_.find(loop);
    at->second.latest_inside = latest_;
    // The ones before may have waited only for this one.
    while (is_free(at)) {
      places_.give_back(at->second.place);
      at = held_.erase(at);
      if (at == held_.begin()) return;
      --at;
    }
  }
  uint32_t count() const { return places_.count(); }

 private:
  struct Held {
    uint32_t place;
    uint32_t latest_inside = kNone;  // the latest loop that opened before it closed; none: it is open
  };
  using Loops = std::map<uint32_t, Held>;  // by number, and so in the order of their forks

  bool is_free(Loops::const_iterator at) const {
    const auto next = std::next(at);
    return at->second.latest_inside != kNone && (next == held_.end() || next->first > at->second.latest_inside);
  }

  Loops held_;
  SlotPool places_;
  uint32_t latest_ = 0;
};

}  // namespace contrafact::graph
