#include "deferred/drainer.h"

#include <algorithm>
#include <exception>
#include <string>

#include "deferred/background_thread.h"

namespace contrafact::deferred {
namespace {

// Full buffers that wake the drainer before its time. A busy thread fills one in about 0.2 ms.
constexpr uint32_t kWakeAt = 8;

// A buffer that lasted less than two passes was too small, one that lasted over 32 is larger than it need be.
constexpr uint64_t kGrowPasses = 2;
constexpr uint64_t kShrinkPasses = 32;

}  // namespace

base::Result<std::unique_ptr<Drainer>> Drainer::start(const Options& options, Consumer& consumer) {
  auto pool =
      BufferPool::create(options.layout, {.capacities = kCapacities, .memory_bytes_max = options.memory_bytes_max});
  if (!pool) return pool.error();
  std::unique_ptr<Drainer> drainer(new Drainer(std::move(*pool), options, consumer));
  if (base::Status started = drainer->start_thread(options.thread_name); !started) return started.error();
  return drainer;
}

Drainer::Drainer(std::unique_ptr<BufferPool> pool, const Options& options, Consumer& consumer)
    : pool_(std::move(pool)),
      consumer_(consumer),
      interval_ns_(std::max(options.interval_ms, 1u) * int64_t{1'000'000}) {}

Drainer::~Drainer() {
  stop();
}

base::Status Drainer::start_thread(const char* name) {
  base::Status started = start_background_thread(name, thread_main, this, thread_);
  joined_ = !started;
  return started;
}

void* Drainer::thread_main(void* self) {
  static_cast<Drainer*>(self)->run();
  return nullptr;
}

void Drainer::run() {
  for (bool last = false; !last;) {
    wakeup_.sleep(interval_ns_);
    last = stopping_.load(std::memory_order_acquire);
    const bool healthy = guarded([&] { pass(last); });
    if (!healthy) stopped_.store(true, std::memory_order_relaxed);
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
  pass_.fetch_add(1, std::memory_order_relaxed);
  waiting_.store(0, std::memory_order_relaxed);
  if (last) stopped_.store(true, std::memory_order_relaxed);
  consumer_.begin_pass();
  take_new_clients();
  std::erase_if(live_, [&](Client* client) {
    // Read before anything is taken: then nothing can come after what is taken.
    const bool ended = client->ended_.load(std::memory_order_acquire);
    take(*client, last || ended);
    if (!ended) return false;
    if (client->head_ != &client->stub_) pool_->put(client->head_);
    clients_.recycle(client);
    return true;
  });
  consumer_.end_pass();
}

void Drainer::take_new_clients() {
  Client* client = new_clients_.exchange(nullptr, std::memory_order_acquire);
  for (; client; client = client->next_new_) live_.push_back(client);
}

void Drainer::take(Client& client, bool last) {
  while (take_buffer(client, *client.head_)) {
  }
  if (!last) return;
  // Calls that were lost with no later one to say so.
  const Buffer& buffer = *client.head_;
  const bool unsaid = !buffer.begun && !buffer.drained.load(std::memory_order_acquire);
  const uint32_t dropped = client.dropped_.exchange(0, std::memory_order_relaxed) + client.unsaid_dropped_ +
                           (unsaid ? buffer.header.dropped : 0);
  client.unsaid_dropped_ = 0;
  if (dropped == 0) return;
  std::array<uint32_t, kColumnsMax> cursor{};
  Batch batch{client.stream_, dropped, false, 0, nullptr, {}, cursor, client.memo_};
  consumer_.take(batch);
}

// False when the producer's current buffer has been reached and taken as far as it goes.
bool Drainer::take_buffer(Client& client, Buffer& buffer) {
  Buffer* next;
  if (buffer.drained.load(std::memory_order_acquire)) {
    next = buffer.next.load(std::memory_order_acquire);
  } else {
    next = buffer.next.load(std::memory_order_acquire);
    show(client, buffer, buffer.committed());
    if (!next && buffer.taken >= buffer.header.capacity && &buffer != &client.stub_) {
      buffer.begun = false;
      buffer.taken = 0;
      buffer.taken_cursor.fill(0);
      buffer.drained.store(true, std::memory_order_release);
    }
  }
  if (!next) return false;
  if (!buffer.begun && !buffer.drained.load(std::memory_order_relaxed)) client.unsaid_dropped_ += buffer.header.dropped;
  client.head_ = next;
  if (&buffer != &client.stub_) pool_->put(&buffer);
  return true;
}

void Drainer::show(Client& client, Buffer& buffer, uint32_t committed) {
  if (committed == buffer.taken) return;
  const bool begins = !buffer.begun;
  const uint32_t dropped = client.unsaid_dropped_ + (begins ? buffer.header.dropped : 0);
  client.unsaid_dropped_ = 0;
  Batch batch{client.stream_,
              dropped,
              begins,
              committed - buffer.taken,
              reinterpret_cast<const uint16_t*>(buffer.header.ids) + buffer.taken,
              {},
              buffer.taken_cursor,
              client.memo_};
  for (size_t i = 0; i < kColumnsMax; ++i) batch.column[i] = reinterpret_cast<const void*>(buffer.header.column[i]);
  consumer_.take(batch);
  buffer.begun = true;
  buffer.taken = committed;
}

contrafact_buffer* Drainer::swap(Client& client) {
  Buffer& old = *client.current_;
  const bool full = old.header.committed >= old.header.capacity;
  if (stopped_.load(std::memory_order_relaxed)) return full ? nullptr : &old.header;
  const uint64_t pass = pass_.load(std::memory_order_relaxed);
  const uint64_t lasted = pass - client.pass_of_current_;
  if (lasted < kGrowPasses && client.size_class_ + 1 < kCapacities.size()) ++client.size_class_;
  if (lasted > kShrinkPasses && client.size_class_ > 0 && old.header.capacity > 0) --client.size_class_;
  client.pass_of_current_ = pass;

  Buffer* fresh = pool_->take(client.size_class_);
  if (!fresh) {
    if (!full) return &old.header;
    wakeup_.wake();
    if (reuse(old)) return hand_out(client, old);
    client.dropped_.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  fresh->next.store(nullptr, std::memory_order_relaxed);
  fresh->drained.store(false, std::memory_order_relaxed);
  fresh->begun = false;
  fresh->taken = 0;
  fresh->taken_cursor.fill(0);
  hand_out(client, *fresh);
  client.current_ = fresh;
  old.next.store(fresh, std::memory_order_release);
  if (waiting_.fetch_add(1, std::memory_order_relaxed) + 1 == kWakeAt) wakeup_.wake();
  return &fresh->header;
}

// Whether the consumer has given the full buffer back to its producer.
bool Drainer::reuse(Buffer& buffer) {
  return buffer.drained.load(std::memory_order_acquire);
}

// Makes the buffer empty. The consumer does not look at it now: it is new, or drained.
contrafact_buffer* Drainer::hand_out(Client& client, Buffer& buffer) {
  contrafact_buffer& header = buffer.header;
  header.owner = reinterpret_cast<uint64_t>(&client);
  header.logical_thread = client.stream_;
  header.dropped = client.dropped_.exchange(0, std::memory_order_relaxed);
  std::fill_n(header.cursor, kColumnsMax, 0u);
  std::atomic_ref(header.committed).store(0, std::memory_order_relaxed);
  buffer.drained.store(false, std::memory_order_release);
  return &header;
}

void Drainer::attached(Client& client) {
  client.pass_of_current_ = pass_.load(std::memory_order_relaxed) - kGrowPasses;  // the first buffer is a small one
  Client* first = new_clients_.load(std::memory_order_relaxed);
  do {
    client.next_new_ = first;
  } while (!new_clients_.compare_exchange_weak(first, &client, std::memory_order_release, std::memory_order_relaxed));
}

void Drainer::detached(Client& client) {
  client.ended_.store(true, std::memory_order_release);
  if (waiting_.fetch_add(1, std::memory_order_relaxed) + 1 == kWakeAt * 16) wakeup_.wake();
}

void Drainer::flush() {
  if (abandoned_.load(std::memory_order_relaxed)) return;
  std::unique_lock lock(mutex_);
  // The pass that is running may have gone by the caller's thread already.
  const uint64_t wanted = passes_done_ + 2;
  while (passes_done_ < wanted && !joined_ && !stopped_.load(std::memory_order_relaxed)) {
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
  stopped_.store(true, std::memory_order_relaxed);
  abandoned_.store(true, std::memory_order_relaxed);  // and no lock: its holder may not exist here
}

}  // namespace contrafact::deferred
