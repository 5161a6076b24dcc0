// The addresses that the sections of one lock touch, cut into cells: each set of ranges covers a cell wholly or not.
// Immutable once built. Cost: a sort of the ends of the sets' ranges, and the cells that each set covers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "graph/section_conflicts.h"

namespace contrafact::graph {

struct CellUse {
  uint32_t cell;
  AccessClass access;
  bool reads;     // and uses the value, if only to compute a new one otherwise than commutatively
  bool writes;    // at all, but atomically: changing the value, commutatively, or silently
  bool replaces;  // reads it, and changes it otherwise than commutatively
};

class LockCells {
 public:
  // `sets`: numbers of the section sets in use, each once, ascending. Nothing if the sets together cover more than
  // `uses_max` cells.
  static std::optional<LockCells> make(const model::SectionSets& all, std::vector<uint32_t> sets, size_t uses_max);

  size_t cell_count() const { return cell_count_; }
  // The cells of a set, ascending. REQUIRES: it is one of those given to make().
  std::span<const CellUse> of(uint32_t set) const;
  std::span<const uint32_t> sets() const { return sets_; }
  // Where cell begins.
  uint64_t address(uint32_t cell) const { return addresses_[cell]; }
  uint64_t end_address(uint32_t cell) const { return addresses_[cell + 1]; }

 private:
  std::vector<uint32_t> sets_;
  std::vector<size_t> begin_;  // by position in `sets_`, one more
  std::vector<CellUse> uses_;
  std::vector<uint64_t> addresses_;
  size_t cell_count_ = 0;
};

inline constexpr size_t kCellUsesMax = size_t{32} << 20;  // 256 MiB of CellUse

}  // namespace contrafact::graph
