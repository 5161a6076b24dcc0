// The objects that the replayed threads share: locks of the C library, and parking places for threads that wait for
// another thread.
#pragma once

#include <pthread.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "replay/schedule.h"

namespace contrafact::replay {

// A lock of the same kind as the program's, acquired in the same way. Thread-safe.
class LiveLock {
 public:
  LiveLock() = default;
  LiveLock(const LiveLock&) = delete;
  LiveLock& operator=(const LiveLock&) = delete;
  void init(const ReplayLock& lock);

  void lock(bool shared);
  bool try_lock(bool shared);
  void unlock();

  // Under the recorded order: how many of its sections are over.
  std::atomic<uint32_t> over{0};
  // Under the deterministic order: the last turn (turns.h) at which an exclusive holder released it, and a shared one.
  // A thread that takes it as a reader does not wait for the latter.
  std::atomic<int64_t> given_up{-1}, given_up_shared{-1};

  void note(uint32_t section);  // an exclusive one, while it is held
  std::vector<uint32_t> order();

 private:
  enum class Kind : uint8_t { mutex, rwlock, spinlock, handed };
  Kind kind_ = Kind::mutex;
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_rwlock_t rwlock_ = PTHREAD_RWLOCK_INITIALIZER;
  pthread_spinlock_t spinlock_;
  std::atomic<uint32_t> taken_{0};  // Kind::handed: released by another thread than acquired it
  std::mutex order_mutex_;
  std::vector<uint32_t> order_;
};

// Where each thread sleeps until another one lets it go on. Thread-safe.
class Parking {
 public:
  explicit Parking(size_t threads) : places_(std::make_unique<Place[]>(threads)) {}
  void park(size_t thread) {
    places_[thread].go.wait(0, std::memory_order_acquire);
    places_[thread].go.store(0, std::memory_order_relaxed);
  }
  void let_go(size_t thread) {
    places_[thread].go.store(1, std::memory_order_release);
    places_[thread].go.notify_one();
  }

 private:
  struct alignas(64) Place {
    std::atomic<uint32_t> go{0};
  };
  std::unique_ptr<Place[]> places_;
};

// A count that threads wait for: signals of a condition, posts of a semaphore, the end of a task, the members of a
// round.
struct LiveCount {
  struct Waiter {
    uint32_t thread;
    uint32_t need;
  };
  std::mutex mutex;
  uint32_t count = 0;
  uint32_t comers = 0;
  std::vector<Waiter> waiting;  // in the order of their arrival
};

}  // namespace contrafact::replay
