// Words of log lines become numbers (interned strings): a table that finds a word's number or gives it the next one, a
// line's words at a time, under one mutex. Twin: looks for all words under a shared lock; if some are new, it locks
// alone, looks again and puts them in.
#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "work.h"

namespace {

constexpr uint32_t kUnknown = ~0u;
constexpr int kThreads = 4, kLines = 11'000, kWords = 160;

class Symbols {
 public:
  void intern(const std::vector<std::string_view>& words, std::vector<uint32_t>& numbers) {
    numbers.assign(words.size(), kUnknown);
    if (!twin) {
      const std::lock_guard lock(mutex_);
      find(words, numbers);
      add(words, numbers);
      return;
    }
    {
      const std::shared_lock lock(shared_mutex_);
      if (find(words, numbers)) return;
    }
    const std::lock_guard lock(shared_mutex_);
    add(words, numbers);
  }
  size_t size() const { return texts_.size(); }

 private:
  bool find(const std::vector<std::string_view>& words, std::vector<uint32_t>& numbers) const {
    bool all = true;
    for (size_t i = 0; i < words.size(); ++i) {
      const auto found = numbers_.find(words[i]);
      if (found != numbers_.end())
        numbers[i] = found->second;
      else
        all = false;
    }
    return all;
  }
  void add(const std::vector<std::string_view>& words, std::vector<uint32_t>& numbers) {
    for (size_t i = 0; i < words.size(); ++i) {
      if (numbers[i] != kUnknown) continue;
      const auto found = numbers_.find(words[i]);
      if (found != numbers_.end()) {
        numbers[i] = found->second;
        continue;
      }
      numbers[i] = static_cast<uint32_t>(texts_.size());
      texts_.emplace_back(words[i]);
      numbers_.emplace(texts_.back(), numbers[i]);
    }
  }

  std::mutex mutex_;
  std::shared_mutex shared_mutex_;
  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, uint32_t> numbers_;
};

std::vector<std::string> vocabulary() {
  std::vector<std::string> words;
  uint64_t random = 99;
  for (int i = 0; i < 3000; ++i) {
    std::string word;
    for (uint64_t n = 4 + next_random(random) % 9; n > 0; --n)
      word += static_cast<char>('a' + next_random(random) % 26);
    words.push_back(word + std::to_string(i));
  }
  return words;
}

void write_line(std::string& line, const std::vector<std::string>& known, uint64_t& random, int thread, int number) {
  line.clear();
  for (int i = 0; i < kWords; ++i) {
    const uint64_t a = next_random(random) % known.size(), b = next_random(random) % known.size();
    line += known[std::min(a, b)];
    line += ' ';
  }
  if (number % 16 == 9) line += "session-" + std::to_string(thread) + '-' + std::to_string(number);
}

void split(const std::string& line, std::vector<std::string_view>& words) {
  words.clear();
  const std::string_view text = line;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    if (end > at) words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
}

}  // namespace

int main(int count, char** arguments) {
  return timed_main(count, arguments, [] {
    const std::vector<std::string> known = vocabulary();
    Symbols symbols;
    std::atomic<uint64_t> words_seen = 0;
    run_threads(kThreads, [&](int thread) {
      uint64_t random = 77 + static_cast<uint64_t>(thread), mine = 0;
      std::string line;
      std::vector<std::string_view> words;
      std::vector<uint32_t> numbers;
      for (int i = 0; i < kLines; ++i) {
        write_line(line, known, random, thread, i);
        split(line, words);
        symbols.intern(words, numbers);
        for (const uint32_t number : numbers) mine += number != kUnknown;
      }
      words_seen += mine;
    });
    return words_seen.load() + symbols.size();
  });
}
