#include "report/profile.h"

#include <algorithm>

#include "base/check.h"
#include "table/value_text.h"

namespace contrafact::report {

Series resample(const RunProfile& run, int64_t span_ns, size_t bins) {
  CHECK(bins > 0);
  Series series;
  if (span_ns <= 0 || run.duration_ns <= 0) return series;
  double width_ns = static_cast<double>(span_ns) / static_cast<double>(bins);
  double end_ns = static_cast<double>(run.duration_ns);
  size_t step = 0;
  auto step_end = [&](size_t s) {
    return s + 1 < run.steps.size() ? std::min(static_cast<double>(run.steps[s + 1].time_ns), end_ns) : end_ns;
  };
  for (size_t bin = 0; bin < bins; ++bin) {
    double from_ns = width_ns * static_cast<double>(bin);
    double to_ns = std::min(from_ns + width_ns, end_ns);
    // A part of which the run fills less than a thousandth is beyond its end: rounding, not time.
    if (to_ns - from_ns < width_ns / 1000) break;
    double active = 0, waiting = 0, unoccupied = 0;
    while (step < run.steps.size() && step_end(step) <= from_ns) ++step;
    for (size_t s = step; s < run.steps.size() && static_cast<double>(run.steps[s].time_ns) < to_ns; ++s) {
      double overlap_ns = std::min(step_end(s), to_ns) - std::max(static_cast<double>(run.steps[s].time_ns), from_ns);
      if (overlap_ns <= 0) continue;
      active += overlap_ns * run.steps[s].active;
      waiting += overlap_ns * run.steps[s].waiting;
      unoccupied += overlap_ns * run.steps[s].unoccupied;
    }
    series.active.push_back(active / (to_ns - from_ns));
    series.waiting.push_back(waiting / (to_ns - from_ns));
    series.unoccupied.push_back(unoccupied / (to_ns - from_ns));
  }
  return series;
}

}  // namespace contrafact::report
