// Numbers in hexadecimal digits. Pure.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>

namespace contrafact::base {

// At least so many digits, with zeros in front.
inline std::string hex(uint64_t value, size_t digits_min = 1) {
  char digits[16];
  const std::to_chars_result end = std::to_chars(digits, digits + sizeof digits, value, 16);
  const auto count = static_cast<size_t>(end.ptr - digits);
  return std::string(count < digits_min ? digits_min - count : 0, '0') + std::string(digits, count);
}

}  // namespace contrafact::base
