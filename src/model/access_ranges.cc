#include "model/access_ranges.h"

#include <algorithm>

namespace contrafact::model {
namespace {

constexpr uint32_t kFree = UINT32_MAX;
constexpr size_t kChunkRanges = 16;  // in the mean, a power of 2: smaller ones share more, and make longer lists
constexpr size_t kChunkRangesMax = 8 * kChunkRanges;
constexpr uint32_t kLongBytes = 256;

constexpr uint64_t kOdd = 0x9e3779b97f4a7c15;
constexpr uint64_t mixed(uint64_t x) {
  x ^= x >> 32;
  x *= kOdd;
  return x ^ (x >> 29);
}

constexpr bool is_last_of_chunk(const AccessRange& range) {
  return range.length_bytes >= kLongBytes || mixed(range.begin) % kChunkRanges == 0;
}

uint64_t hash_of_ranges(std::span<const AccessRange> ranges) {
  uint64_t hash = ranges.size();
  for (const AccessRange& range : ranges) {
    hash = (hash ^ range.begin ^ uint64_t{range.length_bytes} << 38 ^ uint64_t{range.flags} << 58) * kOdd;
    hash ^= hash >> 32;
  }
  return hash;
}

uint64_t hash_of_chunks(std::span<const uint32_t> chunks) {
  uint64_t hash = chunks.size();
  for (const uint32_t chunk : chunks) hash = mixed(hash + chunk + 1);
  return hash;
}

}  // namespace

// The slot where the entry is, or may be put. The caller that puts an entry there counts it. At most half of the slots
// are in use.
template <typename IsSame, typename HashOf>
uint32_t& AccessRanges::slot_of(Table& table, uint64_t hash, IsSame is_same, HashOf hash_of) {
  constexpr size_t kSlotsMin = 64;
  const auto first_free = [&](uint64_t of) {
    size_t at = of & (table.slots.size() - 1);
    while (table.slots[at] != kFree) at = (at + 1) & (table.slots.size() - 1);
    return at;
  };
  if (2 * (table.used + 1) > table.slots.size()) {
    const std::vector<uint32_t> before = std::move(table.slots);
    table.slots.assign(std::max(kSlotsMin, 2 * before.size()), kFree);
    for (const uint32_t number : before) {
      if (number != kFree) table.slots[first_free(hash_of(number))] = number;
    }
  }
  size_t at = hash & (table.slots.size() - 1);
  while (table.slots[at] != kFree && !is_same(table.slots[at])) at = (at + 1) & (table.slots.size() - 1);
  return table.slots[at];
}

AccessRanges::List AccessRanges::add(std::span<const AccessRange> ranges) {
  if (ranges.empty()) return {};
  added_ += ranges.size();
  const auto list_begin = static_cast<uint32_t>(chunks_of_lists_.size());
  for (size_t begin = 0; begin < ranges.size();) {
    size_t end = begin + 1;
    while (end < ranges.size() && end - begin < kChunkRangesMax && !is_last_of_chunk(ranges[end - 1]) &&
           ranges[end].length_bytes < kLongBytes)
      ++end;
    chunks_of_lists_.push_back(add_chunk(ranges.subspan(begin, end - begin)));
    begin = end;
  }
  const List made{list_begin, static_cast<uint32_t>(chunks_of_lists_.size())};
  const auto is_same = [&](uint32_t list) { return std::ranges::equal(chunks_of(lists_[list]), chunks_of(made)); };
  const auto hash_of = [&](uint32_t list) { return hash_of_chunks(chunks_of(lists_[list])); };
  uint32_t& slot = slot_of(list_table_, hash_of_chunks(chunks_of(made)), is_same, hash_of);
  if (slot != kFree) {
    chunks_of_lists_.resize(list_begin);
    return lists_[slot];
  }
  slot = static_cast<uint32_t>(lists_.size());
  ++list_table_.used;
  lists_.push_back(made);
  return made;
}

uint32_t AccessRanges::add_chunk(std::span<const AccessRange> ranges) {
  const auto is_same = [&](uint32_t number) { return std::ranges::equal(chunk(number), ranges); };
  const auto hash_of = [&](uint32_t number) { return hash_of_ranges(chunk(number)); };
  uint32_t& slot = slot_of(chunk_table_, hash_of_ranges(ranges), is_same, hash_of);
  if (slot != kFree) return slot;
  slot = static_cast<uint32_t>(chunk_count());
  ++chunk_table_.used;
  ranges_.insert(ranges_.end(), ranges.begin(), ranges.end());
  chunk_begin_.push_back(static_cast<uint32_t>(ranges_.size()));
  return slot;
}

}  // namespace contrafact::model
