// TimeWindow: the times that a trace may have. Differences and sums of times are computed everywhere; so that none can
// overflow, times far from the trace's first event are not believed. A recording of three weeks still fits.
#pragma once

#include <cstdint>

#include "model/trace.h"

namespace contrafact::model {

struct TimeWindow {
  int64_t low_ns = INT64_MIN;
  int64_t high_ns = INT64_MAX;
};

inline constexpr int64_t kTimeSpanMax = int64_t{1} << 51;  // 26 days, in ns, to either side
// The latest believed time of the first event, 9 years: the clock starts when the machine does.
inline constexpr int64_t kTimeMax = int64_t{1} << 58;

// Around the first event of the first thread that has any.
TimeWindow window_of(const Trace& parts);

// Brings all times into the window, and returns how many events were outside. Does not look at events that the loader
// left out.
uint64_t bound_times(Trace& parts, const TimeWindow& window);

}  // namespace contrafact::model
