#include "graph/lock_cells.h"

#include <algorithm>

namespace contrafact::graph {

std::optional<LockCells> LockCells::make(const model::SectionSets& all, std::vector<uint32_t> sets, size_t uses_max) {
  LockCells made;
  made.sets_ = std::move(sets);
  std::vector<uint64_t>& addresses = made.addresses_;
  for (const uint32_t set : made.sets_) {
    for (const model::AccessRange& range : all.ranges_of(set)) {
      addresses.push_back(range.begin);
      addresses.push_back(range.end());
    }
  }
  std::sort(addresses.begin(), addresses.end());
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
  made.cell_count_ = addresses.empty() ? 0 : addresses.size() - 1;
  for (const uint32_t set : made.sets_) {
    made.begin_.push_back(made.uses_.size());
    for (const model::AccessRange& range : all.ranges_of(set)) {
      const AccessClass access = class_of(range.flags);
      const bool reads = (range.flags & format::kAccessRead) != 0 && access != AccessClass::updates;
      const bool writes = (range.flags & format::kAccessWrite) != 0 && !is_atomic(range.flags);
      const bool replaces = access == AccessClass::writes && (range.flags & format::kAccessRead) != 0;
      auto at = std::lower_bound(addresses.begin(), addresses.end(), range.begin);
      for (; *at < range.end(); ++at) {
        made.uses_.push_back({static_cast<uint32_t>(at - addresses.begin()), access, reads, writes, replaces});
      }
      if (made.uses_.size() > uses_max) return std::nullopt;
    }
  }
  made.begin_.push_back(made.uses_.size());
  return made;
}

std::span<const CellUse> LockCells::of(uint32_t set) const {
  const auto at = static_cast<size_t>(std::lower_bound(sets_.begin(), sets_.end(), set) - sets_.begin());
  return std::span(uses_).subspan(begin_[at], begin_[at + 1] - begin_[at]);
}

}  // namespace contrafact::graph
