// Whether two critical sections need their order: the intersections of what they read and wrote (PerfPlay, algorithm 1,
// with all three of them: C1.rd and C2.wr, C1.wr and C2.rd, C1.wr and C2.wr).
//
// An access has a class for each byte. Accesses of one class to the same byte need no order among each other, except
// those of the last class:
//   reads        it read, or wrote what was there already (a silent write), or wrote by atomic additions alone, which
//                need no lock of their own
//   adds         it changed the value by additions and subtractions, and no code used the old value
//   sets_bits    the same by *or*
//   clears_bits  the same by *and*
//   writes       anything else
// So an intersection may be benign: silent writes against reads, additions against additions.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "model/section_sets.h"

namespace contrafact::graph {

enum class PairKind : uint8_t {
  null_lock,       // unnecessary: one of the two touches no memory at all
  read_read,       // unnecessary: neither writes
  disjoint_write,  // unnecessary: no byte that one writes is touched by the other
  benign,          // unnecessary: the bytes in common are written silently, or commutatively by both
  conflict,        // necessary
  unknown,         // the accesses of the two are not known completely, and the known ones do not conflict
};
inline constexpr size_t kPairKinds = 6;

constexpr bool is_unnecessary(PairKind kind) {
  return kind <= PairKind::benign;
}

enum class AccessClass : uint8_t { reads, adds, sets_bits, clears_bits, writes };
constexpr bool is_atomic(uint32_t flags) {
  return (flags & (format::kAccessAtomic | format::kAccessFetched)) != 0;
}
constexpr AccessClass class_of(uint32_t flags) {
  if (is_atomic(flags)) return AccessClass::reads;
  const bool changed = (flags & format::kAccessChanged) != 0;
  if ((flags & format::kAccessBits) != 0 && !changed) return AccessClass::reads;
  if ((flags & format::kAccessSetsBits) != 0) return AccessClass::sets_bits;
  if ((flags & format::kAccessClearsBits) != 0) return AccessClass::clears_bits;
  if ((flags & format::kAccessCommutative) != 0) return AccessClass::adds;
  return changed ? AccessClass::writes : AccessClass::reads;
}
constexpr bool need_order(AccessClass x, AccessClass y) {
  return x != y || x == AccessClass::writes;
}

// Not thread-safe: it remembers results. `sets` must outlive it. A pair's first question costs a walk along both sets,
// later ones a look-up.
class SectionConflicts {
 public:
  explicit SectionConflicts(const model::SectionSets& sets) : sets_(sets) {}

  // The kind of a pair of sets, by their numbers in `sets`, in either order.
  PairKind between(uint32_t x, uint32_t y);
  // Where the two conflict: the begins of the ranges that one has and the other meets, the first `most` of them.
  std::vector<uint64_t> places(uint32_t x, uint32_t y, size_t most) const;
  // The same with what each of the two does there.
  struct Meeting {
    uint64_t address = 0;
    AccessClass by_x = AccessClass::reads, by_y = AccessClass::reads;
  };
  std::vector<Meeting> meetings(uint32_t x, uint32_t y, size_t most) const;

 private:
  PairKind compare(uint32_t x, uint32_t y) const;

  const model::SectionSets& sets_;
  std::unordered_map<uint64_t, PairKind> known_;
};

}  // namespace contrafact::graph
