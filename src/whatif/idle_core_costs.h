// What requests computed longer in the recording because their core had been idle. Two ways to know it: by turns in which the recorder kept
// cores awake, or from the requests that found a core idle and those that did not. A part of load.h.
//
// Pure; linear in the requests' operations but for sorts.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/awake_turns.h"
#include "whatif/request_costs.h"

namespace contrafact::whatif {

inline constexpr double kEstimateError = 0.5;  // of what idle cores are estimated to cost

// What requests computed longer on cores that had been idle, by the turns in which the recorder kept cores awake and those in which it
// did not.
struct MeasuredCold {
  int64_t full_ns = 0;  // ColdCores::full_ns(): with that, requests of both kinds of turns compute the same on average
  double share = 0;     // of what requests computed on cores that were left alone
  double error =
      0;  // of that share: two standard errors; of requests behind AwakeTurns::until_ns() as much as of an estimate
};
// Nothing where too few requests were served in turns of either kind. `awake` are those of the recording. REQUIRES: the program's
// LeftOut::keeps_after_idle
std::optional<MeasuredCold> measured_cold(const DrawnRequests& drawn, const model::AwakeTurns& awake);

struct ColdStarts {
  // What a request computes more if the core was idle before it (caches are cold, as is the core of a virtual machine that slept).
  int64_t ns = 0;
  std::vector<double> warm_share;  // by drawn request: of its computing, what is left without that; empty: all
};
ColdStarts cold_starts_of(const DrawnRequests& drawn);

}  // namespace contrafact::whatif
