#include "online/shared_contexts.h"

namespace contrafact::online {
namespace {

// Null if it is new and there is no room near its place.
SharedContexts::Node* node_at(SharedContexts::Shard& shard, uint64_t context) {
  uint64_t place = context >> 1 & (SharedContexts::kPlaces - 1);
  for (uint32_t i = 0; i < SharedContexts::kProbesMax; ++i, place = (place + 1) & (SharedContexts::kPlaces - 1)) {
    SharedContexts::Node& node = shard.nodes[place];
    uint64_t found = node.context.load(std::memory_order_relaxed);
    if (found == 0 && node.context.compare_exchange_strong(found, context, std::memory_order_relaxed)) found = context;
    if (found == context) return &node;
  }
  return nullptr;
}

}  // namespace

base::Result<std::unique_ptr<SharedContexts>> SharedContexts::create(unsigned shards) {
  base::Result<uint8_t*> region = reserve(shards, sizeof(Shard));
  if (!region) return region.error();
  return std::unique_ptr<SharedContexts>(new SharedContexts(*region, shards, sizeof(Shard)));
}

void SharedContexts::call(Shard& shard, uint64_t parent, uint64_t context, uint32_t method) {
  if (Node* node = node_at(shard, context)) {
    if (node->parent.load(std::memory_order_relaxed) == 0) {
      node->method.store(method, std::memory_order_relaxed);
      node->parent.store(parent, std::memory_order_relaxed);
    }
    node->calls.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  std::lock_guard lock(mutex_);
  ContextNode& node = beyond_[context];
  node.context = context, node.parent = parent, node.method = method;
  ++node.calls;
}

void SharedContexts::allocate(Shard& shard, uint64_t context, const Allocations& more) {
  if (Node* node = node_at(shard, context)) {
    node->objects.fetch_add(more.objects, std::memory_order_relaxed);
    node->bytes.fetch_add(more.bytes, std::memory_order_relaxed);
    return;
  }
  std::lock_guard lock(mutex_);
  ContextNode& node = beyond_[context];
  node.context = context;
  node.objects += more.objects;
  node.bytes += more.bytes;
}

uint64_t SharedContexts::events() const {
  uint64_t events = 0;
  for_each([&](const ContextNode& node) { events += node.calls + node.objects; });
  return events;
}

}  // namespace contrafact::online
