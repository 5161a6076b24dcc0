// Access logs: every read and write of a thread, in its order, as chunks of bytes that can be read one by one.
// docs/format.md has the grammar; this is its one implementation.
//
// Each access lies at a distance from one of eight cursors. Loops walk through a few arrays with fixed steps, so a
// cursor also predicts that its next access is as far from the last one as that was from the one before: such an access
// of 1, 4 or 8 bytes is one byte.
//
//   access ::= head:u8 [flags:u8] [length:varint] [distance:zigzag]
//   head   ::= cursor (bits 0-2), kind (3-4), size (5-6), distance follows (7)
//
// Thread safety: none; each thread has its own encoder or decoder. Neither allocates.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "format/access_set.h"

namespace contrafact::format {

// One access of the log; `flags` as of access sets.
using LoggedAccess = AccessRange;

// A piece of one thread's log, between two times at which it was handed on.
struct AccessChunk {
  uint32_t thread = 0;
  SetGap gap = SetGap::complete;  // why accesses may be missing since this thread's chunk before
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  uint64_t lost = 0;  // accesses that were logged and dropped since the chunk before
  uint32_t accesses = 0;
  std::span<const uint8_t> bytes;
};

inline constexpr uint32_t kAccessChunkBytesMax = 1 << 20;

// The state that both sides keep: the cursors' positions and their latest steps. All zero at a chunk's beginning.
class AccessCursors {
 public:
  static constexpr uint32_t kCursors = 8;

  uint64_t expected(uint32_t cursor) const { return at_[cursor] + step_[cursor]; }
  uint64_t at(uint32_t cursor) const { return at_[cursor]; }
  uint32_t nearest(uint64_t address) const;
  // An address far from its cursor begins a walk of its own, with the cursor unused for longest.
  void move(uint32_t cursor, uint64_t address);

 private:
  std::array<uint64_t, kCursors> at_{};
  std::array<uint64_t, kCursors> step_{};
  uint32_t next_far_ = 0;
};

class AccessEncoder {
 public:
  static constexpr size_t kBytesMax = 1 + 1 + 5 + 10;  // of one access

  // REQUIRES: room for kBytesMax; is_sound(access). Returns the end of what was written.
  uint8_t* put(uint8_t* out, const LoggedAccess& access);
  void begin_chunk() { cursors_ = {}; }

 private:
  AccessCursors cursors_;
};

class AccessDecoder {
 public:
  explicit AccessDecoder(std::span<const uint8_t> bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  // False at the end, and at bytes that are no access (good() is false then).
  bool next(LoggedAccess& access);
  bool good() const { return good_; }

 private:
  uint64_t varint();

  const uint8_t* at_;
  const uint8_t* end_;
  bool good_ = true;
  AccessCursors cursors_;
};

}  // namespace contrafact::format
