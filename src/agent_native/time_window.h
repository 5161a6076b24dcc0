// When a program's accesses are observed. Plain data.
#pragma once

#include <algorithm>
#include <cstdint>

namespace contrafact::agent_native {

// In the first window_ns of each period_ns, from first_ns on; always if period_ns is 0.
struct TimeWindow {
  int64_t window_ns = 0, period_ns = 0;
  int64_t first_ns = 0;  // when the first one opens
  bool is_open(int64_t now_ns) const { return period_ns == 0 || since_opening_ns(now_ns) < window_ns; }
  // Until when to rest after a section that began at `begin_ns` in a window and lasted until `end_ns`: long enough to
  // keep the windows' share of the time.
  int64_t rest_until_ns(int64_t begin_ns, int64_t end_ns) const {
    if (period_ns == 0) return 0;
    const int64_t over_ns = end_ns - (begin_ns - since_opening_ns(begin_ns) + window_ns);
    if (over_ns <= 0) return 0;
    return end_ns + static_cast<int64_t>(static_cast<double>(over_ns) * static_cast<double>(period_ns - window_ns) /
                                         static_cast<double>(window_ns));
  }

 private:
  int64_t since_opening_ns(int64_t now_ns) const { return std::max<int64_t>(now_ns - first_ns, 0) % period_ns; }
};

}  // namespace contrafact::agent_native
