#include "deferred/forks.h"

#include <pthread.h>

#include <atomic>

#include "base/check.h"

namespace contrafact::deferred {
namespace {

constinit std::atomic<uint32_t> forks{0};

void in_child() {
  forks.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

uint32_t forks_before() {
  static const bool watched = pthread_atfork(nullptr, nullptr, in_child) == 0;
  CHECK(watched);
  return forks.load(std::memory_order_relaxed);
}

}  // namespace contrafact::deferred
