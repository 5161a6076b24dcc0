// Ticks of the pictures' axes.
#pragma once

#include <cmath>

namespace contrafact::report {

// 1, 2 or 5 times a power of ten, so that at most `most` ticks are drawn. REQUIRES: range > 0.
inline double tick_step(double range, int most) {
  const double raw = range / most, power = std::pow(10, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (raw <= factor * power) return factor * power;
  }
  return 10 * power;
}

}  // namespace contrafact::report
