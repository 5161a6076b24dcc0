// What each request asks for. Where the recording has `endpoint` events, the first of the highest rank (format::NamedBy) among
// those of the request's threads and tasks. Where it has none at all, the code that handles the request names it:
//
// The methods of the program's own that a request passes through are read, outermost first, from its task's body, from the places at
// which it hands out, waits for results, sleeps, does I/O or takes locks, and from the bodies of its tasks. (Not from places at
// which a thread waits, or is recorded to wait, only at times: whether a request was held up there is no property of its endpoint. Of a
// native program's places the innermost of its functions alone, for callers are recorded only where a thread was held up.) The
// first one through which neither nearly all requests pass nor only a few is its name; if there is none, the first of all
// requests that is not what the thread or the task begins with.
//
// Pure; linear in the events, and O(n log n) in the requests.
#pragma once

#include "model/requests.h"
#include "model/trace.h"

namespace contrafact::model {

// What requests are called of which nothing is known while something is of others.
inline constexpr std::string_view kUnknownEndpoint = "(not known)";

void name_endpoints(const Trace& trace, Requests& requests);

}  // namespace contrafact::model
