// How long a thread ran within a span, where it may have left its core and the virtual machine may have stopped all
// threads. Pure but for a place that is remembered.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/trace.h"

namespace contrafact::analysis {

// The time in which the virtual machine had stopped the threads. `pauses` must outlive it and be in order of time.
class StoppedTime {
 public:
  explicit StoppedTime(const std::vector<model::Pause>& pauses) : pauses_(pauses) {
    int64_t sum_ns = 0, until_ns = INT64_MIN;
    for (const model::Pause& pause : pauses) {
      before_ns_.push_back(sum_ns);
      const int64_t begin_ns = std::max(pause.begin_ns, until_ns);
      if (pause.end_ns <= begin_ns) continue;
      sum_ns += pause.end_ns - begin_ns;
      until_ns = pause.end_ns;
    }
  }

  // Logarithmic in the pauses.
  int64_t within(int64_t begin_ns, int64_t end_ns) const {
    return pauses_.empty() || end_ns <= begin_ns ? 0 : before(end_ns) - before(begin_ns);
  }

 private:
  int64_t before(int64_t time_ns) const {
    const auto after = std::ranges::upper_bound(pauses_, time_ns, {}, &model::Pause::begin_ns);
    if (after == pauses_.begin()) return 0;
    const auto last = static_cast<size_t>(after - pauses_.begin()) - 1;
    const int64_t next_ns = last + 1 < before_ns_.size() ? before_ns_[last + 1] : INT64_MAX;
    const int64_t part_ns = std::max<int64_t>(0, std::min(time_ns, pauses_[last].end_ns) - pauses_[last].begin_ns);
    return std::min(before_ns_[last] + part_ns, next_ns);
  }

  const std::vector<model::Pause>& pauses_;
  std::vector<int64_t> before_ns_;  // stopped before each pause begins
};

// Answers "how much of [begin, end) did this thread run" for spans that only move forward.
class RunningTime {
 public:
  RunningTime(const std::vector<model::CpuGap>& gaps, const StoppedTime& stopped) : gaps_(gaps), stopped_(stopped) {}

  int64_t within(int64_t begin_ns, int64_t end_ns) {
    int64_t off_ns = stopped_.within(begin_ns, end_ns);
    while (at_ < gaps_.size() && gaps_[at_].in_ns <= begin_ns) ++at_;
    for (size_t i = at_; i < gaps_.size() && gaps_[i].out_ns < end_ns; ++i) {
      const int64_t from_ns = std::max(begin_ns, gaps_[i].out_ns), to_ns = std::min(end_ns, gaps_[i].in_ns);
      off_ns += to_ns - from_ns - stopped_.within(from_ns, to_ns);
    }
    return std::max<int64_t>(0, end_ns - begin_ns - off_ns);  // gaps of a damaged trace may overlap
  }

 private:
  const std::vector<model::CpuGap>& gaps_;
  const StoppedTime& stopped_;
  size_t at_ = 0;
};

}  // namespace contrafact::analysis
