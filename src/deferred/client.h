// Client: one producer of deferred calls, usually a thread, and its chain of buffers.
//
// The swap protocol. A client's buffers form a queue with one producer and one consumer, linked through Buffer::next:
//
//     head_ (consumer) -> full -> full -> current (producer fills it)
//
//  - The producer links a new buffer behind its current one with a release store, after which it never touches the old one.
//  - The consumer takes from the head: it reads `next` first and `committed` second, both with acquire. If next was set,
//    committed is final, and once all of it is taken the buffer is the consumer's to recycle. If not, it takes what is
//    committed (a live partial take) and looks again later.
//  - With no free buffer, a producer whose current buffer was taken to the last call uses it again: the consumer, having
//    taken all `capacity` calls of a buffer without successor, sets `drained` (release) and leaves it alone until the
//    producer has emptied it and cleared `drained` (release).
//  So each call is taken exactly once, in the order in which its producer appended it, and neither side ever waits.
//  - The queue starts with a stub of capacity 0, part of the client: a thread that appends nothing has no memory.
//
// Thread safety: buffer() and swap() are the producer's; what the consumer uses is private to the folder.
#pragma once

#include <atomic>
#include <cstdint>

#include "contrafact/deferred_buffer.h"
#include "deferred/buffer.h"

namespace contrafact::deferred {

class Processor;

class alignas(64) Client {
 public:
  Client(Processor& processor, uint32_t index);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // The buffer to append to. Valid until the next swap().
  contrafact_buffer* buffer() const { return &current_->header; }
  // A buffer with room for at least one call, or null after counting one dropped call. Also for a buffer that is not full:
  // then it is handed on as it is.
  contrafact_buffer* swap();
  // The number that the environment's owner gave this producer when it attached.
  uint32_t stream() const { return stream_; }
  // Its place in the engine's table of clients: dense, used again after detach.
  uint32_t index() const { return index_; }

 private:
  friend class Engine;
  friend class Drainer;

  // Producer's side. `dropped_` is read by the consumer when the client has ended or the engine stops.
  Buffer* current_;
  uint32_t stream_ = 0;
  uint32_t index_;
  uint32_t buffers_filled_ = 0;  // decides the size of the next one
  std::atomic<uint32_t> dropped_{0};
  Processor* processor_;
  std::atomic<bool> ended_{false};

  // Consumer's side.
  alignas(64) Buffer* head_;
  Client* next_new_ = nullptr;
  Buffer stub_;
};

}  // namespace contrafact::deferred
