// What a service's threads compute for requests besides the requests' own tasks, and what the recorded load added to those. A part of
// load.h.
//
// Pure; linear in the program's operations, and in the recorded times on cores but for a sort.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/awake_turns.h"
#include "model/facts.h"
#include "whatif/request_run.h"
#include "whatif/request_template.h"
#include "whatif/sim_program.h"

namespace contrafact::whatif {

// The requests that can be drawn, in the program that was compiled from the run.
struct DrawnRequests {
  const model::Facts& facts;  // of the run's trace
  const SimProgram& program;
  const std::vector<RunRequest>& served;  // in the recording, also those that cannot be drawn
  const std::vector<RequestTemplate>& all;
  uint32_t recorded_threads;  // further ones of the run are made up
};

// On a core, by all its tasks and threads.
int64_t computed_ns(const DrawnRequests& drawn, const RequestTemplate& one);

// What the thread that handed a request on computed for it, to a pool or to threads that it woke.
struct HandOn {
  int64_t cpu_ns = -1;    // -1: no such thread did
  int64_t refill_ns = 0;  // besides, if its core was idle for long
  bool wakes =
      false;  // it wakes a thread that takes requests from a queue of the program's own, instead of handing out a task
};
struct HandOns {
  std::vector<HandOn> of;  // by drawn request
  uint32_t threads = 0;    // that handed some on
};
HandOns hand_ons(const DrawnRequests& drawn);

// What threads that serve no request computed for each request, beside it: those of a library's own pool, say. 0: of a JVM, whose compiler
// and collector are not a request's; and where it is little.
int64_t beside_ns(const DrawnRequests& drawn, const HandOns& handed);

// How many requests at the beginning a JVM computed longer for than for later ones, because it still compiled: half of them, half of the
// others, and so on, as long as the rest is enough to draw from and its second half computed less than its first.
size_t slow_beginning(const DrawnRequests& drawn);

// What requests computed longer on cores that had been idle, by the turns in which the recorder kept cores awake and those in which it
// did not.
struct MeasuredCold {
  int64_t full_ns = 0;  // ColdCores::full_ns(): with that, requests of both kinds of turns compute the same on average
  double share = 0;     // of what requests computed on cores that were left alone
  double error = 0;     // of that share: two standard errors
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
