// When each request came, and with which task or stretch of a thread the work for it begins.
//
// Pure; O(n log n) in the requests.
#pragma once

#include <vector>

#include "model/request_moments.h"
#include "model/request_turns.h"
#include "model/requests.h"

namespace contrafact::model {

// Sets `task`, or else where `first` begins, and `arrived_ns`. REQUIRES: the requests are in the order of requests_in_turn().
void place_arrivals(const RequestMoments& moments, const TurnEvents& turns, std::vector<Request>& requests);

}  // namespace contrafact::model
