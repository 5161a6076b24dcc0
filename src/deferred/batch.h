// Batch: how calls taken from a buffer are shown to the code that makes them. Consumer: sees the calls that the Drainer
// takes.
#pragma once

#include <array>
#include <cstdint>

#include "deferred/buffer.h"

namespace contrafact::deferred {

// Consecutive calls of one producer.
struct Batch {
  uint32_t stream;          // the producer's number
  uint32_t dropped_before;  // calls lost just before the first of these
  bool buffer_begins;       // these are the first calls of a buffer
  uint32_t count;           // 0 only where a producer's last calls were lost
  const uint16_t* ids;      // `count` of them
  std::array<const void*, kColumnsMax> column;
  // Position in each column of the first call's arguments. The consumer must move them past the last call's.
  std::array<uint32_t, kColumnsMax>& cursor;
  uint32_t& memo;  // the consumer's own, kept with the producer from batch to batch; 0 when it attaches

  template <typename T>
  T next(size_t which) {
    return static_cast<const T*>(column[which])[cursor[which]++];
  }
};

class Consumer {
 public:
  virtual ~Consumer() = default;
  // Once, on the thread of all others, before it is said to have started.
  virtual void begin() {}
  virtual void begin_pass() {}
  virtual void take(Batch& batch) = 0;
  virtual void end_pass() {}
  // Once, after the last pass and on the same thread.
  virtual void end() {}
  // One of the above threw; nothing is processed any more but end().
  virtual void failed(const char* /*what*/) {}
};

}  // namespace contrafact::deferred
