// Parts of threads, as ranges of events: whose part an event is in, or whether it is in any. Parts may stand within parts and beside
// each other in any number.
//
// Pure; O(log n) a question, O(n log n) to finish.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/trace.h"

namespace contrafact::model {

// Each part has an owner. Of several parts that hold an event, the one that begins last counts: of parts within parts the innermost.
class OwnedParts {
 public:
  static constexpr uint32_t kNobody = UINT32_MAX;

  // The events from `begin` on, before `until`, of one thread.
  void add(uint32_t begin, uint32_t until, uint32_t owner) {
    if (begin < until) parts_.push_back({begin, until, owner});
  }
  // After the last add().
  void finish() {
    std::ranges::stable_sort(parts_, [](const Part& x, const Part& y) {
      return x.begin != y.begin ? x.begin < y.begin
                                : x.until > y.until;  // of two that begin together, the shorter is within the other
    });
    std::vector<Part> open;  // in the order of their begins
    for (const Part& part : parts_) {
      close(open, part.begin);
      change_owner(part.begin, part.owner);
      open.push_back(part);
    }
    close(open, UINT32_MAX);
    parts_ = {};
  }
  // REQUIRES: finish()
  uint32_t owner_of(uint32_t event) const {
    const auto after = std::ranges::upper_bound(changes_, event, {}, &Change::event);
    return after == changes_.begin() ? kNobody : (after - 1)->owner;
  }

 private:
  struct Part {
    uint32_t begin, until, owner;
  };
  // From this event on, that owner.
  struct Change {
    uint32_t event, owner;
  };

  // Those that are over before that event.
  void close(std::vector<Part>& open, uint32_t event) {
    while (!open.empty() && open.back().until <= event) {
      const uint32_t until = open.back().until;
      while (!open.empty() && open.back().until <= until) open.pop_back();
      change_owner(until, open.empty() ? kNobody : open.back().owner);
    }
  }
  void change_owner(uint32_t event, uint32_t owner) {
    if (!changes_.empty() && changes_.back().event == event) changes_.pop_back();
    changes_.push_back({event, owner});
  }

  std::vector<Part> parts_;
  std::vector<Change> changes_;
};

// Parts that are all alike.
class EventParts {
 public:
  // From `begin` to `end`, both included.
  void add(uint32_t begin, uint32_t end) { parts_.add(begin, end + 1, 0); }
  void finish() { parts_.finish(); }
  // REQUIRES: finish()
  bool contain(uint32_t event) const { return parts_.owner_of(event) != OwnedParts::kNobody; }

 private:
  OwnedParts parts_;
};

}  // namespace contrafact::model
