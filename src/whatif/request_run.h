// The recorded run of a service with each request as a task of its own: the stretch of a thread that serves a request
// becomes a task of a pool that these threads make up. Requests that a pool's task serves alone keep that task.
//
// The pool of a stretch is that of the task around it. Outside of such tasks, threads with like names (of a native program: that run the
// same function) make one pool, with as many workers as there were threads; if each thread served one connection that came just before
// it began, the pool has a thread for each request. A request that two threads serve in turn becomes two tasks, of which the first hands
// out the second; if it waits in between while no thread is busy with it, a task of a pool without bounds sleeps between the two.
//
// Work that requests hand to other threads of the program's own and wait for (handed_work.h) becomes tasks of a pool that those threads
// make up. Bounded resources that a native program made itself (own_resources.h) become pools of permits.
//
// Pure; linear in the events but for sorts.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/facts.h"
#include "model/requests.h"
#include "model/trace.h"
#include "whatif/own_resources.h"

namespace contrafact::whatif {

struct RunRequest {
  model::TaskId root;
  uint32_t answered =
      UINT32_MAX;  // event of RequestRun::trace, model::end_of_send(); UINT32_MAX: where `root` completes
  uint32_t connection = UINT32_MAX;
  int64_t arrived_ns = 0;
  int64_t received_ns = INT64_MIN;  // INT64_MIN: no event says when
  int64_t answered_ns = 0;
};

struct RequestRun {
  model::Trace trace;                // recorded tasks, threads and pools keep their numbers, new ones follow
  std::vector<RunRequest> requests;  // sorted by arrived_ns
  // Resources of the program's own are pools of `trace` from this number on.
  uint32_t first_resource = 0;
  std::vector<OwnResource> resources;
  std::string loop_workers;  // who does what event loops wait for (loop_work.h); empty: nobody is known to
};

// `requests` are those of `facts.trace()`.
base::Result<RequestRun> with_request_tasks(const model::Facts& facts, const model::Requests& requests);

}  // namespace contrafact::whatif
