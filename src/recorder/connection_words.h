// A connection in an addressed call (addressed_calls.h): one word that says all that its row does, so that whichever
// thread's event comes first makes the row.
//
//   is_socket (bit 63) is_datagram (62) kind (60-61) number (32-59) local_port (16-31) remote_port (0-15)
//
// Kind 3 is a connected one whose own port the process does not know: its descriptor stands in the place of the port.
//
// The number is the recorded process's, from 1 on; 0: it has none yet, and no event.
#pragma once

#include <cstdint>

#include "format/event.h"

namespace contrafact::recorder {

inline constexpr uint64_t kSocketBit = uint64_t{1} << 63;
inline constexpr uint64_t kDatagramBit = uint64_t{1} << 62;
inline constexpr int kConnectionKindShift = 60;
inline constexpr int kConnectionNumberShift = 32;
inline constexpr int kConnectionNumberBits = 28;
inline constexpr int kLocalPortShift = 16;
inline constexpr uint64_t kPortMask = 0xffff;
inline constexpr uint64_t kConnectionNumberMask = (uint64_t{1} << kConnectionNumberBits) - 1;

constexpr uint64_t connection_word(format::ConnectionKind kind, uint32_t local_port, uint32_t remote_port) {
  return kSocketBit | static_cast<uint64_t>(kind) << kConnectionKindShift |
         (local_port & kPortMask) << kLocalPortShift | (remote_port & kPortMask);
}
constexpr uint32_t number_of(uint64_t word) {
  return static_cast<uint32_t>(word >> kConnectionNumberShift & kConnectionNumberMask);
}
inline constexpr uint64_t kPortUnknown = 3;  // as a kind
constexpr bool has_descriptor(uint64_t word) {
  return (word >> kConnectionKindShift & 3) == kPortUnknown;
}
constexpr uint64_t with_descriptor(uint64_t word, uint32_t descriptor) {
  return word | kPortUnknown << kConnectionKindShift | (descriptor & kPortMask) << kLocalPortShift;
}
constexpr uint64_t with_number(uint64_t word, uint32_t number) {
  return (word & ~(kConnectionNumberMask << kConnectionNumberShift)) | uint64_t{number} << kConnectionNumberShift;
}
constexpr uint32_t local_port_of(uint64_t word) {
  return static_cast<uint32_t>(word >> kLocalPortShift & kPortMask);
}
constexpr format::ConnectionRow row_of(uint64_t word) {
  const auto remote_port = static_cast<uint32_t>(word & kPortMask);
  if (has_descriptor(word)) return {format::ConnectionKind::connected, 0, remote_port};
  return {static_cast<format::ConnectionKind>(word >> kConnectionKindShift & 3), local_port_of(word), remote_port};
}
static_assert(static_cast<uint64_t>(format::kConnectionKindLast) < kPortUnknown);

}  // namespace contrafact::recorder
