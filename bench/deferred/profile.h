// The profiler of the benchmark: for each method allocated objects and their bytes, and how often each caller calls
// each callee. EdgeCounts is what a good engineer would share between threads without deferring: an open-addressing
// table that only grows in entries, claimed by one compare-and-swap each, counted by relaxed additions, no lock. What
// finds no place is counted as such, so that the check of the sum fails and nothing is searched for ever.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace bench {

constexpr uint32_t kMethods = 512;

inline uint64_t edge_of(uint32_t caller, uint32_t callee) {
  return (uint64_t{caller} << 32 | callee) + 1;
}
inline uint64_t hash_of(uint64_t edge) {
  return edge * 0x9e3779b97f4a7c15u;
}

class EdgeCounts {
 public:
  void add(uint64_t edge, uint64_t n) {
    uint64_t place = hash_of(edge) >> (64 - kBits);
    for (uint64_t searched = 0; searched < kPlaces; ++searched, place = (place + 1) & (kPlaces - 1)) {
      Entry& entry = entries_[place];
      uint64_t found = entry.edge.load(std::memory_order_relaxed);
      if (found == 0 && entry.edge.compare_exchange_strong(found, edge, std::memory_order_relaxed)) found = edge;
      if (found == edge) {
        entry.count.fetch_add(n, std::memory_order_relaxed);
        return;
      }
    }
    without_place_.fetch_add(n, std::memory_order_relaxed);
  }
  uint64_t without_place() const { return without_place_; }
  uint64_t sum() const {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < kPlaces; ++i) sum += entries_[i].count.load(std::memory_order_relaxed);
    return sum;
  }

 private:
  static constexpr int kBits = 19;  // twice as many places as there can be edges
  static constexpr uint64_t kPlaces = uint64_t{1} << kBits;
  static_assert(kPlaces >= uint64_t{2} * kMethods * kMethods, "long searches");
  struct Entry {
    std::atomic<uint64_t> edge{0}, count{0};
  };
  std::unique_ptr<Entry[]> entries_ = std::make_unique<Entry[]>(kPlaces);
  std::atomic<uint64_t> without_place_{0};
};

struct SharedProfile {
  struct Method {
    std::atomic<uint64_t> objects{0}, bytes{0};
  };
  void call(uint32_t caller, uint32_t callee) { edges.add(edge_of(caller, callee), 1); }
  void allocate(uint32_t method, uint64_t bytes) {
    methods[method].objects.fetch_add(1, std::memory_order_relaxed);
    methods[method].bytes.fetch_add(bytes, std::memory_order_relaxed);
  }
  uint64_t objects() const {
    uint64_t sum = 0;
    for (const Method& method : methods) sum += method.objects.load();
    return sum;
  }
  EdgeCounts edges;
  std::vector<Method> methods = std::vector<Method>(kMethods);
};

// Gathers one buffer's calls and merges them.
class CoalescingProfile {
 public:
  explicit CoalescingProfile(SharedProfile& shared) : shared_(shared) {}
  void before_processing() {}
  void call(uint32_t caller, uint32_t callee) {
    const uint64_t edge = edge_of(caller, callee);
    uint64_t place = hash_of(edge) >> shift_;
    while (edges_[place].edge != edge) {
      if (edges_[place].edge == 0) {
        if (used_.size() * 2 >= edges_.size()) return grow_and_call(caller, callee);
        edges_[place].edge = edge;
        used_.push_back(static_cast<uint32_t>(place));
        break;
      }
      place = (place + 1) & (edges_.size() - 1);
    }
    ++edges_[place].count;
  }
  void allocate(uint32_t method, uint64_t bytes) {
    Method& own = methods_[method];
    if (own.objects++ == 0) allocated_.push_back(method);
    own.bytes += bytes;
  }
  void after_processing() {
    for (const uint32_t place : used_) {
      shared_.edges.add(edges_[place].edge, edges_[place].count);
      edges_[place] = {};
    }
    for (const uint32_t method : allocated_) {
      shared_.methods[method].objects.fetch_add(methods_[method].objects, std::memory_order_relaxed);
      shared_.methods[method].bytes.fetch_add(methods_[method].bytes, std::memory_order_relaxed);
      methods_[method] = {};
    }
    used_.clear();
    allocated_.clear();
  }

 private:
  struct Entry {
    uint64_t edge = 0, count = 0;
  };
  struct Method {
    uint64_t objects = 0, bytes = 0;
  };
  void grow_and_call(uint32_t caller, uint32_t callee) {
    std::vector<Entry> old(edges_.size() * 2);
    old.swap(edges_);
    --shift_;
    for (uint32_t& used : used_) {
      const Entry entry = old[used];
      uint64_t place = hash_of(entry.edge) >> shift_;
      while (edges_[place].edge != 0) place = (place + 1) & (edges_.size() - 1);
      edges_[place] = entry;
      used = static_cast<uint32_t>(place);
    }
    call(caller, callee);
  }

  SharedProfile& shared_;
  int shift_ = 64 - 10;
  std::vector<Entry> edges_ = std::vector<Entry>(1 << 10);
  std::vector<uint32_t> used_;
  std::vector<Method> methods_ = std::vector<Method>(kMethods);
  std::vector<uint32_t> allocated_;
};

}  // namespace bench
