#include "graph/lock_cells.h"

#include <algorithm>

namespace contrafact::graph {

std::optional<LockCells> LockCells::make(const model::SectionSets& all, std::vector<uint32_t> sets, uint64_t uses_max) {
  LockCells made;
  made.sets_ = std::move(sets);
  const std::vector<uint32_t> chunks = made.number_chunks(all);
  std::vector<uint64_t>& addresses = made.addresses_;
  for (const uint32_t chunk : chunks) {
    for (const model::AccessRange& range : all.ranges.chunk(chunk)) {
      addresses.push_back(range.begin);
      addresses.push_back(range.end());
    }
  }
  std::sort(addresses.begin(), addresses.end());
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
  made.cell_count_ = addresses.empty() ? 0 : addresses.size() - 1;
  std::vector<uint64_t> cells_of_chunk;
  for (const uint32_t chunk : chunks) {
    made.run_begin_.push_back(static_cast<uint32_t>(made.runs_.size()));
    uint64_t& cells = cells_of_chunk.emplace_back(0);
    auto at = addresses.begin();
    for (const model::AccessRange& range : all.ranges.chunk(chunk)) {
      const AccessClass access = class_of(range.flags);
      const bool updates = (range.flags & format::kAccessCommutative) != 0 && !is_atomic(range.flags);
      const bool reads = (range.flags & format::kAccessRead) != 0 && !updates;
      const bool writes = (range.flags & format::kAccessWrite) != 0 && !is_atomic(range.flags);
      const bool replaces = access == AccessClass::writes && (range.flags & format::kAccessRead) != 0;
      at = std::lower_bound(at, addresses.end(), range.begin);
      const auto cell = static_cast<uint32_t>(at - addresses.begin());
      at = std::lower_bound(at, addresses.end(), range.end());
      const auto end = static_cast<uint32_t>(at - addresses.begin());
      made.runs_.push_back({{cell, access, updates, reads, writes, replaces}, end});
      cells += end - cell;
    }
  }
  made.run_begin_.push_back(static_cast<uint32_t>(made.runs_.size()));
  for (const uint32_t chunk : made.chunks_) {
    made.use_count_ += cells_of_chunk[chunk];
    if (made.use_count_ > uses_max) return std::nullopt;
  }
  made.is_ordered_.assign(made.cell_count_, false);
  for (const Run& run : made.runs_) {
    if (run.first.access == AccessClass::reads) continue;
    for (uint32_t cell = run.first.cell; cell < run.end; ++cell) made.is_ordered_[cell] = true;
  }
  return made;
}

// Lists the chunks of the sets, in numbers of our own; returns which chunk each number stands for. The cost depends on
// the chunks of these sets only, not on how many chunks there are in all.
std::vector<uint32_t> LockCells::number_chunks(const model::SectionSets& all) {
  for (const uint32_t set : sets_) {
    begin_.push_back(chunks_.size());
    const std::span<const uint32_t> of_set = all.ranges_of(set).chunks();
    chunks_.insert(chunks_.end(), of_set.begin(), of_set.end());
  }
  begin_.push_back(chunks_.size());
  constexpr size_t kMuchLess = 16;
  std::vector<uint32_t> used;
  if (chunks_.size() < all.ranges.chunk_count() / kMuchLess) {
    used = chunks_;
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    for (uint32_t& chunk : chunks_)
      chunk = static_cast<uint32_t>(std::lower_bound(used.begin(), used.end(), chunk) - used.begin());
    return used;
  }
  constexpr uint32_t kNone = UINT32_MAX;
  std::vector<uint32_t> number(all.ranges.chunk_count(), kNone);
  for (uint32_t& chunk : chunks_) {
    if (number[chunk] == kNone) {
      number[chunk] = static_cast<uint32_t>(used.size());
      used.push_back(chunk);
    }
    chunk = number[chunk];
  }
  return used;
}

LockCells::Uses LockCells::of(uint32_t set) const {
  const auto at = static_cast<size_t>(std::lower_bound(sets_.begin(), sets_.end(), set) - sets_.begin());
  return {this, std::span(chunks_).subspan(begin_[at], begin_[at + 1] - begin_[at])};
}

}  // namespace contrafact::graph
