// Access sets: the memory that a piece of code read and wrote, as ranges of addresses. Many pieces of one program have
// equal sets: each set is one row of a table.
//
// Canonical form, used in files and in the model: ranges ascending, none empty, no two overlapping, and no two that
// touch with equal flags (but for those that are cut at kAccessLengthMax).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace contrafact::format {

// Why a set may lack something. An access that is in a set did happen. One that is missing from an incomplete set may
// have happened.
enum class SetGap : uint8_t {
  complete,
  not_observed,    // the accesses were not looked at: the code ran natively
  outside_window,  // the same, because the code ran outside of a window (sampling)
  unsupported,     // an instruction that the translator does not take
  system_call,     // the kernel read or wrote memory in a way that is not known
  signal,          // a signal's handler ran in between, unobserved
  left,            // the observed code was left before its end (longjmp, exception, cancellation)
  overflow,        // more ranges than a set holds
  lost,            // the recorder had no room for it, or its row is gone
};
inline constexpr SetGap kSetGapLast = SetGap::lost;

inline constexpr uint32_t kAccessRead = 1;
inline constexpr uint32_t kAccessWrite = 2;
inline constexpr uint32_t kAccessChanged = 4;  // a write changed the value; only with kAccessWrite
// Only read-modify-writes that commute with each other, and whose old value was not used; only with kAccessRead and
// kAccessWrite. They are additions and subtractions, unless one of the last two flags says otherwise.
inline constexpr uint32_t kAccessCommutative = 8;
// Written by atomic additions alone (lock add, inc, or, ...; only with kAccessRead, kAccessWrite and kAccessChanged):
// these need no lock of their own.
//   kAccessAtomic                   nothing else touched it
//   kAccessAtomic, kAccessFetched   likewise, and each of them fetched the old value, to decide by (lock xadd)
//   kAccessFetched                  they did, and it was read by other instructions as well
// If one instruction reads a value and a later one writes it atomically without reading it, the two together need a
// lock: neither flag is set.
inline constexpr uint32_t kAccessAtomic = 16;
inline constexpr uint32_t kAccessFetched = 32;
// Only with kAccessCommutative, one of them, and not atomic: an operation that commutes only with others of its kind.
inline constexpr uint32_t kAccessSetsBits = 64;     // or
inline constexpr uint32_t kAccessClearsBits = 128;  // and
inline constexpr uint32_t kAccessBits = kAccessSetsBits | kAccessClearsBits;
inline constexpr uint32_t kAccessFlags = 255;

struct AccessRange {
  uint64_t begin = 0;
  uint32_t length_bytes = 0;
  uint32_t flags = 0;
  uint64_t end() const { return begin + length_bytes; }
  bool operator==(const AccessRange&) const = default;
};
static_assert(sizeof(AccessRange) == 16);  // no padding: it is hashed as bytes

inline constexpr uint32_t kAccessLengthMax = UINT32_MAX;
inline constexpr uint32_t kAccessRangesMax = 1 << 16;  // of a set; 64 Ki * 14 bytes at most still fit in a block

struct AccessSetRow {
  SetGap gap = SetGap::lost;
  std::span<const AccessRange> ranges;
};

constexpr bool is_sound_atomic(uint32_t flags) {
  constexpr uint32_t kNeeded = kAccessRead | kAccessWrite | kAccessChanged;
  if ((flags & (kAccessAtomic | kAccessFetched)) == 0) return true;
  return (flags & kNeeded) == kNeeded && ((flags & kAccessFetched) == 0 || (flags & kAccessCommutative) == 0);
}
constexpr bool is_sound_commutative(uint32_t flags) {
  constexpr uint32_t kNeeded = kAccessRead | kAccessWrite;
  if ((flags & (kAccessCommutative | kAccessBits)) == 0) return true;
  if ((flags & kAccessBits) == 0) return (flags & kNeeded) == kNeeded;
  return (flags & kNeeded) == kNeeded && (flags & kAccessCommutative) != 0 && (flags & kAccessBits) != kAccessBits &&
         (flags & (kAccessAtomic | kAccessFetched)) == 0;
}
// A range that the format can hold.
constexpr bool is_sound(const AccessRange& range) {
  return range.length_bytes > 0 && range.begin <= UINT64_MAX - range.length_bytes && range.flags <= kAccessFlags &&
         (range.flags & (kAccessRead | kAccessWrite)) != 0 &&
         ((range.flags & kAccessChanged) == 0 || (range.flags & kAccessWrite) != 0) &&
         is_sound_commutative(range.flags) && is_sound_atomic(range.flags);
}

// The joined flags of two accesses to the same bytes. A commutative access stays commutative only beside one of its
// kind. An atomic one stays atomic only beside another atomic one or, if it fetched the old value, beside one that
// reads.
constexpr uint32_t joined(uint32_t x, uint32_t y) {
  constexpr uint32_t kAtomics = kAccessAtomic | kAccessFetched, kCommutes = kAccessCommutative | kAccessBits;
  const bool both_write = (x & y & kAccessWrite) != 0;
  const uint32_t atomics = both_write ? x & y & kAtomics : (x | y) & kAccessFetched;
  const uint32_t commutes = ((x ^ y) & kAccessBits) == 0 ? x & y & kCommutes : 0;
  return ((x | y) & ~(kCommutes | kAtomics)) | commutes | atomics;
}

// In the four lowest bits. Some flags have codes that no other combination has: setting bits is "changed and not
// written", clearing bits is "commutative and not read", an atomic write is "commutative and not written".
constexpr uint32_t code_of(uint32_t flags) {
  if ((flags & kAccessSetsBits) != 0) return kAccessChanged | ((flags & kAccessChanged) != 0 ? kAccessRead : 0);
  if ((flags & kAccessClearsBits) != 0) return flags & (kAccessWrite | kAccessChanged | kAccessCommutative);
  if ((flags & (kAccessAtomic | kAccessFetched)) == 0) return flags;
  if ((flags & kAccessFetched) == 0)
    return kAccessCommutative | ((flags & kAccessCommutative) != 0 ? kAccessChanged : 0);
  return kAccessCommutative | kAccessRead | ((flags & kAccessAtomic) == 0 ? kAccessChanged : 0);
}
constexpr uint32_t flags_of_code(uint32_t code) {
  constexpr uint32_t kUpdated = kAccessRead | kAccessWrite | kAccessCommutative;
  constexpr uint32_t kAdded = kAccessRead | kAccessWrite | kAccessChanged;
  constexpr uint32_t kPlaces = kAccessWrite | kAccessCommutative;
  if ((code & kPlaces) == 0 && (code & kAccessChanged) != 0)
    return kUpdated | kAccessSetsBits | ((code & kAccessRead) != 0 ? kAccessChanged : 0);
  if ((code & kPlaces) == kPlaces && (code & kAccessRead) == 0) return code | kAccessRead | kAccessClearsBits;
  if ((code & kAccessCommutative) == 0 || (code & kAccessWrite) != 0) return code;
  const bool other = (code & kAccessChanged) != 0;
  if ((code & kAccessRead) != 0) return kAdded | kAccessFetched | (other ? 0 : kAccessAtomic);
  return kAdded | kAccessAtomic | (other ? kAccessCommutative : 0);
}

// Brings ranges in any order, overlapping or not, into canonical form; unsound ones are dropped. O(n log n).
void make_canonical(std::vector<AccessRange>& ranges);

}  // namespace contrafact::format
