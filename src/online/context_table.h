// ContextTable: the nodes of a calling-context tree by the number of their context, with what was counted in each. Open
// addressing; the bits of a context are as good as random, so they serve as its place.
//
// Not thread-safe. The tables of an analysis share one `Budget`: how many nodes all of them may still take.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

namespace contrafact::online {

struct ContextNode {
  uint64_t context = 0;  // 0: a free place
  uint64_t parent = 0;
  uint32_t method = 0;
  uint64_t calls = 0;
  uint64_t objects = 0;
  uint64_t bytes = 0;
};

using ContextBudget = std::atomic<int64_t>;

class ContextTable {
 public:
  // Null if it is new and the budget is used up.
  ContextNode* at(uint64_t context, ContextBudget& budget) {
    uint64_t place = context >> kUnusedBits & mask_;
    while (nodes_[place].context != context) {
      if (nodes_[place].context == 0) return add(context, budget);
      place = (place + 1) & mask_;
    }
    return &nodes_[place];
  }
  const ContextNode* find(uint64_t context) const {
    uint64_t place = context >> kUnusedBits & mask_;
    while (nodes_[place].context != context) {
      if (nodes_[place].context == 0) return nullptr;
      place = (place + 1) & mask_;
    }
    return &nodes_[place];
  }

  template <typename Each>
  void for_each(Each each) const {
    for (const ContextNode& node : nodes_) {
      if (node.context != 0) each(node);
    }
  }
  size_t size() const { return size_; }

 private:
  static constexpr size_t kPlacesMin = 256;
  static constexpr int kUnusedBits = 1;  // the lowest is always 1

  ContextNode* add(uint64_t context, ContextBudget& budget) {
    if (budget.fetch_sub(1, std::memory_order_relaxed) <= 0) {
      budget.fetch_add(1, std::memory_order_relaxed);
      return nullptr;
    }
    if ((size_ + 1) * 2 > nodes_.size()) grow();  // half of the places stay free, so that every search ends soon
    ++size_;
    ContextNode& node = nodes_[free_place_of(context)];
    node.context = context;
    return &node;
  }
  uint64_t free_place_of(uint64_t context) const {
    uint64_t place = context >> kUnusedBits & mask_;
    while (nodes_[place].context != 0) place = (place + 1) & mask_;
    return place;
  }
  void grow() {
    const std::vector<ContextNode> old = std::move(nodes_);
    nodes_.assign(old.size() * 2, ContextNode());
    mask_ = nodes_.size() - 1;
    for (const ContextNode& node : old) {
      if (node.context != 0) nodes_[free_place_of(node.context)] = node;
    }
  }

  std::vector<ContextNode> nodes_ = std::vector<ContextNode>(kPlacesMin);
  uint64_t mask_ = kPlacesMin - 1;
  size_t size_ = 0;
};

}  // namespace contrafact::online
