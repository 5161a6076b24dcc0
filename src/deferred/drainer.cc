#include "deferred/drainer.h"

#include <algorithm>
#include <exception>
#include <string>

#include "deferred/background_thread.h"

namespace contrafact::deferred {

base::Result<std::unique_ptr<Drainer>> Drainer::start(const Options& options, Consumer& consumer) {
  auto pool = BufferPool::create(options.layout,
                                 {.capacities = kDrainCapacities, .memory_bytes_max = options.memory_bytes_max});
  if (!pool) return pool.error();
  std::unique_ptr<Drainer> drainer(new Drainer(std::move(*pool), options, consumer));
  if (base::Status started = drainer->start_thread(options.thread_name); !started) return started.error();
  return drainer;
}

Drainer::Drainer(std::unique_ptr<BufferPool> pool, const Options& options, Consumer& consumer)
    : pool_(std::move(pool)),
      consumer_(consumer),
      interval_ns_(std::max(options.interval_ms, 1u) * int64_t{1'000'000}),
      reader_(*pool_, consumer) {}

Drainer::~Drainer() {
  stop();
}

base::Status Drainer::start_thread(const char* name) {
  base::Status started = start_background_thread(name, thread_main, this, thread_);
  joined_ = !started;
  std::unique_lock lock(mutex_);
  while (!begun_ && !joined_) passed_.wait(lock);
  return started;
}

void* Drainer::thread_main(void* self) {
  static_cast<Drainer*>(self)->run();
  return nullptr;
}

void Drainer::run() {
  raise_above_real_time(0, own_real_time_priority());
  guarded([&] { consumer_.begin(); });
  {
    const std::lock_guard lock(mutex_);
    begun_ = true;
    passed_.notify_all();
  }
  for (bool last = false; !last;) {
    wakeup_.sleep(interval_ns_);
    last = stopping_.load(std::memory_order_acquire);
    const bool healthy = guarded([&] { pass(last); });
    if (!healthy) state_.stopped.store(true, std::memory_order_relaxed);
    std::lock_guard lock(mutex_);
    ++passes_done_;
    passed_.notify_all();
    if (!healthy) break;
  }
  guarded([&] { consumer_.end(); });
}

// An exception, of an analysis or for want of memory, must not end the host.
template <typename Work>
bool Drainer::guarded(Work work) {
  try {
    work();
    return true;
  } catch (const std::exception& e) {
    consumer_.failed(e.what());
  } catch (...) {
    consumer_.failed("an exception of unknown type");
  }
  return false;
}

void Drainer::pass(bool last) {
  state_.pass.fetch_add(1, std::memory_order_relaxed);
  state_.waiting.store(0, std::memory_order_relaxed);
  if (last) state_.stopped.store(true, std::memory_order_relaxed);
  consumer_.begin_pass();
  take_new_clients();
  std::erase_if(live_, [&](Client* client) {
    // Read before anything is taken: if set, no call comes after those taken.
    const bool ended = client->ended_.load(std::memory_order_acquire);
    reader_.take(*client, client->stream(), last || ended);
    if (!ended) return false;
    reader_.give_back(*client);
    clients_.recycle(client);
    return true;
  });
  consumer_.end_pass();
}

void Drainer::take_new_clients() {
  for (Client* client = state_.take_new(); client; client = client->next_new_) live_.push_back(client);
}

contrafact_buffer* Drainer::swap(Client& client) {
  const Swapped swapped = swap_buffer(client, *pool_, state_);
  if (swapped.urge != Urge::none) wakeup_.wake();
  return swapped.buffer;
}

void Drainer::attached(Client& client) {
  state_.add(client);
}

void Drainer::detached(Client& client) {
  client.ended_.store(true, std::memory_order_release);
  if (state_.waiting.fetch_add(1, std::memory_order_relaxed) + 1 == kBuffersWorthAPass * 16) wakeup_.wake();
}

void Drainer::flush() {
  if (abandoned_.load(std::memory_order_relaxed)) return;
  std::unique_lock lock(mutex_);
  // The pass that is running may have passed the caller's thread already.
  const uint64_t wanted = passes_done_ + 2;
  while (passes_done_ < wanted && !joined_ && !state_.stopped.load(std::memory_order_relaxed)) {
    wakeup_.wake();
    passed_.wait_for(lock, std::chrono::milliseconds(5));
  }
}

void Drainer::stop(int64_t timeout_ms) {
  if (abandoned_.load(std::memory_order_relaxed)) return;
  stopping_.store(true, std::memory_order_release);
  wakeup_.wake();
  pthread_t thread;
  {
    std::lock_guard lock(mutex_);
    if (joined_) return;
    joined_ = true;
    thread = thread_;
  }
  if (timeout_ms <= 0) {
    pthread_join(thread, nullptr);
    return;
  }
  timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += timeout_ms / 1000;
  pthread_clockjoin_np(thread, nullptr, CLOCK_MONOTONIC, &until);
}

void Drainer::abandon() {
  state_.stopped.store(true, std::memory_order_relaxed);
  abandoned_.store(true, std::memory_order_relaxed);  // and no lock: its holder may not exist here
}

}  // namespace contrafact::deferred
