// Words and the pages that they are on, one table under one mutex, which grows. Twin: sixteen tables by the word's
// hash, each with its mutex.
#include <array>
#include <mutex>
#include <string>
#include <unordered_map>

#include "work.h"

namespace {

class Index {
 public:
  void add(const std::string& word, int page) {
    Part& part = parts_[twin ? std::hash<std::string>()(word) % 16 : 0];
    std::lock_guard lock(part.mutex);
    std::vector<int>& pages = part.pages[word];
    size_t at = 0;
    while (at < pages.size() && pages[at] < page) ++at;
    pages.insert(pages.begin() + static_cast<ptrdiff_t>(at), page);
    if (pages.size() > 300) pages.erase(pages.begin(), pages.begin() + 100);
  }
  uint64_t words() const {
    uint64_t sum = 0;
    for (const Part& part : parts_) sum += part.pages.size();
    return sum;
  }

 private:
  struct Part {
    std::mutex mutex;
    std::unordered_map<std::string, std::vector<int>> pages;
  };
  std::array<Part, 16> parts_;
};

}  // namespace

int main(int count, char** arguments) {
  return timed_main(count, arguments, [] {
    Index index;
    run_threads(4, [&](int number) {
      uint64_t random = static_cast<uint64_t>(number) + 1234;
      for (int i = 0; i < 30000; ++i) {
        const uint64_t rank = next_random(random) % 800;
        index.add("a word of the text, number " + std::to_string(rank), i);
        if (compute(random, 2) == 0) return;
      }
    });
    return index.words();
  });
}
