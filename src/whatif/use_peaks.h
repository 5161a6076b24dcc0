// The greatest number of threads in use at any time, from unordered changes of use. A number counts only if it lasts
// for more than zero time: threads that hand over at one instant are not counted twice.
//
// Expected linear: changes are dealt into buckets of time, and only buckets that can hold the peak are sorted.
// Not thread-safe; reuse one object, it keeps its memory.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/propagate.h"

namespace contrafact::whatif {

struct Peaks {
  uint32_t active = 0, waiting = 0, occupied = 0;
};

class UsePeaks {
 public:
  Peaks find(const std::vector<graph::UseChange>& changes);

 private:
  struct Counts {
    int32_t active = 0, waiting = 0;
    void apply(const graph::UseChange& change) {
      active += (change.to() == graph::Use::active) - (change.from() == graph::Use::active);
      waiting += (change.to() == graph::Use::waiting) - (change.from() == graph::Use::waiting);
    }
  };
  struct Bucket {
    uint32_t begin = 0;
    Counts net;    // of all changes in it
    Counts rises;  // of those upwards only: how far the counts can rise inside
    int32_t occupied_rises = 0;
  };
  void deal(const std::vector<graph::UseChange>& changes);
  void sweep(Bucket& bucket, uint32_t end, Counts before, Peaks& peaks, int64_t next_ns);

  std::vector<Bucket> buckets_;
  std::vector<graph::UseChange> dealt_;
};

}  // namespace contrafact::whatif
