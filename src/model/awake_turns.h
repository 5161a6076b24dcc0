// When the recorder kept idle cores awake (recorder/awake_cores.h): in every other turn of the same length, by the clock of the trace's
// times. Requests that were served in such a turn show what they compute on a busy machine; those of other turns, at the same load, what
// they compute on cores that were idle.
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
  // The turn that these times are in. `both` also where the first one is in the beginning of a turn in which cores are awake: caches
  // may be cold from before.
  Turn of(int64_t begin_ns, int64_t end_ns) const;
  // For how much of that time idle cores were kept awake.
  int64_t awake_ns(int64_t begin_ns, int64_t end_ns) const;

 private:
  int64_t awake_until_ns(int64_t time_ns) const;  // since 0

  int64_t turn_ns_ = 0;
};

}  // namespace contrafact::model
