// Memory that is handed out from one large block, from its front to its end, under a mutex; a request takes many small
// pieces. Twin: by an atomic addition.
#include <atomic>
#include <memory>
#include <mutex>

#include "work.h"

namespace {

class Arena {
 public:
  explicit Arena(size_t bytes) : memory_(new char[bytes]), bytes_(bytes) {}
  char* take(size_t bytes) {
    if (twin) return memory_.get() + used_atomically_.fetch_add(bytes, std::memory_order_relaxed) % (bytes_ / 2);
    const std::lock_guard lock(mutex_);
    const size_t at = used_;
    used_ += bytes;
    return memory_.get() + at % (bytes_ / 2);
  }
  size_t used() const { return twin ? used_atomically_.load() : used_; }

 private:
  std::mutex mutex_;
  const std::unique_ptr<char[]> memory_;
  const size_t bytes_;
  size_t used_ = 0;
  std::atomic<size_t> used_atomically_ = 0;
};

}  // namespace

int main(int count, char** arguments) {
  return timed_main(count, arguments, [] {
    Arena arena(8 << 20);
    run_threads(4, [&](int number) {
      uint64_t random = static_cast<uint64_t>(number) + 12;
      for (int i = 0; i < 400000; ++i) {
        const size_t bytes = 16 + next_random(random) % 48;
        memset(arena.take(bytes), number, bytes);
      }
    });
    return arena.used();
  });
}
