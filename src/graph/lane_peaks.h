// The greatest number of threads in use at any time, in each of several lanes at once: what whatif/use_peaks.h finds
// for one. Held for more than zero time: threads that hand over at one instant are not counted twice.
//
// Changes come in rows, one for each lane or none, roughly in the order of time. They are counted in buckets of time;
// the counts at the buckets' borders are a lower bound of the peak. Only buckets that may rise above it are looked at
// one change after the other, the most promising first.
//
// Not thread-safe; reuse one object, it keeps its memory: 64 bytes for a row, and 8 for each bucket and lane.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace contrafact::graph {

inline constexpr size_t kLanes = 8;  // of 64 bits: one cache line, one AVX-512 register

struct alignas(64) LaneRow {
  int64_t lane[kLanes];
};

class LanePeaks {
 public:
  explicit LanePeaks(size_t changes_max);

  // Forgets all changes. Those before or after the given times are found too, only later.
  void begin(int64_t begin_ns, int64_t end_ns);

  static constexpr size_t kChunk = 1024;  // rows: 64 KiB, still in the cache when counted

  // Where to write the rows. A lane's entry is time * 2 + 1 for a rise, time * 2 for a fall, kNever (propagate.h) for
  // none.
  LaneRow* rows() { return rows_.data(); }

  // The first `rows` are final: counts the whole chunks among them.
  void count(size_t rows);

  // After the last chunk, once for each lane.
  uint32_t find(size_t lane);

 private:
  struct Chunk {
    LaneRow first, last;  // buckets
  };
  struct Hot {
    int32_t bound;
    uint32_t bucket;
  };
  struct Change {
    int64_t time_ns;
    int32_t step;
  };
  // The inner loops, in lane_peaks.cc.
  struct Machine;
  void look_into(size_t lane, size_t first, size_t last);

  uint64_t* buckets_of(size_t lane) { return buckets_.data() + lane * (bucket_max_ + 1); }

  std::vector<LaneRow> rows_;
  std::vector<uint64_t> buckets_;  // rises in the lower half, falls in the upper; then the count before
  std::vector<Chunk> chunks_;
  int64_t peak_ = 0;
  int64_t begin_ns_ = 0;
  int shift_ = 0;
  size_t bucket_max_ = 0;
  std::vector<Hot> hot_;
  std::vector<uint8_t> wanted_;  // by bucket
  std::vector<Change> changes_;
};

}  // namespace contrafact::graph
