// The addresses that the sections of one lock touch, cut into cells: each set of ranges covers a cell wholly or not.
// Immutable once built. It stores which cells each range covers, so its memory grows with the different chunks of the
// sets' ranges (model/access_ranges.h), not with the sets. Cost: a sort of the ends of these ranges.
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <vector>

#include "graph/section_conflicts.h"

namespace contrafact::graph {

struct CellUse {
  uint32_t cell;
  AccessClass access;
  bool updates;   // commutatively, changing the value or not, and does nothing else to it
  bool reads;     // and uses the value, if only to compute a new one otherwise than commutatively
  bool writes;    // at all, but atomically: changing the value, commutatively, or silently
  bool replaces;  // reads it, and changes it otherwise than commutatively
};

class LockCells {
  // The cells of one range: from `first.cell` on.
  struct Run {
    CellUse first;
    uint32_t end;
  };

 public:
  // The cells of a set, ascending.
  class Uses {
   public:
    class Iterator {
     public:
      using value_type = CellUse;
      using difference_type = std::ptrdiff_t;
      const CellUse& operator*() const { return use_; }
      const CellUse* operator->() const { return &use_; }
      Iterator& operator++() {
        if (++use_.cell == run_->end) {
          ++run_ == chunk_end_ ? (++chunk_, enter()) : void(use_ = run_->first);
        }
        return *this;
      }
      void operator++(int) { ++*this; }
      bool operator==(std::default_sentinel_t) const { return chunk_ == last_; }

     private:
      friend Uses;
      Iterator(const LockCells* cells, const uint32_t* chunk, const uint32_t* last)
          : cells_(cells), chunk_(chunk), last_(last) {
        enter();
      }
      void enter() {
        if (chunk_ == last_) return;
        run_ = cells_->runs_.data() + cells_->run_begin_[*chunk_];
        chunk_end_ = cells_->runs_.data() + cells_->run_begin_[*chunk_ + 1];
        use_ = run_->first;
      }
      const LockCells* cells_;
      const uint32_t *chunk_, *last_;
      const Run *run_ = nullptr, *chunk_end_ = nullptr;
      CellUse use_ = {};
    };

    Uses(const LockCells* cells, std::span<const uint32_t> chunks) : cells_(cells), chunks_(chunks) {}
    Iterator begin() const { return {cells_, chunks_.data(), chunks_.data() + chunks_.size()}; }
    std::default_sentinel_t end() const { return {}; }
    bool empty() const { return chunks_.empty(); }

   private:
    const LockCells* cells_;
    std::span<const uint32_t> chunks_;
  };

  // `sets`: numbers of the section sets in use, each once, ascending. Nothing if the sets one by one cover more than
  // `uses_max` cells.
  static std::optional<LockCells> make(const model::SectionSets& all, std::vector<uint32_t> sets, uint64_t uses_max);

  size_t cell_count() const { return cell_count_; }
  // How many cells the sets one by one cover.
  uint64_t use_count() const { return use_count_; }
  // REQUIRES: `set` is one of those given to make().
  Uses of(uint32_t set) const;
  std::span<const uint32_t> sets() const { return sets_; }
  // True if some set does more than read the cell. Otherwise accesses to the cell need no order.
  bool is_ordered(uint32_t cell) const { return is_ordered_[cell]; }
  // The first address of the cell.
  uint64_t address(uint32_t cell) const { return addresses_[cell]; }
  uint64_t end_address(uint32_t cell) const { return addresses_[cell + 1]; }

 private:
  std::vector<uint32_t> number_chunks(const model::SectionSets& all);

  std::vector<uint32_t> sets_;
  std::vector<size_t> begin_;        // by position in `sets_`, one more: into `chunks_`
  std::vector<uint32_t> chunks_;     // of each set, in numbers of our own, from 0 on
  std::vector<uint32_t> run_begin_;  // by these, one more
  std::vector<Run> runs_;
  std::vector<uint64_t> addresses_;
  std::vector<bool> is_ordered_;  // by cell
  size_t cell_count_ = 0;
  uint64_t use_count_ = 0;
};

// This bounds the time, not the memory: a pass over all sections of a lock visits as many cells, about 2 ns for each.
inline constexpr uint64_t kCellUsesMax = uint64_t{1} << 30;

}  // namespace contrafact::graph
