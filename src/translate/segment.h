// Segment: what a thread accessed since its segment began, gathered from its log: ranges in the order in which they
// were met, equal ones once. Bounded: more than kRangesMax ranges are counted as overflow.
//
// Thread safety: its thread only. Allocates nothing. About 5 ns for an access that was seen before.
#pragma once

#include <cstdint>
#include <span>

#include "translate/log.h"

namespace contrafact::translate {

enum class Reason : uint32_t;  // thread.h

inline constexpr uint32_t kAccessRead = 1;
inline constexpr uint32_t kAccessWrite = 2;
inline constexpr uint32_t kAccessChanged = 4;      // a write changed the value
inline constexpr uint32_t kAccessCommutative = 8;  // see format/access_set.h, as for all below
inline constexpr uint32_t kAccessAtomic = 16;
inline constexpr uint32_t kAccessFetched = 32;
inline constexpr uint32_t kAccessSetsBits = 64;
inline constexpr uint32_t kAccessClearsBits = 128;
inline constexpr uint32_t kAccessBits = kAccessSetsBits | kAccessClearsBits;

struct Access {
  uint64_t begin;
  uint32_t length_bytes;
  uint32_t flags;
};
static_assert(sizeof(Access) == 16);

// Receives every access of a thread, in the thread's order. Called on the thread, between two of the program's
// instructions; neither allocates, locks nor uses much stack.
class AccessSink {
 public:
  virtual void take(std::span<const Access> accesses) = 0;
  // All accesses until now have been taken.
  virtual void flushed() = 0;
  // From here on accesses may be missing. Also from a signal's handler, but never in one of the above.
  virtual void missed(Reason reason) = 0;
  // False: the thread may go on natively.
  virtual bool is_wanted() const = 0;

 protected:
  ~AccessSink() = default;
};

class Segment {
 public:
  static constexpr uint32_t kRangesMax = 4096;

  // Everything that is added goes to `sink` too; null: no longer.
  void stream_to(AccessSink* sink) { sink_ = sink; }
  AccessSink* sink() const { return sink_; }
  // Gathers nothing until the next begin().
  void pause() { gathers_ = false; }
  bool gathers() const { return gathers_; }

  // Forgets all.
  void begin();
  // What lies in the range is nobody else's: it is left out of what is gathered from now on, and of ranges().
  void set_private(uint64_t private_begin, uint64_t private_end);
  // Reads the log's entries, newest first: from `log` up to `log_top`.
  void add_log(uint64_t log, uint64_t log_top);
  // REQUIRES: the log is empty, if the accesses are streamed: the added one would come before those in the log.
  void add(uint64_t begin, uint64_t length_bytes, uint32_t flags);
  // What is no memory (kernel_state.h): it is in the set, and not in the stream.
  void add_kernel_state(uint64_t begin, uint64_t length_bytes, uint32_t flags) {
    if (gathers_) gather(begin, length_bytes, flags);
  }

  // Without what lies in the private range. Valid until the next call.
  std::span<const Access> ranges();
  bool overflown() const { return overflown_; }
  uint64_t accesses() const { return accesses_; }

 private:
  static constexpr uint32_t kSlots = 2 * kRangesMax;
  static constexpr uint32_t kMergesMax =
      4;                                   // that leave a quarter or more: what fills up so is a long way from complete
  static constexpr uint32_t kStreams = 4;  // ranges that grow while memory is copied or searched

  void gather(uint64_t begin, uint64_t length_bytes, uint32_t flags);
  void stream(uint64_t log, uint64_t log_top);
  static uint32_t slot_of(uint64_t begin, uint32_t length_bytes);
  bool join(uint64_t begin, uint32_t length_bytes, uint32_t flags);
  bool grow_stream(uint64_t begin, uint32_t length_bytes, uint32_t flags);
  bool merge();

  AccessSink* sink_ = nullptr;
  uint16_t log_order_[kLogBytes / kEntryBytes];  // of stream(): where each entry lies
  bool gathers_ = false;

  uint64_t private_begin_ = 0, private_end_ = 0;
  uint64_t accesses_ = 0;
  uint32_t count_ = 0;
  uint32_t next_stream_ = 0;
  uint32_t merges_ = 0;
  bool overflown_ = false;
  uint32_t stream_[kStreams];  // indices of ranges, plus one
  Access range_[kRangesMax];
  uint16_t slot_[kSlots];  // index of a range, plus one; by begin and length
  uint32_t slot_of_[kRangesMax];
};

}  // namespace contrafact::translate
