// What computing took longer in the recording because its core had been idle before: caches were cold. At a moderate load most
// waits leave a core idle; at saturation none does.
//
// The recorder measures it for some memory of its own (fact `core.refill_ns`, docs/format.md); how much of that a program's own
// computing loses is an estimate, unless the recorder kept cores awake in turns (awake_turns.h): then that is measured, too.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "model/trace.h"

namespace contrafact::model {

class ColdCores {
 public:
  ColdCores() = default;  // nothing is known: no computing takes longer
  explicit ColdCores(const Trace& trace);

  bool any() const { return full_ns() > 0; }
  // After the longest idle time that was measured.
  int64_t full_ns() const { return points_.empty() ? 0 : points_.back().second; }
  // Of full_ns(), what is lost after that idle time: 0 to 1. Between measured times in proportion.
  double share(int64_t idle_ns) const;
  // With so much after the longest time, and after shorter ones in proportion. If nothing was measured of those, half a millisecond of
  // idle time makes caches as cold as they get.
  ColdCores with_full_ns(int64_t full_ns) const;
  static constexpr int64_t kFullNsMax = 10'000'000;  // more than this is no filling of caches

 private:
  std::vector<std::pair<int64_t, int64_t>> points_;  // idle and lost, in ns, both growing
};

// A thread got a core that had been idle.
struct ColdStart {
  int64_t time_ns;
  int64_t idle_ns;
};

// By thread, in the order of time: where it came back from a sleep. A woken thread gets an idle core if there is one: with so many
// threads on cores, the one that was used last by one more. (Of a program with a single core that is exact.) Empty where the kernel did not
// report switches. While the recorder kept cores awake none was idle. Linear but for sorting.
std::vector<std::vector<ColdStart>> cold_starts(const Trace& trace);

}  // namespace contrafact::model
