// When threads were on a core, as the kernel reported. Pure; linear.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "model/trace.h"

namespace contrafact::model {

// Whether the kernel reported when threads left their cores.
inline bool has_switches(const Trace& trace) {
  return std::ranges::any_of(trace.cpu, [](const auto& gaps) { return !gaps.empty(); });
}

// Calls `visit(begin_ns, end_ns)` for each time that a thread with these gaps was on a core, but for the first and the last, which the
// thread's begin and end bound.
template <typename Visit>
void each_time_on_core(std::span<const CpuGap> gaps, Visit visit) {
  for (size_t i = 0; i + 1 < gaps.size(); ++i) visit(gaps[i].in_ns, gaps[i + 1].out_ns);
}

// How much of the times from `begin_ns` to `end_ns` and from `from_ns` to `until_ns` is the same.
constexpr int64_t overlap_ns(int64_t begin_ns, int64_t end_ns, int64_t from_ns, int64_t until_ns) {
  const int64_t last = end_ns < until_ns ? end_ns : until_ns, first = begin_ns > from_ns ? begin_ns : from_ns;
  return last > first ? last - first : 0;
}

}  // namespace contrafact::model
