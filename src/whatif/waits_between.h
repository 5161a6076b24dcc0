// Where requests wait for what other requests give back, and no lock, permit or worker says so: objects of a pool that the recording does
// not know, say. Simulated loads leave such waits out. A part of load.h.
//
// How often and for how long requests wait says how much of the resource they use: with N servers of a queue, a share p of the comers
// waits, and on average L of them wait at a time, L = p * rho / (1 - rho) if times of use vary as exponential times do and comers come at
// random; half as many if all times are equal. N is not needed.
//
// Pure; O(n log n) in the events.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/facts.h"
#include "whatif/request_template.h"

namespace contrafact::whatif {

struct WaitsBetween {
  model::ContextId place;  // of the program's own, where it is known
  uint64_t waits = 0;
  int64_t waited_ns = 0;
  double used = 0;       // estimated share of the resource under the recorded load ...
  double used_most = 0;  // ... if all times of use are equal
};

// Most waited first. `facts` are those of the run in which requests are tasks (request_run.h); `requests` the drawn ones.
std::vector<WaitsBetween> waits_between(const model::Facts& facts, std::span<const RequestTemplate> requests);

}  // namespace contrafact::whatif
