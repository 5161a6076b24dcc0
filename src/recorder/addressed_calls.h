// Calls whose operands are addresses of the recorded program's code and objects. A working thread writes what it has in
// its registers and looks nothing up; the drainer turns addresses into the ids of table rows (AddressTable).
//
//   id     kAddressedCall + EventKind, or kFramesCall
//   words  by the event's schema:  lock     2: the address, with its LockKind in the top 8 bits
//                                  context  2: a return address
//                                  others   1
//          `accesses` has 4 words and no operands of the schema's: the set's hash, 2; its SetGap; how many
//          kAccessRangeCalls, which stand just before it, are its ranges, or kAccessesKnown for a set that the client
//          has sent before. kAccessRangeCall has 4 words and no time: an AccessRange's begin, 2, length and flags.
//          kAccessLogCall has 4 words and no time: 16 bytes of the client's access log (access_log.h).
//          kFramesCall has 4 words, two return addresses, and no time: callers of the CONTEXT of the client's next
//          addressed event, innermost first; a zero ends the stack.
//          kTextCall has 4 words and no time: 16 bytes of a text (texts.h).
//          kBodyCall has 2 words and no time: the first instruction of the function that is the BODY of the client's
//          next addressed event; without one it has none.
#pragma once

#include <cstdint>

#include "format/event.h"

namespace contrafact::recorder {

inline constexpr uint16_t kAddressedCall = 0x200;
inline constexpr uint16_t kFramesCall = kAddressedCall + 0xff;
inline constexpr uint32_t kFramesWords = 4;
inline constexpr uint16_t kAccessRangeCall = kAddressedCall + 0xfe;
inline constexpr uint32_t kAccessRangeWords = 4;
inline constexpr uint32_t kAccessesWords = 4;
inline constexpr uint32_t kAccessesKnown = UINT32_MAX;
inline constexpr uint16_t kAccessLogCall = kAddressedCall + 0xfd;
inline constexpr uint32_t kAccessLogWords = 4;
inline constexpr uint16_t kTextCall = kAddressedCall + 0xfc;
inline constexpr uint32_t kTextWords = 4;
inline constexpr uint16_t kBodyCall = kAddressedCall + 0xfb;
inline constexpr uint32_t kBodyWords = 2;
inline constexpr uint32_t kAddressedWordsMax = 4;
static_assert(format::kEventKinds < 0xfb);

constexpr uint16_t addressed_call(format::EventKind kind) {
  return static_cast<uint16_t>(kAddressedCall + static_cast<uint16_t>(kind));
}

// User addresses have 47 bits (57 with five-level tables, which a program must ask for): the top byte is free.
inline constexpr int kLockKindShift = 56;
inline constexpr uint64_t kLockAddressMask = (uint64_t{1} << kLockKindShift) - 1;

inline uint64_t lock_word(const void* lock, format::LockKind kind) {
  // A program may call the kernel with any address at all.
  return (reinterpret_cast<uint64_t>(lock) & kLockAddressMask) | static_cast<uint64_t>(kind) << kLockKindShift;
}

}  // namespace contrafact::recorder
