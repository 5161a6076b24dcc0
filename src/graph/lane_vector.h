// A row of lanes in registers of the machine's own width. Private to lane_interpreter.h, and in an unnamed namespace:
// each of the files that include it is compiled for another kind of machine.
#pragma once

#include "graph/lane_peaks.h"

namespace contrafact::graph {
namespace {

#define CONTRAFACT_LANE_INLINE [[gnu::always_inline]] inline

// The compiler would take vectors that are wider than a register apart into single numbers.
#if defined(__AVX512F__)
inline constexpr size_t kRegisterBytes = 64;
#elif defined(__AVX2__)
inline constexpr size_t kRegisterBytes = 32;
#else
inline constexpr size_t kRegisterBytes = 16;
#endif

using LanePart = int64_t __attribute__((vector_size(kRegisterBytes), may_alias));
// A lane's result from an unknown time may overflow, and is discarded: sums wrap around.
using WrappingPart = uint64_t __attribute__((vector_size(kRegisterBytes), may_alias));

// Comparisons give -1 in the lanes where they hold.
struct [[gnu::may_alias]] Lanes {
  static constexpr size_t kParts = sizeof(LaneRow) / sizeof(LanePart);
  static constexpr size_t kLanesOfPart = kLanes / kParts;
  LanePart part[kParts];

  CONTRAFACT_LANE_INLINE static Lanes all(int64_t value) {
    Lanes lanes;
    for (LanePart& part : lanes.part) part = LanePart{} + value;
    return lanes;
  }
  CONTRAFACT_LANE_INLINE int64_t operator[](size_t lane) const {
    return part[lane / kLanesOfPart][lane % kLanesOfPart];
  }
  CONTRAFACT_LANE_INLINE Lanes operator~() const {
    Lanes lanes;
    for (size_t i = 0; i < kParts; ++i) lanes.part[i] = ~part[i];
    return lanes;
  }
};
static_assert(sizeof(Lanes) == sizeof(LaneRow));

#define CONTRAFACT_LANE_OPERATOR_OF(Part, op)                                            \
  CONTRAFACT_LANE_INLINE Lanes operator op(const Lanes& x, const Lanes& y) {             \
    Lanes lanes;                                                                         \
    for (size_t i = 0; i < Lanes::kParts; ++i) {                                         \
      lanes.part[i] = (LanePart)((Part)x.part[i] op(Part) y.part[i]);                    \
    }                                                                                    \
    return lanes;                                                                        \
  }                                                                                      \
  [[maybe_unused]] CONTRAFACT_LANE_INLINE Lanes operator op(const Lanes& x, int64_t y) { \
    return x op Lanes::all(y);                                                           \
  }
#define CONTRAFACT_LANE_OPERATOR(op) CONTRAFACT_LANE_OPERATOR_OF(LanePart, op)
CONTRAFACT_LANE_OPERATOR_OF(WrappingPart, +)
CONTRAFACT_LANE_OPERATOR_OF(WrappingPart, -)
CONTRAFACT_LANE_OPERATOR(&)
CONTRAFACT_LANE_OPERATOR(|)
CONTRAFACT_LANE_OPERATOR(<)
CONTRAFACT_LANE_OPERATOR(>)
CONTRAFACT_LANE_OPERATOR(>=)
CONTRAFACT_LANE_OPERATOR(!=)
#undef CONTRAFACT_LANE_OPERATOR
#undef CONTRAFACT_LANE_OPERATOR_OF

CONTRAFACT_LANE_INLINE Lanes& operator+=(Lanes& x, const Lanes& y) {
  return x = x + y;
}
CONTRAFACT_LANE_INLINE Lanes& operator-=(Lanes& x, const Lanes& y) {
  return x = x - y;
}
CONTRAFACT_LANE_INLINE Lanes& operator|=(Lanes& x, const Lanes& y) {
  return x = x | y;
}
CONTRAFACT_LANE_INLINE Lanes operator>>(const Lanes& x, int bits) {
  Lanes lanes;
  for (size_t i = 0; i < Lanes::kParts; ++i) lanes.part[i] = x.part[i] >> bits;
  return lanes;
}

CONTRAFACT_LANE_INLINE Lanes select(const Lanes& mask, const Lanes& x, const Lanes& y) {
  Lanes lanes;
  for (size_t i = 0; i < Lanes::kParts; ++i) lanes.part[i] = mask.part[i] ? x.part[i] : y.part[i];
  return lanes;
}
CONTRAFACT_LANE_INLINE Lanes later_of(const Lanes& x, const Lanes& y) {
  return select(x > y, x, y);
}
CONTRAFACT_LANE_INLINE Lanes earlier_of(const Lanes& x, const Lanes& y) {
  return select(x < y, x, y);
}

// Stores the lower halves of the lanes.
CONTRAFACT_LANE_INLINE void narrow_lanes(const Lanes& x, uint32_t* to) {
  using Half = uint32_t __attribute__((vector_size(kRegisterBytes / 2), may_alias));
  for (size_t i = 0; i < Lanes::kParts; ++i)
    *reinterpret_cast<Half*>(to + i * Lanes::kLanesOfPart) = __builtin_convertvector(x.part[i], Half);
}

CONTRAFACT_LANE_INLINE bool is_any(const Lanes& mask) {
  LanePart any = mask.part[0];
  for (size_t i = 1; i < Lanes::kParts; ++i) any |= mask.part[i];
  int64_t bits = 0;
  for (size_t lane = 0; lane < Lanes::kLanesOfPart; ++lane) bits |= any[lane];
  return bits != 0;
}

CONTRAFACT_LANE_INLINE Lanes& lanes_of(LaneRow& row) {
  return reinterpret_cast<Lanes&>(row);
}
CONTRAFACT_LANE_INLINE const Lanes& lanes_of(const LaneRow& row) {
  return reinterpret_cast<const Lanes&>(row);
}

}  // namespace
}  // namespace contrafact::graph
