// Access sets: what a piece of code read and wrote, as ranges of addresses. Many pieces of one program have equal sets:
// they are rows of a table, each once.
//
// Canonical form, which a file and the model hold: ranges ascending, none empty, no two overlapping, and no two that
// touch with equal flags (but for those that are cut at kAccessLengthMax).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace contrafact::format {

// Why a set may lack something. Whatever is in it did happen; what is not in an incomplete one may have.
enum class SetGap : uint8_t {
  complete,
  not_observed,    // the accesses were not looked at: the code ran natively
  outside_window,  // the same, for it was not this one's turn (sampling)
  unsupported,     // an instruction that the translator does not take
  system_call,     // the kernel read or wrote memory in a way that is not known
  signal,          // a signal's handler ran in between, unobserved
  left,            // the observed code was left on another way than by its end (longjmp, exception, cancellation)
  overflow,        // more ranges than a set holds
  lost,            // the recorder had no room for it, or its row is gone
};
inline constexpr SetGap kSetGapLast = SetGap::lost;

inline constexpr uint32_t kAccessRead = 1;
inline constexpr uint32_t kAccessWrite = 2;
inline constexpr uint32_t kAccessChanged = 4;  // a write changed the value; only with kAccessWrite
inline constexpr uint32_t kAccessCommutative =
    8;  // only read-modify-writes that commute with each other (add, and,
        // or, xor, ...) and whose old value nobody used; only with kAccessWrite
inline constexpr uint32_t kAccessFlags = 15;

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

// A range that the format can hold.
constexpr bool is_sound(const AccessRange& range) {
  return range.length_bytes > 0 && range.begin <= UINT64_MAX - range.length_bytes && range.flags <= kAccessFlags &&
         (range.flags & (kAccessRead | kAccessWrite)) != 0 &&
         ((range.flags & (kAccessChanged | kAccessCommutative)) == 0 || (range.flags & kAccessWrite) != 0);
}

// Of two accesses to the same bytes. A commutative one stays so only beside another.
constexpr uint32_t joined(uint32_t x, uint32_t y) {
  return ((x | y) & ~kAccessCommutative) | (x & y & kAccessCommutative);
}

// Brings ranges in any order, overlapping or not, into canonical form; unsound ones go. O(n log n).
void make_canonical(std::vector<AccessRange>& ranges);

}  // namespace contrafact::format
