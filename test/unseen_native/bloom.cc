// A Bloom filter of the addresses that crawlers find in pages: an address sets six bits, under a mutex. Twin: sets each
// by an atomic "or".
#include <atomic>
#include <bit>
#include <mutex>
#include <string>
#include <string_view>

#include "work.h"

namespace {

constexpr int kThreads = 3, kPages = 2100, kLinks = 250, kHashes = 6;

class Filter {
 public:
  void add(uint64_t hash) {
    if (twin) {
      for (int i = 0; i < kHashes; ++i) {
        const uint64_t bit = bit_of(hash, i);
        std::atomic_ref(words_[bit / 64]).fetch_or(uint64_t{1} << bit % 64, std::memory_order_relaxed);
      }
      return;
    }
    const std::lock_guard lock(mutex_);
    for (int i = 0; i < kHashes; ++i) {
      const uint64_t bit = bit_of(hash, i);
      words_[bit / 64] |= uint64_t{1} << bit % 64;
    }
  }
  uint64_t bits() const {
    uint64_t sum = 0;
    for (const uint64_t word : words_) sum += static_cast<uint64_t>(std::popcount(word));
    return sum;
  }

 private:
  static constexpr uint64_t kBits = 1 << 21;
  static uint64_t bit_of(uint64_t hash, int i) {
    return ((hash & 0xffffffff) + static_cast<uint64_t>(i) * (hash >> 32 | 1)) % kBits;
  }
  std::mutex mutex_;
  std::vector<uint64_t> words_ = std::vector<uint64_t>(kBits / 64);
};

// Without its scheme, in lower case, without what follows '#'.
uint64_t hash_of(std::string_view address) {
  uint64_t hash = 14695981039346656037u;
  for (size_t i = address.find("//") + 2; i < address.size() && address[i] != '#'; ++i) {
    const char c = address[i] >= 'A' && address[i] <= 'Z' ? static_cast<char>(address[i] + 32) : address[i];
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  hash ^= hash >> 31;
  return hash * 0x9e3779b97f4a7c15;
}

std::string page_of(uint64_t& random) {
  std::string page = "<html><body>";
  for (int i = 0; i < kLinks; ++i) {
    page += "<p>Here is <em>more</em> of it, as of <b>" + std::to_string(next_random(random) % 31) + " May</b>: ";
    page += "<a class=link href=\"https://Host" + std::to_string(random % 90) + "/Page/" + std::to_string(random % 719);
    page += "#top\">this page</a> &amp; others</p>\n";
  }
  return page;
}

void crawl(Filter& filter, const std::string& page) {
  const std::string_view text = page;
  for (size_t at = text.find("href=\""); at != text.npos; at = text.find("href=\"", at)) {
    at += 6;
    const size_t end = text.find('"', at);
    filter.add(hash_of(text.substr(at, end - at)));
    at = end;
  }
}

}  // namespace

int main(int count, char** arguments) {
  return timed_main(count, arguments, [] {
    Filter filter;
    run_threads(kThreads, [&](int thread) {
      uint64_t random = static_cast<uint64_t>(thread) + 8;
      for (int i = 0; i < kPages; ++i) crawl(filter, page_of(random));
    });
    return filter.bits();
  });
}
