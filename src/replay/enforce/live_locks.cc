#include "replay/enforce/live_locks.h"

namespace contrafact::replay {

void LiveLock::init(const ReplayLock& lock) {
  pthread_spin_init(&spinlock_, PTHREAD_PROCESS_PRIVATE);
  if (lock.given_by_others) {
    kind_ = Kind::handed;
  } else if (lock.kind == ReplayLockKind::rwlock) {
    kind_ = Kind::rwlock;
  } else if (lock.kind == ReplayLockKind::spinlock) {
    kind_ = Kind::spinlock;
  }
}

void LiveLock::lock(bool shared) {
  switch (kind_) {
    case Kind::mutex:
      pthread_mutex_lock(&mutex_);
      break;
    case Kind::rwlock:
      shared ? pthread_rwlock_rdlock(&rwlock_) : pthread_rwlock_wrlock(&rwlock_);
      break;
    case Kind::spinlock:
      pthread_spin_lock(&spinlock_);
      break;
    case Kind::handed:
      while (taken_.exchange(1, std::memory_order_acquire) != 0) taken_.wait(1, std::memory_order_relaxed);
      break;
  }
}

bool LiveLock::try_lock(bool shared) {
  switch (kind_) {
    case Kind::mutex:
      return pthread_mutex_trylock(&mutex_) == 0;
    case Kind::rwlock:
      return (shared ? pthread_rwlock_tryrdlock(&rwlock_) : pthread_rwlock_trywrlock(&rwlock_)) == 0;
    case Kind::spinlock:
      return pthread_spin_trylock(&spinlock_) == 0;
    case Kind::handed:
      break;
  }
  return taken_.exchange(1, std::memory_order_acquire) == 0;
}

void LiveLock::unlock() {
  switch (kind_) {
    case Kind::mutex:
      pthread_mutex_unlock(&mutex_);
      break;
    case Kind::rwlock:
      pthread_rwlock_unlock(&rwlock_);
      break;
    case Kind::spinlock:
      pthread_spin_unlock(&spinlock_);
      break;
    case Kind::handed:
      taken_.store(0, std::memory_order_release);
      taken_.notify_one();
      break;
  }
}

void LiveLock::note(uint32_t section) {
  std::lock_guard guard(order_mutex_);
  order_.push_back(section);
}

std::vector<uint32_t> LiveLock::order() {
  std::lock_guard guard(order_mutex_);
  return order_;
}

}  // namespace contrafact::replay
