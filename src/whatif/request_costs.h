// What a service's threads compute for requests besides the requests' own tasks, and for how many requests a JVM still compiled. A part of
// load.h.
//
// Pure; linear in the program's operations, and in the recorded times on cores but for a sort.
#pragma once

#include <cstdint>
#include <vector>

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
  const std::vector<RequestTemplate>& outside;  // that cannot be drawn, as what answers them is not known
  uint32_t recorded_threads;                    // further ones of the run are made up
};

const model::TaskRow& root_of(const DrawnRequests& drawn, const RequestTemplate& one);

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

}  // namespace contrafact::whatif
