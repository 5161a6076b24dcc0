#include "agent_native/task_shim.h"

#include "agent_native/real.h"
#include "agent_native/task_events.h"

namespace contrafact::agent_native {
namespace {

thread_local constinit bool t_is_quiet __attribute__((tls_model("initial-exec"))) = false;

template <typename Append>
void with_client(Append append) {
  if (Client* const client = recording()) append(client, g_clock.now_ns());
}

bool is_recording_tasks() {
  return recording() != nullptr;
}

uint32_t new_shim_task() {
  return new_tasks();
}

uint32_t add_fork_join_pool(const char* name, uint32_t workers) {
  return g_agent.shared->log->add_pool(name, format::PoolKind::fork_join, workers, workers);
}

void spawn_shim_task(uint32_t task, uint32_t pool, uint64_t site, uint64_t body) {
  with_client([&](Client* client, int64_t now_ns) { append_spawn(client, now_ns, task, pool, {site, body}); });
}

void depend_shim_task(uint32_t task, uint32_t source) {
  with_client([&](Client* client, int64_t now_ns) { append_depends(client, now_ns, task, source); });
}

void start_shim_task(uint32_t task) {
  with_client([&](Client* client, int64_t now_ns) { append_start(client, now_ns, task); });
}

void end_shim_task(uint32_t task, bool failed) {
  with_client([&](Client* client, int64_t now_ns) {
    append_end(client, now_ns, task, failed ? Outcome::exception : Outcome::normal);
  });
}

void drop_shim_task(uint32_t task) {
  with_client([&](Client* client, int64_t now_ns) { append(client, EventKind::task_drop, now_ns, task); });
}

void begin_shim_wait(uint32_t task, uint64_t site) {
  with_client([&](Client* client, int64_t now_ns) { append_wait_begin(client, now_ns, task, site); });
}

void end_shim_wait(uint32_t task) {
  with_client([&](Client* client, int64_t now_ns) {
    append_complete(client, now_ns, task);
    append_wait_end(client, now_ns, task);
  });
}

void count_unseen(uint64_t tasks) {
  if (recording()) g_agent.shared->log->set_count("tasks.", "unseen", tasks);
}

}  // namespace

bool be_in_runtime(bool in) {
  const bool before = t_is_quiet;
  if (before == in || (in && t_local.inside)) return before;
  t_is_quiet = in;
  t_local.inside = in;
  return before;
}

}  // namespace contrafact::agent_native

using namespace contrafact::agent_native;

extern "C" __attribute__((visibility("default"))) const TaskShim contrafact_task_shim_of_agent;
const TaskShim contrafact_task_shim_of_agent = {
    is_recording_tasks, new_shim_task,  add_fork_join_pool, spawn_shim_task, depend_shim_task, start_shim_task,
    end_shim_task,      drop_shim_task, begin_shim_wait,    end_shim_wait,   be_in_runtime,    count_unseen};
