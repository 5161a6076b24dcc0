// The identities that a trace speaks of. Each is an index into one table of the trace, dense from 0.
#pragma once

#include "base/strong_id.h"

namespace contrafact::format {

using ThreadId = base::StrongId<struct ThreadTag>;    // a platform or virtual thread; not the thread id of the system
using TaskId = base::StrongId<struct TaskTag>;        // a unit given to a pool, a future's stage, or a thread's own run
using PoolId = base::StrongId<struct PoolTag>;        // an executor
using MethodId = base::StrongId<struct MethodTag>;    // a method, with its class, source file and first line
using ContextId = base::StrongId<struct ContextTag>;  // a node of the calling-context tree: (parent, method, line)
using LockId = base::StrongId<struct LockTag>;  // a mutex, condition variable, ... of a native program, by its address
using AccessSetId = base::StrongId<struct AccessSetTag>;    // reads and writes of a piece of code (access_set.h)
using ConnectionId = base::StrongId<struct ConnectionTag>;  // a socket's descriptor, from its making to its closing
using EndpointId = base::StrongId<struct EndpointTag>;      // what requests ask for, by its name
using StringId = base::StrongId<struct StringTag>;

}  // namespace contrafact::format
