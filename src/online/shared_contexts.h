// SharedContexts: the calling-context tree's counts as a good engineer would share them between threads without
// deferred methods: to compare with. The nodes of all contexts are in a table that only gains entries: each is claimed
// by one compare-and-swap, and counts by relaxed additions. Nodes that no longer fit go into a map under a lock.
// Readers add the shards up.
//
// The layout is a contract with java/java/lang/ContrafactDirectContexts.java. A shard is Node[kPlaces]; the bits of a
// context are as good as random, so all but the lowest, which is always 1, serve as its place, or the next free one of
// kProbesMax.
//
// Memory: 96 MiB of address space a shard. Thread safety: all of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "online/context_table.h"
#include "online/shared_shards.h"

namespace contrafact::online {

class SharedContexts : public SharedShards {
 public:
  static constexpr int kPlaceBits = 21;
  static constexpr uint64_t kPlaces = uint64_t{1} << kPlaceBits;

  struct Node {
    std::atomic<uint64_t> context;  // 0: a free place
    std::atomic<uint64_t> parent;   // 0: only allocations were counted so far
    std::atomic<uint64_t> method;
    std::atomic<uint64_t> calls, objects, bytes;
  };
  static_assert(sizeof(Node) == 48, "ContrafactDirectContexts.java");
  struct Shard {
    Node nodes[kPlaces];
  };

  static base::Result<std::unique_ptr<SharedContexts>> create(unsigned shards);

  Shard& next_shard() { return *static_cast<Shard*>(next()); }
  void call(Shard& shard, uint64_t parent, uint64_t context, uint32_t method);
  void allocate(Shard& shard, uint64_t context, const Allocations& more);

  uint64_t events() const override;
  // Of all shards, in no order; a context may come several times. `on_node` takes a ContextNode.
  template <typename OnNode>
  void for_each(OnNode on_node) const {
    for (unsigned i = 0; i < shards(); ++i) {
      for (const Node& node : shard_at(i).nodes) {
        const uint64_t context = node.context.load();
        if (context == 0) continue;
        on_node(ContextNode{context, node.parent.load(), static_cast<uint32_t>(node.method.load()), node.calls.load(),
                            node.objects.load(), node.bytes.load()});
      }
    }
    std::lock_guard lock(mutex_);
    for (const auto& [context, node] : beyond_) on_node(node);
  }

 private:
  using SharedShards::SharedShards;
  const Shard& shard_at(unsigned i) const { return *static_cast<const Shard*>(address_of(i)); }

  mutable std::mutex mutex_;
  std::unordered_map<uint64_t, ContextNode> beyond_;
};

}  // namespace contrafact::online
