// Parts of threads, as ranges of events: whether an event is in one of them. Pure; O(log n) a question.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/trace.h"

namespace contrafact::model {

class EventParts {
 public:
  // From `begin` to `end`, both included. Parts may stand within parts, of one thread each.
  void add(uint32_t begin, uint32_t end) { parts_.push_back({begin, end}); }
  // After the last add().
  void finish() {
    std::ranges::sort(parts_, {}, &Part::begin);
    // The events of a thread are consecutive: what began on another one is over.
    for (size_t i = 1; i < parts_.size(); ++i) parts_[i].end = std::max(parts_[i].end, parts_[i - 1].end);
  }
  // REQUIRES: finish()
  bool contain(uint32_t event) const {
    const auto after = std::ranges::upper_bound(parts_, event, {}, &Part::begin);
    return after != parts_.begin() && (after - 1)->end >= event;
  }

 private:
  struct Part {
    uint32_t begin, end;
  };
  std::vector<Part> parts_;
};

}  // namespace contrafact::model
