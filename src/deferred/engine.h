// Engine: the carrier under every online analysis. It gives each filled buffer to a Processor, keeps the buffers and
// their memory, and knows when all is done. C++ code uses it through Environment (environment.h), which is its typed
// front.
//
// Foreign producers, such as code injected into a JVM, use it directly:
//   1. The methods' numbers and columns are those of Calls<...> (number_of<Method>(), column_of<T>()), or the
//      runner's own.
//   2. When a producing thread begins: client = engine.attach(n); hand client->buffer() to the foreign code, which
//      appends to it with plain stores, as include/contrafact/deferred_buffer.h says.
//   3. When the buffer is full the foreign code calls client->swap(), through a native method or the like, and goes on
//      with what it returns.
//   4. When the thread ends, and no longer uses the client: engine.detach(client). Its last buffer is submitted.
//   5. stop() takes what threads that live on have committed; they may go on appending, and what they append is lost.
//      The engine must outlive these threads. Do not stop it while a thread is inside attach or detach.
//
// Memory. Buffers in use at one time: one for each thread that defers, those in the processor's queue, those being run.
// At the bound nothing is lost: a producer with no second buffer to go on with runs its full one itself and goes on
// with that; one that has no buffer gets one for 16 calls beyond the bound, and runs that itself too.
//
// A forked child has neither consumers nor the right to its parent's calls: there all is inert, nothing is run and
// nothing waited for; what is deferred is dropped.
//
// Deferred methods may defer. Their calls go into the buffers of whichever thread makes them.
//
// Thread safety: all but swap(), process_current_buffer() and create_checkpoint(), which are the client's producer's.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/result.h"
#include "deferred/batch.h"
#include "deferred/buffer_pool.h"
#include "deferred/checkpoint.h"
#include "deferred/client.h"
#include "deferred/defaults.h"
#include "deferred/failures.h"
#include "deferred/forks.h"
#include "deferred/processor.h"
#include "deferred/thread_clients.h"

namespace contrafact::deferred {

// Makes the calls. Called by many threads at once, each with a buffer of its own: begin, run once or more, end. One
// buffer's are never concurrent, but they may come from two threads one after the other, when a waiter takes over.
class BatchRunner {
 public:
  virtual ~BatchRunner() = default;
  // Returns what is to be private to this buffer; null is fine too. What is thrown is counted, and the buffer's calls
  // with it.
  virtual void* begin(const Client& producer) = 0;
  // Makes the batch's calls, and moves its cursor past all of their arguments. What a call throws is to be added to
  // `failures`, the other calls go on; what this throws is added too, but the rest of the batch is lost.
  virtual void run(void* private_data, Batch& batch, Failures& failures) = 0;
  virtual void end(void* private_data) = 0;

  // For producers that do not count what they commit, because it can be seen in the buffer. `settle` sets `committed`
  // of a buffer whose producer may be in the middle of appending, or has left it; `clear` makes a buffer empty that
  // held `committed` calls.
  virtual void settle(contrafact_buffer& /*buffer*/) {}
  virtual void clear(contrafact_buffer& /*buffer*/) {}
};

class Engine final : public Carrier {
 public:
  static constexpr uint32_t kCapacityMax = 1 << 20;  // calls

  struct Options {
    uint32_t capacity = kCapacityDefault;             // calls in a buffer, 1 to kCapacityMax
    uint64_t memory_bytes_max = kMemoryBytesDefault;  // of buffers
  };
  struct Statistics {
    uint64_t buffers = 0, calls = 0;                  // processed
    uint64_t buffers_run_at_the_bound = 0;            // by their producers, for want of memory
    uint64_t calls_dropped = 0;                       // after stop(), in a forked child, or without address space
    uint64_t memory_bytes = 0, memory_bytes_max = 0;  // of buffers, now and at most so far
    uint64_t consumers_cpu_ns = 0;                    // of the processor's own threads
  };

  // The runner must outlive the engine.
  static base::Result<std::unique_ptr<Engine>> create(const Layout& layout, BatchRunner& runner,
                                                      std::unique_ptr<Processor> processor, const Options& options);
  ~Engine() override;  // stop()

  // A producer begins. `stream` is the caller's number for it, which the runner sees.
  Client* attach(uint32_t stream) { return clients_.attach(stream); }
  // It ended. May wait as the processor does.
  void detach(Client* client) { clients_.detach(client); }
  // The client of the calling thread: attached with its first call, detached when the thread ends, however it does.
  Client& of_this_thread() {
    const CachedClient& cached = cached_clients[serial_ % kCachedClients];
    if (cached.engine_serial == serial_) [[likely]]
      return *cached.client;
    return find_or_attach(*this, link_);
  }

  // Calls in a buffer. A new capacity is that of buffers begun later. Fails for 0 and beyond kCapacityMax.
  uint32_t capacity() const { return capacity_.load(std::memory_order_relaxed); }
  base::Status set_capacity(uint32_t calls);

  // Submits what the producer appended since its last buffer, if anything.
  void process_current_buffer(Client& client);
  Checkpoint create_checkpoint(Client& client);

  // Takes all that was committed, and returns when it has been processed; the calling thread helps. Once.
  void stop();

  Statistics statistics() const;
  const Failures& failures() const { return failures_; }
  // Never used for another engine of this process, and never 0.
  uint64_t serial() const { return serial_; }

  contrafact_buffer* swap(Client& client) override;
  void attached(Client& client) override;
  void detached(Client& client) override;

 private:
  friend class FilledBuffer;
  friend class Checkpoint;
  friend Client& find_or_attach(Engine& engine, const std::shared_ptr<ThreadLink>& link);
  Engine(BatchRunner& runner, std::unique_ptr<Processor> processor, std::unique_ptr<BufferPool> pool,
         const Options& options);
  bool in_forked_child() const { return forks_before() != forks_before_; }
  Buffer* take();
  void hand_out(Client& client, Buffer& buffer);
  bool go_on_with(Client& client, Buffer* fresh);
  void number(Client& client, Buffer& buffer);
  void submit(Client& client, Buffer& full);
  bool beyond_the_bound(const Buffer& buffer) const;
  void submit_in_place(Client& client, Buffer& full);
  contrafact_buffer* drop(Client& client);
  void stop_foreign(Client& client);
  bool submit_of_threads();
  bool run(Buffer& buffer, bool unless_awaited);
  bool begin(Buffer& buffer);
  void run_part(Buffer& buffer, uint32_t calls);
  void finish(Buffer& buffer);

  BatchRunner& runner_;
  Failures failures_;
  std::unique_ptr<BufferPool> pool_;
  ClientTable clients_{*this};
  const uint64_t serial_;
  const uint32_t forks_before_ = forks_before();
  const std::shared_ptr<ThreadLink> link_;  // by which ending threads find us, or that we have ended
  std::atomic<uint32_t> capacity_;
  std::atomic<bool> stopping_{false};
  std::atomic<bool> stopped_{false};  // calls are dropped from here on
  const std::shared_ptr<Unfinished> unfinished_ = std::make_shared<Unfinished>();
  alignas(64) std::atomic<uint64_t> buffers_{0};
  std::atomic<uint64_t> calls_{0}, run_at_the_bound_{0}, dropped_{0};

  std::unique_ptr<Processor> processor_;  // last: its threads end before what they use does
};

}  // namespace contrafact::deferred
