// Who works for a request: of an event, the request that it is done for, as far as the requests' tasks and stretches are known.
//
// It is that in one of whose stretches the event lies. Else the task around it decides: a request's own task, or one that was handed
// out for it, however many tasks lie between. (A thread that waits in one request's task may run another's meanwhile.) Where that leads
// to none, it is the request in whose task it lies, further out.
//
// A question is O(log n) in the requests, and follows each task once. Not thread-safe: it remembers what it found.
#pragma once

#include <cstdint>
#include <vector>

#include "model/event_parts.h"
#include "model/hand_outs.h"
#include "model/requests.h"
#include "model/trace.h"

namespace contrafact::model {

class RequestWork {
 public:
  static constexpr uint32_t kNoRequest = OwnedParts::kNobody;

  // `trace` and `hand_outs` must outlive it, the requests need not. `hand_outs` may be noted later, but before the first question.
  RequestWork(const Trace& trace, const HandOuts& hand_outs, const std::vector<Request>& requests);

  // The request's position; kNoRequest: none. `task` is the innermost one around the event.
  uint32_t request_of(EventIndex event, TaskId task);

 private:
  static constexpr uint32_t kNotAsked = UINT32_MAX - 1;

  uint32_t request_of(TaskId task);

  const HandOuts& hand_outs_;
  OwnedParts stretches_, tasks_;   // of the requests
  std::vector<uint32_t> of_task_;  // by task: its request
  std::vector<uint32_t> chain_;
};

}  // namespace contrafact::model
