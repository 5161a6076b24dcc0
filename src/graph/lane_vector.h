// A row of lanes in a register, or in as many as the machine needs; and functions that are compiled once for each kind
// of machine, of which the best that runs is called. Private to lanes_run.cc and lane_peaks.cc.
#pragma once

#include "graph/lane_peaks.h"

namespace contrafact::graph {

// Comparisons give -1 in the lanes where they hold.
using Lanes = int64_t __attribute__((vector_size(sizeof(LaneRow)), may_alias));
static_assert(sizeof(Lanes) == sizeof(LaneRow));

#define CONTRAFACT_LANE_INLINE [[gnu::always_inline]] inline

CONTRAFACT_LANE_INLINE void store(LaneRow& row, const Lanes& lanes) {
  reinterpret_cast<Lanes&>(row) = lanes;
}

CONTRAFACT_LANE_INLINE const Lanes& lanes_of(const LaneRow& row) {
  return reinterpret_cast<const Lanes&>(row);
}

CONTRAFACT_LANE_INLINE bool is_any(const Lanes& mask) {
  int64_t any = 0;
  for (size_t lane = 0; lane < kLanes; ++lane) any |= mask[lane];
  return any != 0;
}

// In a struct: `function`, a static CONTRAFACT_LANE_INLINE member with one argument, for each kind of machine; outside
// it, their definitions. `dispatch_function` calls the best one.
#if defined(__x86_64__)
#define CONTRAFACT_LANE_TARGETS(function, argument)                                          \
  static void function##_plain(argument);                                                    \
  [[gnu::target("avx2")]] static void function##_avx2(argument);                             \
  [[gnu::target("avx512f,avx512dq,avx512vl,avx2")]] static void function##_avx512(argument); \
  static void dispatch_##function(argument);

#define CONTRAFACT_LANE_DISPATCH(type, function, argument)                                                             \
  void type::function##_plain(argument value) {                                                                        \
    function(value);                                                                                                   \
  }                                                                                                                    \
  [[gnu::target("avx2")]] void type::function##_avx2(argument value) {                                                 \
    function(value);                                                                                                   \
  }                                                                                                                    \
  [[gnu::target("avx512f,avx512dq,avx512vl,avx2")]] void type::function##_avx512(argument value) {                     \
    function(value);                                                                                                   \
  }                                                                                                                    \
  void type::dispatch_##function(argument value) {                                                                     \
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) \
      function##_avx512(value);                                                                                        \
    else if (__builtin_cpu_supports("avx2"))                                                                           \
      function##_avx2(value);                                                                                          \
    else                                                                                                               \
      function##_plain(value);                                                                                         \
  }
#else
#define CONTRAFACT_LANE_TARGETS(function, argument) static void dispatch_##function(argument);
#define CONTRAFACT_LANE_DISPATCH(type, function, argument) \
  void type::dispatch_##function(argument value) {         \
    function(value);                                       \
  }
#endif

}  // namespace contrafact::graph
