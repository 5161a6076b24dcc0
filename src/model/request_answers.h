// Who answers a request where what began it does not lead to the answer: a task that was pending when the request came and took it
// up, or a stretch of the thread that sends the answer.
//
// Pure; O(n log n) in the requests and the times at which threads left their cores, linear in the events of those stretches and in the
// tasks that are handed out, one by another, while a request is served.
#pragma once

#include <vector>

#include "model/hand_outs.h"
#include "model/request_moments.h"
#include "model/request_stretches.h"
#include "model/requests.h"

namespace contrafact::model {

// Sets `then`, or `second` and `is_resumed`. REQUIRES: the requests' tasks and first stretches are known.
void place_answers(const RequestMoments& moments, const StretchEnds& ends, const HandOuts& hand_outs,
                   std::vector<Request>& requests);

}  // namespace contrafact::model
