// When the recorder kept idle cores awake (recorder/awake_cores.h): in every other turn of the same length, by the clock of the trace's
// times. Requests that were served in such a turn show what they compute on a busy machine; those of other turns, at the same load, what
// they compute on cores that were idle.
//
// Where they were kept awake for a part of the recording only, nothing is known of turns behind that.
//
// Pure; O(1).
#pragma once

#include <cstdint>

#include "model/trace.h"

namespace contrafact::model {

enum class Turn : uint8_t { awake, left_alone, both };

class AwakeTurns {
 public:
  AwakeTurns() = default;  // there are none
  explicit AwakeTurns(const Trace& trace);

  bool any() const { return turn_ns_ > 0; }
  // Behind this time no core was kept awake, as far as is known; INT64_MAX: they were to the end.
  int64_t until_ns() const { return until_ns_; }
  // The turn that these times are in. `both` also where the first one is in the beginning of a turn in which cores are awake: caches
  // may be cold from before. And behind until_ns(): other turns' requests need not be like those.
  Turn of(int64_t begin_ns, int64_t end_ns) const;
  // For how much of that time idle cores were kept awake.
  int64_t awake_ns(int64_t begin_ns, int64_t end_ns) const;

 private:
  int64_t awake_before_ns(int64_t time_ns) const;  // since 0

  int64_t turn_ns_ = 0;
  int64_t until_ns_ = INT64_MAX;
};

}  // namespace contrafact::model
