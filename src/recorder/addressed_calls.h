// Calls whose operands are addresses of the recorded program's code and objects. A working thread writes what it has in
// its registers and looks nothing up; the drainer turns addresses into the ids of table rows (AddressTable).
//
//   id     kAddressedCall + EventKind, or kFramesCall
//   words  by the event's schema:  lock     2: the address, with its LockKind in the top 8 bits
//                                  context  2: a return address
//                                  connection 2: a word of its own (connection_words.h)
//                                  others   1
//          `accesses` has 4 words and no operands of the schema's: the set's hash, 2; its SetGap; how many
//          kAccessRangeCalls, which stand just before it, are its ranges, or kAccessesKnown for a set that the client
//          has sent before. kAccessRangeCall has 4 words and no time: an AccessRange's begin, 2, length and flags.
//          kAccessLogCall has 4 words and no time: 16 bytes of the client's access log (access_log.h).
//          kFramesCall has 4 words, two return addresses, and no time: callers of the CONTEXT of the client's next
//          addressed event, innermost first; a zero ends the stack.
//          kTextCall has 4 words and no time: 16 bytes of a text (texts.h).
//          kBodyCall has 2 words and no time: the first instruction of the function that is the BODY of the client's
//          next addressed event, which has no BODY without this call.
//
// Most of a program's lock events come from few places and few locks. So a client and the drainer remember pairs of
// LOCK and CONTEXT, each by its place among kPairs, both in the order of the client's calls:
//
//   remember_call(kind, place)  the event, with the 4 words of an addressed call: what lies at `place` from now on
//   recall_call(kind, place)    the event, of what lies at `place`: a time and no words
//
// A call that was dropped changed neither side's memory.
#pragma once

#include <array>
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

inline constexpr uint32_t kPairWords = 4;
inline constexpr int kPairBits = 5;
inline constexpr uint32_t kPairs = 1 << kPairBits;
inline constexpr uint16_t kRememberCall = 0x1000;
inline constexpr uint16_t kRememberEnd = kRememberCall + (format::kEventKinds << kPairBits);
inline constexpr uint16_t kRecallCall = 0x1800;
inline constexpr uint16_t kRecallEnd = kRecallCall + (format::kEventKinds << kPairBits);
static_assert(kRememberEnd <= kRecallCall);

constexpr uint16_t remember_call(format::EventKind kind, uint32_t place) {
  return static_cast<uint16_t>(kRememberCall + (static_cast<uint32_t>(kind) << kPairBits) + place);
}
constexpr uint16_t recall_call(format::EventKind kind, uint32_t place) {
  return static_cast<uint16_t>(kRecallCall + (static_cast<uint32_t>(kind) << kPairBits) + place);
}
// Of an event that has LOCK and CONTEXT and nothing else.
constexpr bool has_pair(format::EventKind kind) {
  const format::EventSchema& schema = format::schema_of(kind);
  return schema.operand_count() == 2 && schema.operands[0] == format::Operand::lock &&
         schema.operands[1] == format::Operand::context;
}

inline constexpr auto kHasPair = [] {
  std::array<bool, format::kEventKinds> has{};
  for (size_t kind = 0; kind < has.size(); ++kind) has[kind] = has_pair(static_cast<format::EventKind>(kind));
  return has;
}();
// Of either call.
constexpr format::EventKind kind_of_pair_call(uint16_t call) {
  return static_cast<format::EventKind>((call & (kRecallCall - kRememberCall - 1)) >> kPairBits);
}
static_assert(kRememberCall % (kRecallCall - kRememberCall) == 0);
constexpr bool is_recall(uint16_t call) {
  return call >= kRecallCall && call < kRecallEnd && kHasPair[static_cast<size_t>(kind_of_pair_call(call))];
}
constexpr bool is_remember(uint16_t call) {
  return call >= kRememberCall && call < kRememberEnd && kHasPair[static_cast<size_t>(kind_of_pair_call(call))];
}

// The client's side. All zero remembers nothing: no code returns to address 0.
struct RememberedPair {
  uint64_t lock = 0, site = 0;
};
inline uint32_t place_of_pair(uint64_t lock, uint64_t site) {
  return static_cast<uint32_t>((lock + (site << 7)) * 0x9e3779b97f4a7c15u >> (64 - kPairBits));
}

// User addresses have 47 bits (57 with five-level tables, which a program must ask for): the top byte is free.
inline constexpr int kLockKindShift = 56;
inline constexpr uint64_t kLockAddressMask = (uint64_t{1} << kLockKindShift) - 1;

inline uint64_t lock_word(const void* lock, format::LockKind kind) {
  // A program may call the kernel with any address at all.
  return (reinterpret_cast<uint64_t>(lock) & kLockAddressMask) | static_cast<uint64_t>(kind) << kLockKindShift;
}

}  // namespace contrafact::recorder
