// What a task's execution path is told by: the methods that it enters, and where it spawns and waits.
#pragma once

#include <set>
#include <utility>

#include "whatif/improvement.h"

namespace contrafact::improve {

using PathKey = std::pair<whatif::PathCondition::Kind, uint32_t>;  // and the id of its method or context

// Of what the task does itself, without the tasks that run inside it. Linear in its events.
std::set<PathKey> path_keys(const model::Trace& trace, model::TaskId task);

}  // namespace contrafact::improve
