// A native thread's dealings with locks, conditions, barriers and semaphores as operations of its fiber. A part of
// sim_program.h. Pure.
#pragma once

#include <vector>

#include "whatif/sim_program.h"

namespace contrafact::whatif {

// True for the events that `append_sync_ops` translates.
constexpr bool is_sync(model::EventKind kind) {
  return kind >= model::EventKind::lock_acquire && kind <= model::EventKind::sync_broadcast;
}

struct SyncOptions {
  bool keep_emits = false;  // as for compile_program
  bool in_queue = false;    // what is waited for is a pool's next task: the wait is none of the fiber's
};
// `net_ns`: for an event that closes a wait, the time inside it but outside nested tasks.
// REQUIRES: is_sync(the event's kind)
void append_sync_ops(const SimProgram& program, uint32_t event, int64_t net_ns, SyncOptions options,
                     std::vector<Op>& ops);

}  // namespace contrafact::whatif
