// Sums of times that stay at the end of their type instead of overflowing, for what hostile traces add up to.
#pragma once

#include <cstdint>

namespace contrafact::base {

constexpr int64_t add_saturated(int64_t x, int64_t y) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(x, y, &sum)) return sum;
  return x < 0 ? INT64_MIN : INT64_MAX;
}

constexpr int64_t subtract_saturated(int64_t x, int64_t y) {
  int64_t difference = 0;
  if (!__builtin_sub_overflow(x, y, &difference)) return difference;
  return x < 0 ? INT64_MIN : INT64_MAX;
}

// REQUIRES: factor > 0
constexpr int64_t multiply_saturated(int64_t x, int64_t factor) {
  int64_t product = 0;
  if (!__builtin_mul_overflow(x, factor, &product)) return product;
  return x < 0 ? INT64_MIN : INT64_MAX;
}

}  // namespace contrafact::base
