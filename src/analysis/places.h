// Places in the source, and names, of the objects in a trace. Pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/trace.h"

namespace contrafact::analysis {

// The place where `tasks` were handed out, at `context`; or the place where they were made, if only that shows code of
// the program.
model::ContextId place_of(const model::Trace& trace, model::ContextId context, std::span<const model::TaskId> tasks);

// "-" where there is none. A pool that a field refers to is `Feed.POOL (pool-1-thread-)`: the field, and the prefix of
// its threads. Any other pool has its recorded name: its class and its threads' prefix. The second pool of a name has a
// number: "... worker- #2". Linear in the pools and the facts.
std::string pool_name(const model::Trace& trace, model::PoolId pool);
// The names of all pools; costs as much as one name.
std::vector<std::string> pool_names(const model::Trace& trace);

// Where the pool was made; none: not known.
model::ContextId pool_maker(const model::Trace& trace, model::PoolId pool);

}  // namespace contrafact::analysis
