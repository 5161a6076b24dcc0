// RegionTable: which addresses hold what kind of code, as intervals that are in order and do not overlap.
//
// Thread safety: none. Allocates nothing.
#pragma once

#include <cstddef>
#include <cstdint>

namespace contrafact::translate {

enum class CodeKind : uint8_t {
  none,       // unknown, or neither executable nor constant
  constant,   // a file's, that nobody may write: constants, and the linkage tables that the loader has sealed
  program,    // translated and logged
  runtime,    // the same, but its thread-local variables are not the program's: libcontrafact_accesses
  unlogged,   // translated, but its accesses are of no interest: the loader's
  native,     // the translator's owner's: called natively, may return into the cache
  generated,  // runs natively
};

inline bool is_code(CodeKind kind) {
  return kind == CodeKind::program || kind == CodeKind::runtime || kind == CodeKind::unlogged ||
         kind == CodeKind::native;
}

// What the program did to it after it was mapped.
enum class CodeState : uint8_t {
  as_mapped = 0,
  reprotected,  // may be written, or no longer run, until the file's own protection is restored
  replaced,     // unmapped, or other memory lies there
};

// Without initialisers, because its tables have none: most of their memory is never touched.
struct Region {
  uint64_t begin, end;
  CodeKind kind;
  CodeState state;  // as_mapped where it is left out

  bool says_something() const { return kind != CodeKind::none || state != CodeState::as_mapped; }
};

class RegionTable {
 public:
  static constexpr size_t kRegionsMax = 4096;

  RegionTable() = default;
  RegionTable(const RegionTable& other) { *this = other; }
  RegionTable& operator=(const RegionTable& other);

  // Null if nothing is known of the address.
  const Region* find(uint64_t address) const;
  // Whether anything is known of [begin, end).
  bool knows_any(uint64_t begin, uint64_t end) const;
  // Calls change(Region&) for each piece of [begin, end), which may change kind and state; for the gaps between them
  // only if `offers_gaps`, with nothing known of them. False if there is no room: the table is of no use then.
  template <typename Change>
  [[nodiscard]] bool edit(uint64_t begin, uint64_t end, bool offers_gaps, Change change);
  void clear() { count_ = 0; }
  size_t size() const { return count_; }
  const Region& operator[](size_t i) const { return regions_[i]; }

 private:
  size_t first_behind(uint64_t address) const;
  bool split(uint64_t at);
  bool insert(size_t at, const Region& region);
  void erase(size_t at);
  void join_neighbours();

  Region regions_[kRegionsMax];
  size_t count_ = 0;
};

template <typename Change>
bool RegionTable::edit(uint64_t begin, uint64_t end, bool offers_gaps, Change change) {
  if (begin >= end) return true;
  if (!split(begin) || !split(end)) return false;
  size_t i = first_behind(begin);
  if (i > 0 && regions_[i - 1].begin == begin) --i;
  while (begin < end) {
    const uint64_t next = i < count_ && regions_[i].begin < end ? regions_[i].begin : end;
    if (next > begin) {
      Region gap{begin, next, CodeKind::none};
      if (offers_gaps) change(gap);
      if (gap.says_something() && !insert(i++, gap)) return false;
      begin = next;
      continue;
    }
    change(regions_[i]);
    begin = regions_[i].end;
    if (regions_[i].says_something()) {
      ++i;
    } else {
      erase(i);
    }
  }
  join_neighbours();
  return true;
}

}  // namespace contrafact::translate
