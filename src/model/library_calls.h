// What the Java library does by itself inside a program's calls: its locks and its workers. They may differ in a
// variant of the program, or in another run of it. Pure.
#pragma once

#include <string_view>

#include "model/trace.h"

namespace contrafact::model {

// True if the innermost frames of `context` show that a park there is for one of java.util.concurrent's locks, not for
// something that another thread must bring about. False where the recording does not hold these frames.
bool is_lock_call(const Trace& trace, ContextId context);

// True if the park is for a semaphore's permit, an object of a bounded pool, or an element or a place in a queue: any
// thread that gives the next one ends the park.
bool is_permit_call(const Trace& trace, ContextId context);

// True for a block of any kind in the method by which a bounded pool hands out its objects (probes_resource.cc).
bool is_resource_call(const Trace& trace, ContextId context);

// Facts whose keys begin so are a trace's first ones (finish.cc).
inline constexpr std::string_view kResourceFact = "resource.";

// True for the name of a pool whose class the recording's configuration names.
bool is_configured_pool(const Trace& trace, std::string_view name);

// The same for queues alone.
bool is_queue_call(const Trace& trace, ContextId context);

// True if a block at `context` is one for which a fork-join pool may let another worker run (ManagedBlocker).
bool is_managed_block(const Trace& trace, ContextId context);

// True for the run of a thread that a pool, LLVM's OpenMP runtime or oneTBB started to have one more worker.
bool is_worker_run(const Trace& trace, const TaskRow& task);

// True for the method in which ThreadLocal makes a thread's own value, when it is asked for first.
bool makes_thread_local(const Trace& trace, MethodId method);

}  // namespace contrafact::model
