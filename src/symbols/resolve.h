// resolve: gives a native trace's addresses their names. A context at an address becomes a chain: the function that a
// person would name (the innermost one that is not the C++ library's, inlined there), and those that it is inlined into
// as its callers. Locks that are variables get those variables' names, threads the names that they gave themselves.
//
// Thread safety: changes the trace that it is given. Linear in the events; nothing is done for a trace without
// addresses. The trace's notes list the names that could not be found.
#pragma once

#include "model/trace.h"

namespace contrafact::symbols {

void resolve(model::Trace& trace);

}  // namespace contrafact::symbols
