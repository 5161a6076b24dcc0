// Parallel streams on a larger pool. A stream's tasks halve its source until a part is no more than the even share of a
// quarter of a worker (java.util.stream.AbstractTask), so a pool with twice the workers halves once more. A recording
// shows these smaller parts only where the program waited: a part with several waits holds several elements, and is cut
// between these waits. Parts without waits stay whole: their cores are shared anyway.
//
// Pure; linear in the events.
#pragma once

#include <optional>
#include <span>

#include "model/trace.h"
#include "whatif/variant.h"

namespace contrafact::whatif {

// How many more times a stream's parts are halved on `after` workers than on `before`. REQUIRES: neither is 0.
uint32_t more_halvings(uint32_t before, uint32_t after);

// The recorded run with the parts that its streams would have on fork-join pools of these sizes. The added tasks have
// the last numbers. None: the run has no other parts, or the pools are no larger.
std::optional<model::Trace> with_stream_parts(const model::Trace& trace, std::span<const PoolSize> sizes);

}  // namespace contrafact::whatif
