// Workers of a service's pools that can serve no request. A pool may lend workers to the server's own business: one accepts
// connections and never comes back, one waits in a poll for what clients send, and another one takes its place when it serves
// a request itself (Jetty does all of that).
#pragma once

#include <cstdint>
#include <vector>

#include "model/requests.h"

namespace contrafact::model {

// By pool. A worker counts if its task began before the first request, lasts until the recording ends, and serves none. Of
// the threads that poll in tasks of one pool, as many count as polled at a time, if they took turns; threads that each poll
// for themselves do so only while they have nothing to serve. Pure; linear in the events but for a sort.
std::vector<uint32_t> kept_workers(const Trace& trace, const Requests& requests);

}  // namespace contrafact::model
