// The greatest number of threads in use at any time, in each of several lanes at once. whatif/use_peaks.h does the same
// for one run. A number counts only if it lasts for more than zero time: threads that hand over at one instant are not
// counted twice.
//
// Changes come in rows, each with one change or none for each lane, roughly in the order of time. They are counted in
// buckets of time. The counts at the buckets' borders are a lower bound of the peak. Only buckets that may rise above
// it are looked at one change after the other, the most promising first.
//
// Rows are written to one buffer again and again, which stays in the cache. They are stored as distances from the begin
// of their block, which halves the writes to memory.
//
// Where memory is short, only the first lanes are kept, and the others' changes forgotten.
//
// Not thread-safe; reuse one object, it keeps its memory: 4 bytes for a row and lane (128 bytes more for a row where
// changes that follow each other are more than two seconds apart), and 8 for each bucket and lane.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace contrafact::graph {

inline constexpr size_t kLanes = 16;  // of 64 bits: two cache lines, two AVX-512 registers

struct alignas(64) LaneRow {
  int64_t lane[kLanes];
};

// The parts of a LanePeaks that counting needs (lane_machine.h).
struct PeakMemory {
  static constexpr size_t kChunk = 256;  // rows: 32 KiB, still in the cache when counted
  static constexpr size_t kBlock = 64;   // rows that are looked at together
  static_assert(kChunk % kBlock == 0);
  // Rises in a bucket's lower half, falls in the upper; then the count before.
  static constexpr uint64_t kRise = 1, kFall = uint64_t{1} << 32;

  static constexpr uint32_t kNarrow = UINT32_MAX;

  struct Block {
    int32_t first[kLanes], last[kLanes];  // buckets
    uint32_t wide;                        // rows before it in `wide`; kNarrow: its rows are in `narrow`
  };

  LaneRow* rows;  // not counted yet
  Block* blocks;
  // Counted rows, by their number, `kept` entries for each: 1 + the change less that of the begin of the block's first
  // bucket; 0: none.
  uint32_t* narrow;
  LaneRow* wide;         // counted rows, of blocks in which some distance does not fit
  uint64_t* buckets;     // of each lane `bucket_max` + 1, and one for changes that a lane does not have
  size_t kept = kLanes;  // the first lanes; where they are not all, another lane's buckets are there for the rest
  size_t counted = 0;    // rows
  size_t wide_rows = 0;
  int64_t begin_ns = 0;
  int64_t bucket_max = 0;
  int shift = 0;

  int64_t bucket_of(int64_t time_ns) const { return std::clamp<int64_t>((time_ns - begin_ns) >> shift, 0, bucket_max); }
  int64_t begin_of(int64_t bucket) const { return begin_ns + (bucket << shift); }
  uint64_t* buckets_of(size_t lane) const { return buckets + static_cast<int64_t>(lane) * (bucket_max + 2); }
};

class LanePeaks {
 public:
  // REQUIRES: 0 < kept <= kLanes.
  explicit LanePeaks(size_t changes_max, size_t kept = kLanes);

  // The most memory that it takes, unless changes are far apart.
  static size_t bytes(size_t changes_max, size_t kept);

  // Forgets all changes. Later changes before or after the given times are found, too, only more slowly.
  void begin(int64_t begin_ns, int64_t end_ns);

  static constexpr size_t kChunk = PeakMemory::kChunk;

  // Where to write the rows. A lane's entry is time * 2 + 1 for a rise, time * 2 for a fall, kNever (propagate.h) for
  // none.
  LaneRow* rows() { return rows_.get(); }
  PeakMemory& memory() { return memory_; }

  // The first `rows` are final: counts them. The next one is to be written at rows() again.
  // REQUIRES: whole chunks.
  void count(size_t rows);

  // After the last chunk, once for each lane that is kept.
  uint32_t find(size_t lane);

 private:
  struct Hot {
    int32_t bound;
    uint32_t bucket;
  };
  struct Change {
    int64_t time_ns;
    int32_t step;
  };
  void look_into(size_t lane, size_t first, size_t last);
  void look_into_block(size_t lane, size_t number);

  static size_t rows_max(size_t changes_max) { return (changes_max / kChunk + 2) * kChunk; }
  static size_t lanes_of_buckets(size_t kept) { return kept < kLanes ? kept + 1 : kLanes; }
  // begin() makes no more of them.
  static size_t buckets_max(size_t rows_max) { return rows_max / 16 * 3 / 2 + 3; }

  const size_t rows_max_;
  std::unique_ptr<LaneRow[]> rows_, wide_;  // not touched, and so no memory, where nothing was written
  std::unique_ptr<uint32_t[]> narrow_;
  std::vector<PeakMemory::Block> blocks_;
  std::vector<uint64_t> buckets_;
  PeakMemory memory_{};
  int64_t peak_ = 0;
  std::vector<Hot> hot_;
  std::vector<uint8_t> wanted_;  // by bucket
  std::vector<Change> changes_;
};

}  // namespace contrafact::graph
