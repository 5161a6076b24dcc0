// Lines are matched by one RE2 under a mutex, which RE2 does not need (re2.h: all methods of a const RE2 may be called
// by several threads). Twin: without.
#include <re2/re2.h>

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "work.h"

namespace {

struct Filter {
  std::mutex mutex;
  RE2 pattern{R"((\w+)@([a-z]+)\.(com|org|net) .* (GET|PUT) /([a-z/]+)\.html)"};
};

bool matches(const RE2& pattern, const std::string& line) {
  std::string user, path;
  return RE2::PartialMatch(line, pattern, &user, static_cast<void*>(nullptr), static_cast<void*>(nullptr),
                           static_cast<void*>(nullptr), &path) &&
         user.size() + path.size() > 8;
}

std::string line_of(uint64_t seed) {
  std::string line = "[12:00] user" + std::to_string(seed % 1000) + (seed % 3 == 0 ? "@example.com " : "@example.de ") +
                     "some words before what was asked ";
  return line + (seed % 2 == 0 ? "GET " : "HEAD ") + "/folder/page.html";
}

uint64_t matches_of(Filter& filter, const std::vector<std::string>& lines) {
  std::unique_lock lock(filter.mutex, std::defer_lock);
  if (!twin) lock.lock();
  uint64_t found = 0;
  for (const std::string& line : lines) found += matches(filter.pattern, line) ? 1 : 0;
  return found;
}

}  // namespace

int main(int count, char** arguments) {
  return timed_main(count, arguments, [] {
    Filter filter;
    std::atomic<uint64_t> sum = 0;
    run_threads(4, [&](int number) {
      uint64_t random = static_cast<uint64_t>(number) + 5;
      for (int i = 0; i < 6000; ++i) {
        std::vector<std::string> lines;
        for (int j = 0; j < 12; ++j) lines.push_back(line_of(next_random(random)));
        sum += matches_of(filter, lines);
      }
    });
    return sum.load();
  });
}
