// The ranges of a trace's access sets. A stretch of ranges that several sets share is stored once: sections that walk
// the same list or the same table touch nearly the same memory, so their sets differ little.
//
// How: a set is a list of chunks, and a chunk is a few consecutive ranges. The address of a range decides whether a
// chunk ends with it, so two sets that agree over a stretch of addresses also agree in its chunks. A long range is a
// chunk by itself: its neighbours may differ.
//
// Invariants: 1. equal ranges, added one after another, have equal lists; 2. a list that was added never changes.
// Not thread-safe while a list is added. Time to add a list: linear in its ranges. Memory: 16 bytes for each range of a
// new chunk, and about 12 for each chunk of a new list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <ranges>
#include <span>
#include <vector>

#include "format/access_set.h"

namespace contrafact::model {

using format::AccessRange;

class AccessRanges {
 public:
  // A part of the chunks of all lists.
  struct List {
    uint32_t begin = 0, end = 0;
    bool operator==(const List&) const = default;
  };

  // The ranges of a list, in their order. Valid until the next list is added.
  class View : public std::ranges::view_interface<View> {
   public:
    class Iterator {
     public:
      using value_type = AccessRange;
      using difference_type = std::ptrdiff_t;
      Iterator() = default;
      const AccessRange& operator*() const { return *at_; }
      const AccessRange* operator->() const { return at_; }
      Iterator& operator++() {
        if (++at_ == chunk_end_) ++chunk_, enter();
        return *this;
      }
      Iterator operator++(int) {
        Iterator before = *this;
        ++*this;
        return before;
      }
      bool operator==(const Iterator& other) const { return chunk_ == other.chunk_ && at_ == other.at_; }

     private:
      friend View;
      Iterator(const AccessRanges* all, const uint32_t* chunk, const uint32_t* last)
          : all_(all), chunk_(chunk), last_(last) {
        enter();
      }
      void enter() {
        at_ = chunk_end_ = nullptr;
        if (chunk_ == last_) return;
        const std::span<const AccessRange> ranges = all_->chunk(*chunk_);
        at_ = ranges.data();
        chunk_end_ = at_ + ranges.size();
      }
      const AccessRanges* all_ = nullptr;
      const uint32_t *chunk_ = nullptr, *last_ = nullptr;
      const AccessRange *at_ = nullptr, *chunk_end_ = nullptr;
    };

    View() = default;
    View(const AccessRanges& all, std::span<const uint32_t> chunks) : all_(&all), chunks_(chunks) {}
    Iterator begin() const { return {all_, chunks_.data(), chunks_.data() + chunks_.size()}; }
    Iterator end() const { return {all_, chunks_.data() + chunks_.size(), chunks_.data() + chunks_.size()}; }
    std::span<const uint32_t> chunks() const { return chunks_; }
    std::span<const AccessRange> chunk(size_t i) const { return all_->chunk(chunks_[i]); }

   private:
    const AccessRanges* all_ = nullptr;
    std::span<const uint32_t> chunks_;
  };

  // REQUIRES: there is room for as many; they are in canonical form.
  List add(std::span<const AccessRange> ranges);
  bool has_room_for(uint64_t ranges) const {
    return ranges_.size() + ranges <= UINT32_MAX && chunks_of_lists_.size() + ranges <= UINT32_MAX;
  }

  View of(List list) const { return {*this, chunks_of(list)}; }
  // The list's chunks, as numbers from 0 on, below chunk_count(). No chunk is empty.
  std::span<const uint32_t> chunks_of(List list) const {
    return std::span(chunks_of_lists_).subspan(list.begin, list.end - list.begin);
  }
  std::span<const AccessRange> chunk(uint32_t number) const {
    return std::span(ranges_).subspan(chunk_begin_[number], chunk_begin_[number + 1] - chunk_begin_[number]);
  }
  size_t chunk_count() const { return chunk_begin_.size() - 1; }
  size_t held() const { return ranges_.size(); }  // ranges
  uint64_t added() const { return added_; }       // ranges; how many there would be without sharing

 private:
  // Numbers by the hash of what they stand for, in open addressing.
  struct Table {
    std::vector<uint32_t> slots;
    size_t used = 0;
  };

  uint32_t add_chunk(std::span<const AccessRange> ranges);
  template <typename IsSame, typename HashOf>
  static uint32_t& slot_of(Table& table, uint64_t hash, IsSame is_same, HashOf hash_of);

  std::vector<AccessRange> ranges_;        // of one chunk after the other
  std::vector<uint32_t> chunk_begin_{0};   // by chunk, one more
  std::vector<uint32_t> chunks_of_lists_;  // of one list after the other
  std::vector<List> lists_;
  Table chunk_table_, list_table_;
  uint64_t added_ = 0;
};

}  // namespace contrafact::model
