// The log that translated code writes: entries of 16 or 32 bytes, downwards from the top of a block of 64 KiB that is
// aligned to its size. So one load of an address' second byte shows whether there is room: it is zero in the lowest 256
// bytes, and no more may be written between two such tests than fits there. No flag of the processor changes.
//
//   16 bytes  address:8 meta:4 unused:4
//   32 bytes  address:8 meta:4 unused:4 old:8 new:8     kMetaValues: a write of at most 8 bytes; what was there before
//                                                       and after
//             begin:8   meta:4 unused:4 end:8 unused:8  kMetaString: a repeated string instruction; its pointer before
//                                                       and after, so that the direction and an early end show
//   16 bytes  clock:8   high:2 meta:2 low:4             kMetaPoint: no access; the processor's clock before a call that
//                                                       the segment's own function makes, or (kMetaBack) the return
//                                                       from it; and where the call returns to, bits 32 to 47 and 0 to
//                                                       31
#pragma once

#include <cstdint>

namespace contrafact::translate {

inline constexpr uint64_t kLogBytes = 64 << 10;
inline constexpr uint32_t kLogWindowBytes = 256;
inline constexpr uint32_t kEntryBytes = 16;
inline constexpr uint32_t kLongEntryBytes = 32;

inline constexpr uint32_t kMetaSizeMask = 0xffff;  // bytes of the access, or of an element
inline constexpr uint32_t kMetaRead = 1 << 16;
inline constexpr uint32_t kMetaWrite = 1 << 17;
inline constexpr uint32_t kMetaValues = 1 << 18;
inline constexpr uint32_t kMetaString = 1 << 19;
inline constexpr uint32_t kMetaCommutative = 1 << 20;
inline constexpr uint32_t kMetaPoint = 1 << 21;
inline constexpr uint32_t kMetaLocal = 1 << 22;  // addresses count from the thread pointer
inline constexpr uint32_t kMetaAtomic = 1 << 23;
inline constexpr uint32_t kMetaFetched = 1 << 24;     // only with kMetaAtomic
inline constexpr uint32_t kMetaBack = 1 << 25;        // only with kMetaPoint
inline constexpr uint32_t kMetaSetsBits = 1 << 26;    // only with kMetaCommutative
inline constexpr uint32_t kMetaClearsBits = 1 << 27;  // likewise
inline constexpr uint32_t kMetaLong = kMetaValues | kMetaString;

struct LogEntry {
  uint64_t address;
  uint32_t meta;
  uint32_t low;
  uint64_t before;  // from here on only in long entries
  uint64_t after;
};
static_assert(sizeof(LogEntry) == kLongEntryBytes);

}  // namespace contrafact::translate
