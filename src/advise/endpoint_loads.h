// A service's endpoints side by side: how many of its requests each has, how long its answers took and take, and what it uses of the
// machine and of what limits the service. Pure; O(n log n) in the requests.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "advise/service.h"
#include "model/requests.h"
#include "whatif/load_templates.h"

namespace contrafact::advise {

struct EndpointLoad {
  uint32_t endpoint = 0;  // position in Requests::endpoints
  uint32_t requests = 0;  // that are drawn
  double share = 0;       // of all that are
  EndpointAnswers measured;
  EndpointAnswers recorded;   // simulated, at the recorded load
  EndpointAnswers saturated;  // simulated
  // Of a request, on average, as recorded: on a core; asleep or doing I/O; and the rest of its answer, in which it waits for a
  // worker, a lock, a permit or a core (0 where its tasks work side by side for longer than the answer takes).
  int64_t core_ns = 0, pause_ns = 0, wait_ns = 0;
  // Of the recorded use of what limits the service; none: it is not known, or nothing limits it.
  std::optional<double> of_limit;
};

// Positions in Requests::endpoints, by drawn request: for ServiceOptions::endpoints.
std::vector<uint32_t> drawn_endpoints(const whatif::LoadTemplates& drawn, const model::Requests& requests);

// Those with requests that are drawn, what most ask for first. `recorded` and `saturation`: of one program.
std::vector<EndpointLoad> endpoint_loads(const whatif::LoadTemplates& drawn, const model::Requests& requests,
                                         const LoadPoint& recorded, const Saturation& saturation);

}  // namespace contrafact::advise
