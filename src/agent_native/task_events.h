// Events of tasks that the program hands to a runtime or a pool of its own. Tasks are numbered through the process, with
// the runs of its threads.
//
// Thread safety: all of it, on the thread that the events are of. Neither locks nor allocates.
#pragma once

#include <string_view>

#include "agent_native/recording.h"

namespace contrafact::agent_native {

inline constexpr uint32_t kNoTask = UINT32_MAX;
inline constexpr uint32_t kNoPool = UINT32_MAX;

// The first of `count` new numbers.
inline uint32_t new_tasks(uint32_t count = 1) {
  return g_agent.shared->next_task.fetch_add(count, std::memory_order_relaxed);
}

// Where a task is made, and an instruction of what it runs; 0 where that is not known.
struct TaskOrigin {
  uint64_t site = 0, body = 0;
};

inline void append_spawn(Client* client, int64_t time_ns, uint32_t task, uint32_t pool, const TaskOrigin& origin) {
  const Appending appending{client};
  if (!appending) return;
  if (origin.body != 0) Recorder::append_words(client, recorder::kBodyCall, origin.body, origin.body >> 32);
  Recorder::append_addressed(client, recorder::addressed_call(EventKind::task_spawn), time_ns, task, origin.site,
                             origin.site >> 32, pool);
  t_local.last_event_ns = time_ns;
}
// Not handed out yet: it waits for others.
inline void append_create(Client* client, int64_t time_ns, uint32_t task, const TaskOrigin& origin) {
  const Appending appending{client};
  if (!appending) return;
  if (origin.body != 0) Recorder::append_words(client, recorder::kBodyCall, origin.body, origin.body >> 32);
  Recorder::append_addressed(client, recorder::addressed_call(EventKind::task_create), time_ns, task, origin.site,
                             origin.site >> 32);
  t_local.last_event_ns = time_ns;
}
inline void append_depends(Client* client, int64_t time_ns, uint32_t task, uint32_t source) {
  append(client, EventKind::task_depends, time_ns, task, source, static_cast<uint32_t>(format::DependsMode::all));
}
inline void append_start(Client* client, int64_t time_ns, uint32_t task) {
  append(client, EventKind::task_start, time_ns, task);
}
inline void append_end(Client* client, int64_t time_ns, uint32_t task, Outcome outcome = Outcome::normal) {
  append(client, EventKind::task_end, time_ns, task, static_cast<uint32_t>(outcome));
}
inline void append_complete(Client* client, int64_t time_ns, uint32_t task) {
  append(client, EventKind::task_complete, time_ns, task, static_cast<uint32_t>(Outcome::normal));
}
inline void append_wait_begin(Client* client, int64_t time_ns, uint32_t task, uint64_t site) {
  append(client, EventKind::wait_begin, time_ns, task, site, site >> 32);
}
inline void append_wait_end(Client* client, int64_t time_ns, uint32_t task, Outcome outcome = Outcome::normal) {
  append(client, EventKind::wait_end, time_ns, task, static_cast<uint32_t>(outcome));
}
inline void append_worker(Client* client, EventKind kind, int64_t time_ns, uint32_t pool) {
  append(client, kind, time_ns, pool, 0u);
}

}  // namespace contrafact::agent_native
