// Where in the source something of a trace is, and what it is called. Pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/trace.h"

namespace contrafact::analysis {

// Of where `tasks` were handed out at `context`, or made, if only that shows code of the program.
model::ContextId place_of(const model::Trace& trace, model::ContextId context, std::span<const model::TaskId> tasks);

// "-" where there is none. The second pool of a name has a number: "... worker- #2". Linear in the pools.
std::string pool_name(const model::Trace& trace, model::PoolId pool);
// Of all pools, linear in them.
std::vector<std::string> pool_names(const model::Trace& trace);

}  // namespace contrafact::analysis
