// A log whose every entry is sealed with the one before (a chain of hashes), by a wrapper that locks in its
// constructor: each section needs what the last one made. Nothing is to be changed. Twin: the same program.
#include <mutex>
#include <optional>
#include <string>

#include "work.h"

namespace {

class Chain {
 public:
  class Writer {
   public:
    explicit Writer(Chain& chain) : chain_(chain), lock_(chain.mutex_) {}
    void append(const std::string& entry) {
      uint64_t seal = chain_.seal_;
      for (int i = 0; i < 30; ++i) {
        for (const char each : entry) seal = (seal ^ static_cast<unsigned char>(each)) * 0x100000001b3;
      }
      chain_.seal_ = seal;
      ++chain_.entries_;
    }

   private:
    Chain& chain_;
    std::unique_lock<std::mutex> lock_;
  };
  uint64_t entries() const { return entries_ + (seal_ == 0); }

 private:
  std::mutex mutex_;
  uint64_t seal_ = 14695981039346656037u;
  uint64_t entries_ = 0;
};

}  // namespace

int main(int count, char** arguments) {
  return timed_main(count, arguments, [] {
    Chain chain;
    run_threads(4, [&](int number) {
      uint64_t random = static_cast<uint64_t>(number) + 77;
      for (int i = 0; i < 30000; ++i) {
        const std::string entry = "entry " + std::to_string(next_random(random));
        std::optional<Chain::Writer> writer(chain);
        writer->append(entry);
        writer.reset();
        if (compute(random, 3) == 0) return;
      }
    });
    return chain.entries();
  });
}
