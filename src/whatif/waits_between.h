// Where requests wait for what other requests give back, and no lock, permit or worker says so: objects of a pool that the recording does
// not know, say. Simulated loads leave such waits out. A part of load.h.
//
// How often and for how long requests wait says how much of the resource they use: with N servers of a queue, a share p of the comers
// waits, and on average L of them wait at a time, L = p * rho / (1 - rho) if times of use vary as exponential times do and comers come at
// random; half as many if all times are equal. N is not needed.
//
// What a task waited for before it received its request is no wait of the request, nor what it waited for before it received another one
// than that which handed it out: Jetty's reserved threads idle in one until a connection is handed to them.
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
  double share = 0;  // of the requests
  // Requests that use all of it up, estimated: if times of use vary as exponential times do, and if all are equal.
  double per_second = 0, low_per_second = 0;
  // Each that gives back lets one go on. Else what they wait for may be something that all of them get at once, as a result that one of
  // them computes, of which more requests need no more.
  bool one_by_one = false;
};

// The scarcest first; those where few requests wait are left out. `facts` are those of the run in which requests are tasks
// (request_run.h); `requests` the drawn ones.
std::vector<WaitsBetween> waits_between(const model::Facts& facts, std::span<const RequestTemplate> requests);

}  // namespace contrafact::whatif
