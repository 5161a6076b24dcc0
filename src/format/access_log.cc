#include "format/access_log.h"

#include "format/bytes.h"

namespace contrafact::format {
namespace {

constexpr uint64_t kFarBytes = 1 << 16;
constexpr uint32_t kOtherLength = 3;
constexpr uint8_t kDistanceFollows = 0x80;

// By the head's kind; of kind 0 the flags follow.
constexpr uint32_t kKinds[4] = {0, kAccessRead, kAccessWrite | kAccessChanged,
                                kAccessRead | kAccessWrite | kAccessChanged};

uint8_t* put_varint_at(uint8_t* out, uint64_t value) {
  while (value >= 0x80) {
    *out++ = static_cast<uint8_t>(value) | 0x80;
    value >>= 7;
  }
  *out++ = static_cast<uint8_t>(value);
  return out;
}

uint64_t distance(uint64_t x, uint64_t y) {
  return x > y ? x - y : y - x;
}

}  // namespace

uint32_t AccessCursors::nearest(uint64_t address) const {
  for (uint32_t i = 0; i < kCursors; ++i) {
    if (expected(i) == address) return i;
  }
  uint32_t best = 0;
  uint64_t least = UINT64_MAX;
  for (uint32_t i = 0; i < kCursors; ++i) {
    const uint64_t away = distance(at_[i], address);
    if (away >= least) continue;
    least = away;
    best = i;
  }
  return best;
}

void AccessCursors::move(uint32_t cursor, uint64_t address) {
  const uint64_t step = address - at_[cursor];
  if (distance(address, at_[cursor]) < kFarBytes) {
    at_[cursor] = address;
    step_[cursor] = step;
    return;
  }
  at_[next_far_] = address;
  step_[next_far_] = 0;
  next_far_ = (next_far_ + 1) % kCursors;
}

uint8_t* AccessEncoder::put(uint8_t* out, const LoggedAccess& access) {
  const uint32_t cursor = cursors_.nearest(access.begin);
  uint32_t kind = 0, size = kOtherLength;
  for (uint32_t i = 1; i < 4; ++i) {
    if (kKinds[i] == access.flags) kind = i;
  }
  if (access.length_bytes == 1) size = 0;
  if (access.length_bytes == 4) size = 1;
  if (access.length_bytes == 8) size = 2;
  const bool expected = cursors_.expected(cursor) == access.begin;
  *out++ = static_cast<uint8_t>(cursor | kind << 3 | size << 5 | (expected ? 0 : kDistanceFollows));
  if (kind == 0) *out++ = static_cast<uint8_t>(access.flags);
  if (size == kOtherLength) out = put_varint_at(out, access.length_bytes);
  if (!expected) out = put_varint_at(out, zigzag(static_cast<int64_t>(access.begin - cursors_.at(cursor))));
  cursors_.move(cursor, access.begin);
  return out;
}

uint64_t AccessDecoder::varint() {
  ByteReader in({at_, static_cast<size_t>(end_ - at_)});
  const uint64_t value = in.varint();
  good_ = good_ && in.ok();
  at_ = end_ - in.left();
  return value;
}

bool AccessDecoder::next(LoggedAccess& access) {
  if (at_ == end_ || !good_) return false;
  constexpr uint32_t kLengths[] = {1, 4, 8};
  const uint8_t head = *at_++;
  const uint32_t cursor = head & 7, kind = head >> 3 & 3, size = head >> 5 & 3;
  access.flags = kKinds[kind];
  if (kind == 0) {
    if (at_ == end_) return good_ = false;
    access.flags = *at_++;
  }
  const uint64_t length = size == kOtherLength ? varint() : kLengths[size];
  access.begin = cursors_.expected(cursor);
  if ((head & kDistanceFollows) != 0) access.begin = cursors_.at(cursor) + static_cast<uint64_t>(unzigzag(varint()));
  access.length_bytes = static_cast<uint32_t>(length);
  if (length > kAccessLengthMax || !is_sound(access)) good_ = false;
  if (!good_) return false;
  cursors_.move(cursor, access.begin);
  return true;
}

}  // namespace contrafact::format
