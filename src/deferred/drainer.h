// Drainer: the processor with one background thread, which at least every `interval_ms` takes what every live client
// has committed, also from buffers that are partly filled, and shows it to one Consumer. Never blocks a producer:
// without memory it drops calls and counts them. The protocol with the producers is in client.h.
//
// Thread safety: attach, detach, flush, stop: any thread. swap: the client's producer. The consumer's methods run on
// the drainer's thread only.
#pragma once

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/result.h"
#include "deferred/batch.h"
#include "deferred/buffer_pool.h"
#include "deferred/carrier.h"
#include "deferred/client.h"
#include "deferred/drain_queue.h"
#include "deferred/wakeup.h"

namespace contrafact::deferred {

class Drainer : public Carrier {
 public:
  struct Options {
    Layout layout;
    uint64_t memory_bytes_max = uint64_t{64} << 20;
    uint32_t interval_ms = 20;
    const char* thread_name = "contrafact";  // at most 15 characters
  };
  // The consumer must outlive the drainer.
  static base::Result<std::unique_ptr<Drainer>> start(const Options& options, Consumer& consumer);
  ~Drainer() override;  // stop()

  Client* attach(uint32_t stream) { return clients_.attach(stream); }
  void detach(Client* client) { clients_.detach(client); }

  // What was committed before the call has been shown to the consumer when it returns.
  void flush();
  // One last pass, then the thread ends. Producers may go on; their calls are dropped from here on.
  // With `timeout_ms` above 0 it waits no longer than that for the pass to end.
  void stop(int64_t timeout_ms = 0);
  // In a forked child, which has no drainer thread: forget it, take nothing.
  void abandon();

  uint64_t bytes_made() const { return pool_->bytes_made(); }
  int64_t buffers_out() const { return pool_->buffers_out(); }
  size_t clients_made() const { return clients_.clients_made(); }

  contrafact_buffer* swap(Client& client) override;
  void attached(Client& client) override;
  void detached(Client& client) override;

 private:
  Drainer(std::unique_ptr<BufferPool> pool, const Options& options, Consumer& consumer);
  base::Status start_thread(const char* name);
  static void* thread_main(void* self);
  void run();
  template <typename Work>
  bool guarded(Work work);
  void pass(bool last);
  void take_new_clients();

  std::unique_ptr<BufferPool> pool_;
  Consumer& consumer_;
  const int64_t interval_ns_;
  ClientTable clients_{*this};
  Wakeup wakeup_;

  DrainState state_;
  std::atomic<bool> stopping_{false};
  std::atomic<bool> abandoned_{false};

  // The thread's own.
  QueueReader reader_;
  std::vector<Client*> live_;

  std::mutex mutex_;  // of the four below
  std::condition_variable passed_;
  bool begun_ = false;
  uint64_t passes_done_ = 0;
  bool joined_ = false;
  pthread_t thread_{};
};

}  // namespace contrafact::deferred
