// A dictionary behind a wrapper of the program's own, which hands its contents to a function while it holds the lock;
// one look-up in 200 is a correction instead. Twin: look-ups share the lock.
#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>

#include "work.h"

namespace {

template <typename Value>
class Locked {
 public:
  template <typename Use>
  auto change(Use use) {
    std::unique_lock lock(mutex_);
    return use(value_);
  }
  template <typename Use>
  auto look(Use use) {
    if (!twin) return change([&](Value& value) { return use(const_cast<const Value&>(value)); });
    std::shared_lock lock(mutex_);
    return use(const_cast<const Value&>(value_));
  }

 private:
  std::shared_mutex mutex_;
  Value value_;
};

using Words = std::unordered_map<std::string, std::string>;

std::string key_of(uint64_t number) {
  return "a word of the dictionary " + std::to_string(number);
}

// A sentence, word by word.
size_t translate(Locked<Words>& words, uint64_t seed) {
  const std::string translated = words.look([&](const Words& known) {
    std::string sentence;
    for (int i = 0; i < 24; ++i) {
      const auto found = known.find(key_of(next_random(seed) % 3000));
      if (found != known.end()) sentence += found->second + ' ';
    }
    return sentence;
  });
  return translated.size();
}

void correct(Locked<Words>& words, uint64_t number) {
  words.change([&](Words& known) {
    std::string& word = known[key_of(number % 3000)];
    word[word.size() / 2] = static_cast<char>('a' + number % 26);
    return 0;
  });
}

}  // namespace

int main(int count, char** arguments) {
  return timed_main(count, arguments, [] {
    Locked<Words> words;
    for (uint64_t i = 0; i < 3000; ++i)
      words.change([&](Words& known) { return known[key_of(i)] = "ein Wort im Wortschatz " + std::to_string(i), 0; });
    std::atomic<uint64_t> sum = 0;
    run_threads(3, [&](int number) {
      uint64_t random = static_cast<uint64_t>(number) + 5;
      uint64_t mine = 0;
      for (int i = 0; i < 40000; ++i) {
        if (i % 200 == 7) {
          correct(words, next_random(random));
        } else {
          mine += translate(words, next_random(random));
        }
        if (compute(random, 3) == 0) return;
      }
      sum += mine;
    });
    return sum.load();
  });
}
