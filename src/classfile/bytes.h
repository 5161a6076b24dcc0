// Big-endian reading with bounds checks, and big-endian writing: the byte level of the class-file format.
//
// Not thread-safe; cheap to create. Invariant of ByteReader: once a read went past the end, ok() stays false and every
// further read yields zeroes, so that a caller may check once after a group of reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace contrafact::classfile {

using Bytes = std::span<const uint8_t>;

inline uint16_t load_u2(const uint8_t* at) {
  return static_cast<uint16_t>(at[0] << 8 | at[1]);
}
inline uint32_t load_u4(const uint8_t* at) {
  return uint32_t{at[0]} << 24 | uint32_t{at[1]} << 16 | uint32_t{at[2]} << 8 | uint32_t{at[3]};
}

class ByteReader {
 public:
  explicit ByteReader(Bytes bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  size_t position() const { return position_; }
  size_t remaining() const { return bytes_.size() - position_; }
  bool at_end() const { return position_ == bytes_.size(); }
  const uint8_t* here() const { return bytes_.data() + position_; }

  uint8_t u1() { return need(1) ? bytes_[position_++] : 0; }
  uint16_t u2() {
    if (!need(2)) return 0;
    position_ += 2;
    return load_u2(here() - 2);
  }
  uint32_t u4() {
    if (!need(4)) return 0;
    position_ += 4;
    return load_u4(here() - 4);
  }
  // The next `count` bytes, or an empty span when there are fewer.
  Bytes take(size_t count) {
    if (!need(count)) return {};
    position_ += count;
    return bytes_.subspan(position_ - count, count);
  }
  // The bytes from an earlier position() up to here.
  Bytes since(size_t start) const { return bytes_.subspan(start, position_ - start); }

 private:
  bool need(size_t count) {
    if (ok_ && remaining() >= count) return true;
    ok_ = false;
    return false;
  }

  Bytes bytes_;
  size_t position_ = 0;
  bool ok_ = true;
};

class ByteWriter {
 public:
  void u1(uint32_t value) { bytes_.push_back(static_cast<uint8_t>(value)); }
  void u2(uint32_t value) {
    u1(value >> 8);
    u1(value);
  }
  void u4(uint32_t value) {
    u2(value >> 16);
    u2(value);
  }
  void append(Bytes bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }

  // Reserves a 4-byte length field; end_length fills it with the number of bytes written since.
  size_t begin_length() {
    u4(0);
    return bytes_.size();
  }
  void end_length(size_t begin) {
    const uint32_t length = static_cast<uint32_t>(bytes_.size() - begin);
    for (int i = 0; i < 4; i++) bytes_[begin - 4 + i] = static_cast<uint8_t>(length >> (24 - 8 * i));
  }

  size_t size() const { return bytes_.size(); }
  void reserve(size_t bytes) { bytes_.reserve(bytes); }
  const std::vector<uint8_t>& bytes() const { return bytes_; }
  std::vector<uint8_t> release() { return std::move(bytes_); }

 private:
  std::vector<uint8_t> bytes_;
};

}  // namespace contrafact::classfile
