#include "deferred/processors.h"

#include <atomic>
#include <string>
#include <vector>

#include "base/clock.h"
#include "deferred/background_thread.h"
#include "deferred/buffer_queue.h"
#include "deferred/hand_over_costs.h"

namespace contrafact::deferred {
namespace {

constexpr uint32_t kConsumersMax = 1024;

class Synchronous final : public Processor {
 public:
  void process(FilledBuffer buffer) override { buffer.run(); }
  bool in_place() const override { return true; }
};

// A queue and the threads that empty it. Threads sleep on counters of changes, read before they look: no change in
// between is missed.
class Queued : public Processor {
 public:
  Queued(const char* name, uint32_t room) : queue_(room), name_(name) {}

  base::Status start(uint32_t consumers) {
    for (uint32_t i = 0; i < consumers; ++i) {
      pthread_t thread;
      if (base::Status started = start_background_thread(name_, thread_main, this, thread); !started) return started;
      threads_.push_back(thread);
    }
    return {};
  }

  bool help(const Client* producer) override {
    std::optional<FilledBuffer> buffer = producer ? queue_.pop_of(*producer) : queue_.pop();
    if (!buffer) return false;
    said_room();
    buffer->run();
    return true;
  }

  uint64_t consumers_cpu_ns() const override {
    uint64_t sum_ns = 0;
    for (const pthread_t thread : threads_) sum_ns += cpu_ns_of(thread);
    return sum_ns;
  }

 protected:
  // A subclass's destructor calls it: consumers use what the subclass overrides.
  void end_threads() {
    stopping_.store(true);
    said_ready_to_all();
    for (const pthread_t thread : threads_) pthread_join(thread, nullptr);
    threads_.clear();
  }
  void said_ready() {
    ready_.fetch_add(1);
    ready_.notify_one();
  }
  void said_room() {
    room_.fetch_add(1);
    room_.notify_one();
  }

  virtual void begin_consumer() {}
  virtual void consume(FilledBuffer buffer) = 0;

  BufferQueue queue_;
  std::atomic<uint32_t> room_{0};

 private:
  static void* thread_main(void* self) {
    static_cast<Queued*>(self)->consume_all();
    return nullptr;
  }
  void said_ready_to_all() {
    ready_.fetch_add(1);
    ready_.notify_all();
  }
  void consume_all() {
    begin_consumer();
    for (;;) {
      const uint32_t seen = ready_.load();
      if (std::optional<FilledBuffer> buffer = queue_.pop()) {
        said_room();
        consume(std::move(*buffer));
      } else if (stopping_.load()) {
        return;
      } else {
        ready_.wait(seen);
      }
    }
  }

  const char* name_;
  std::vector<pthread_t> threads_;
  std::atomic<uint32_t> ready_{0};
  std::atomic<bool> stopping_{false};
};

class Pool final : public Queued {
 public:
  explicit Pool(uint32_t room) : Queued("deferred pool", room) {}
  ~Pool() override { end_threads(); }

  void process(FilledBuffer buffer) override {
    for (;;) {
      const uint32_t seen = room_.load();
      if (queue_.push(buffer)) return said_ready();
      if (inside_a_deferred_method()) return buffer.run();
      room_.wait(seen);
    }
  }

 private:
  void consume(FilledBuffer buffer) override { buffer.run(); }
};

class Adaptive final : public Queued {
 public:
  explicit Adaptive(uint32_t room) : Queued("deferred idle", room) {}
  ~Adaptive() override { end_threads(); }

  // A consumer whose core was taken away may hold the lock for long: nobody waits for it.
  void process(FilledBuffer buffer) override {
    const uint32_t calls = buffer.calls();
    const int64_t begin_ns = base::monotonic_ns();
    if (costs_.pays(calls) && queue_.push_unless_locked(buffer)) {
      said_ready();
      costs_.handed_over(since(begin_ns));
    } else {
      buffer.run();
      costs_.ran(calls, since(begin_ns));
    }
  }

 private:
  static uint64_t since(int64_t begin_ns) { return static_cast<uint64_t>(base::monotonic_ns() - begin_ns); }

  void begin_consumer() override { lower_priority_to_idle(); }
  void consume(FilledBuffer buffer) override {
    const uint32_t calls = buffer.calls();
    const int64_t begin_ns = base::monotonic_ns();
    if (buffer.run_unless_awaited()) return costs_.ran(calls, since(begin_ns));
    Waiters waiters = buffer.waiters();
    queue_.put_back(std::move(buffer));
    waiters.nudge();
  }

  HandOverCosts costs_;
};

base::Status check(const char* what, uint32_t consumers, uint32_t queue) {
  if (queue == 0) return base::Error{std::string(what) + ": a queue of 0 buffers; give it room for 1 or more"};
  if (consumers >= 1 && consumers <= kConsumersMax) return {};
  return base::Error{std::string(what) + ": cannot work with " + std::to_string(consumers) +
                     " consumers; choose from 1 to " + std::to_string(kConsumersMax)};
}

template <typename Kind>
base::Result<std::unique_ptr<Processor>> start(const char* what, uint32_t consumers, uint32_t queue) {
  if (base::Status fine = check(what, consumers, queue); !fine) return fine.error();
  auto made = std::make_unique<Kind>(queue);
  if (base::Status started = made->start(consumers); !started) return started.error();
  return std::unique_ptr<Processor>(std::move(made));
}

}  // namespace

std::unique_ptr<Processor> synchronous() {
  return std::make_unique<Synchronous>();
}

base::Result<std::unique_ptr<Processor>> pool(const PoolOptions& options) {
  return start<Pool>("pool", options.consumers, options.queue);
}

base::Result<std::unique_ptr<Processor>> adaptive(const AdaptiveOptions& options) {
  return start<Adaptive>("adaptive", options.consumers ? options.consumers : usable_cores(), options.queue);
}

}  // namespace contrafact::deferred
