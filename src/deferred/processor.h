// Processor: what becomes of full buffers. The one here is the Drainer (drainer.h); synchronous, pool and adaptive
// processing fit behind the same interface: they differ in what swap() does with the producer's current buffer.
// Batch and Consumer: how calls taken from a buffer are shown to whoever runs them.
#pragma once

#include <array>
#include <cstdint>

#include "deferred/buffer.h"

namespace contrafact::deferred {

class Client;

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
  virtual void begin_pass() {}
  virtual void take(Batch& batch) = 0;
  virtual void end_pass() {}
  // Once, after the last pass and on the same thread.
  virtual void end() {}
  // One of the above threw; nothing is processed any more but end().
  virtual void failed(const char* /*what*/) {}
};

class Processor {
 public:
  virtual ~Processor() = default;
  // The producer's current buffer is full, or it wants to hand it on. A buffer with room, or null after counting a
  // dropped call. Producer's thread; must not block unless the processor's documentation says so.
  virtual contrafact_buffer* swap(Client& client) = 0;
  // A producer begins; it may append as soon as this returns.
  virtual void attached(Client& client) = 0;
  // It ended: what it appended is to be processed, and then the client given back with ClientTable::recycle.
  virtual void detached(Client& client) = 0;
};

}  // namespace contrafact::deferred
