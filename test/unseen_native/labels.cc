// A text that is copied when it is changed (std::shared_ptr<const std::string>); who reads it counts its words with the
// lock held. Twin: takes the pointer, and counts without the lock.
#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "work.h"

namespace {

class Label {
 public:
  size_t words() {
    std::unique_lock lock(mutex_);
    const std::shared_ptr<const std::string> text = text_;
    if (twin) lock.unlock();
    size_t words = 0;
    for (int i = 0; i < 4; ++i) {
      for (const char each : *text) words += each == ' ';
    }
    if (!twin) lock.unlock();
    return words / 4;
  }
  void append(char letter) {
    std::unique_lock lock(mutex_);
    auto changed = std::make_shared<std::string>(*text_);
    (*changed)[changed->size() / 2] = letter;
    text_ = std::move(changed);
  }

 private:
  std::mutex mutex_;
  std::shared_ptr<const std::string> text_ = std::make_shared<const std::string>(std::string(1500, 'a') + " b c d ");
};

}  // namespace

int main(int count, char** arguments) {
  return timed_main(count, arguments, [] {
    Label label;
    std::atomic<uint64_t> sum = 0;
    run_threads(4, [&](int number) {
      uint64_t random = static_cast<uint64_t>(number) + 3, mine = 0;
      for (int i = 0; i < 50000; ++i) {
        mine += label.words();
        if (i % 100 == 0) label.append(static_cast<char>('a' + next_random(random) % 26));
        if (compute(random, 2) == 0) return;
      }
      sum += mine;
    });
    return sum.load();
  });
}
