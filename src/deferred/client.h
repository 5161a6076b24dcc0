// Client: one producer of deferred calls, usually a thread, and the buffer that it fills.
//
// Every client starts with a stub of capacity 0, part of itself: a thread that appends nothing has no memory. How full
// buffers travel is its carrier's affair. With the Engine a buffer is either its client's or the processor's
// (engine.h).
//
// The swap protocol of queues (drain_queue.h), whose consumer is a Drainer or a SharedDrainer. A client's buffers form
// a queue with one producer and one consumer, linked through Buffer::next:
//
//     head_ (consumer) -> full -> full -> current (producer fills it)
//
//  - The producer links a new buffer behind its current one with a release store, after which it never touches the old
//    one.
//  - The consumer takes from the head: it reads `next` first and `committed` later, both with acquire. If there was a
//    next one, `committed` is final, and once all of it is taken the buffer is the consumer's to recycle. If not, it
//    takes what is committed (a live partial take) and looks again later.
//  - With no free buffer, a producer whose current buffer was taken to the last call uses it again: the consumer takes
//    all `capacity` calls of a buffer without successor, sets `drained` (release), and leaves it alone until the
//    producer has emptied it and cleared `drained` (release).
//  So each call is taken exactly once, in the order in which its producer appended it, and neither side ever waits.
//  - The queue starts with the stub.
//
// Thread safety: buffer() and swap() are the producer's; what the consumer uses is private to the folder.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/shared_flag.h"
#include "contrafact/deferred_buffer.h"
#include "deferred/buffer.h"
#include "deferred/carrier.h"
#include "deferred/progress.h"

namespace contrafact::deferred {

class BufferPool;
class Engine;
class ThreadLink;

class alignas(64) Client {
 public:
  explicit Client(Carrier& carrier) : carrier_(carrier) { reset(0); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // The buffer to append to. Valid until the next swap().
  contrafact_buffer* buffer() const { return &current_->header; }
  // A buffer with room for at least one call, or null after counting one dropped call. The current buffer need not be
  // full: it is handed on as it is.
  contrafact_buffer* swap() { return carrier_.swap(*this); }
  // The number that the environment's owner gave this producer when it attached.
  uint32_t stream() const { return stream_; }

 private:
  friend class ClientTable;
  friend struct DrainState;
  friend class Drainer;
  friend class Engine;
  friend class FilledBuffer;
  friend class QueueReader;
  friend class SharedDrainer;
  friend class SharedProducers;
  friend struct Swapped swap_buffer(Client& client, BufferPool& pool, struct DrainState& state);
  friend Client& find_or_attach(Engine& engine, const std::shared_ptr<ThreadLink>& link);

  // A producer that begins. REQUIRES: nobody knows of the client.
  void reset(uint32_t stream);

  // The producer's side. The consumer takes `dropped_` too, when the client has ended or the processor stops.
  Buffer* current_;
  uint32_t stream_;
  uint32_t size_class_;       // of the next buffer
  uint64_t pass_of_current_;  // the consumer's pass in which the current buffer was handed out
  std::atomic<uint32_t> dropped_;
  Carrier& carrier_;
  base::SharedFlag ended_;

  // The consumer's side.
  alignas(64) Buffer* head_;
  uint32_t memo_;
  uint32_t unsaid_dropped_;  // of buffers that held no call to say it with
  Client* next_new_;         // in the list of clients that the consumer has not seen yet
  Buffer stub_;

  // The Engine's. Numbers go on when the client is used again, so that a checkpoint stays true.
  Engine* engine_ = nullptr;
  base::SharedFlag foreign_;  // else it belongs to a thread that defers through of_this_thread()
  std::mutex mutex_;          // of current_ when it changes, closed_ and submitted_
  base::SharedFlag closed_;   // the engine has stopped
  uint64_t submitted_ = 0;    // buffers
  std::shared_ptr<Progress> progress_;
  std::atomic<uint32_t> unfinished_{0};  // buffers submitted and not processed, and one while the producer lives
  // The producer's, where buffers are run in place: it is running one, and these became full meanwhile.
  base::SharedFlag running_;
  Buffer* first_later_ = nullptr;
  Buffer* last_later_ = nullptr;
};

// ClientTable: makes clients and uses them again. Thread safety: all of it; locks.
class ClientTable {
 public:
  explicit ClientTable(Carrier& carrier) : carrier_(carrier) {}
  Client* attach(uint32_t stream);
  // REQUIRES: the producer does not use the client any more.
  void detach(Client* client);
  // The processor's: nothing of the client is left to be processed.
  void recycle(Client* client);
  size_t clients_made() const;
  // All that were ever made, ended ones too.
  std::vector<Client*> all() const;

 private:
  Carrier& carrier_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::vector<Client*> free_;
};

}  // namespace contrafact::deferred
