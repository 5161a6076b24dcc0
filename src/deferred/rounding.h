#pragma once

#include <cstdint>

namespace contrafact::deferred {

constexpr uint64_t round_up(uint64_t n, uint64_t to) {
  return (n + to - 1) / to * to;
}

}  // namespace contrafact::deferred
