// Little-endian base-128 numbers and raw bytes: writing to a vector, and reading with every bound checked.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace contrafact::format {

inline uint64_t zigzag(int64_t v) {
  return (static_cast<uint64_t>(v) << 1) ^ static_cast<uint64_t>(v >> 63);
}
inline int64_t unzigzag(uint64_t v) {
  return static_cast<int64_t>(v >> 1) ^ -static_cast<int64_t>(v & 1);
}

inline void put_varint(std::vector<uint8_t>& out, uint64_t v) {
  while (v >= 0x80) {
    out.push_back(static_cast<uint8_t>(v) | 0x80);
    v >>= 7;
  }
  out.push_back(static_cast<uint8_t>(v));
}

inline void put_text(std::vector<uint8_t>& out, std::string_view text) {
  put_varint(out, text.size());
  out.insert(out.end(), text.begin(), text.end());
}

// After the first read beyond the end, or of a number over 64 bits, ok() is false and everything reads as 0 or empty.
class ByteReader {
 public:
  explicit ByteReader(std::span<const uint8_t> bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool ok() const { return ok_; }
  bool at_end() const { return at_ == end_; }
  size_t left() const { return static_cast<size_t>(end_ - at_); }

  uint64_t varint() {
    uint64_t v = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      if (at_ == end_) return fail();
      const uint8_t byte = *at_++;
      if (shift == 63 && byte > 1) return fail();
      v |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return v;
    }
    return fail();
  }
  uint32_t varint32() {
    const uint64_t v = varint();
    return v > UINT32_MAX ? static_cast<uint32_t>(fail()) : static_cast<uint32_t>(v);
  }
  std::span<const uint8_t> bytes(uint64_t count) {
    if (count > left()) {
      fail();
      return {};
    }
    at_ += count;
    return {at_ - count, static_cast<size_t>(count)};
  }
  std::string_view text() {
    const auto raw = bytes(varint());
    return {reinterpret_cast<const char*>(raw.data()), raw.size()};
  }

 private:
  uint64_t fail() {
    ok_ = false;
    at_ = end_;
    return 0;
  }
  const uint8_t* at_;
  const uint8_t* end_;
  bool ok_ = true;
};

}  // namespace contrafact::format
