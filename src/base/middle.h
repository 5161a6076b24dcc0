// One value for many: their median, or their mean without the longest. Pure, linear; both reorder the values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>

#include "base/check.h"

namespace contrafact::base {

// The middle value; of an even number of values, the mean of the two in the middle. REQUIRES: there are any.
template <typename Value>
double median(std::span<Value> values) {
  CHECK(!values.empty());
  const auto upper = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), upper, values.end());
  if (values.size() % 2 == 1) return static_cast<double>(*upper);
  return (static_cast<double>(*std::max_element(values.begin(), upper)) + static_cast<double>(*upper)) / 2;
}

// The values without the longest twentieth: an interrupt, or a thread that lost its core unseen, says nothing about the
// code. REQUIRES: there are any.
template <typename Value>
std::span<Value> without_longest(std::span<Value> values) {
  CHECK(!values.empty());
  const size_t kept = values.size() - values.size() / 20;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(kept - 1), values.end());
  return values.first(kept);
}

// REQUIRES: there are any.
template <typename Value>
double mean(std::span<Value> values) {
  CHECK(!values.empty());
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace contrafact::base
