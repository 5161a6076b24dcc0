// Tasks that the program itself names (contrafact/tasks.h).
//
// A task is its number and one, with the process that it is of above that: what a forked child has from its parent means
// nothing there.
#define CONTRAFACT_TASKS_INTERFACE_ONLY
#include "agent_native/real.h"
#include "agent_native/task_events.h"
#include "contrafact/tasks.h"

namespace contrafact::agent_native {
namespace {

constexpr int kProcessShift = 32;

contrafact_task name_of(uint32_t number) {
  return (uint64_t{number} + 1) | static_cast<uint64_t>(g_agent.pid) << kProcessShift;
}

// kNoTask: not of this process.
uint32_t number_of(contrafact_task task) {
  const bool is_ours = task != 0 && task >> kProcessShift == static_cast<uint64_t>(g_agent.pid);
  return is_ours ? static_cast<uint32_t>(task) - 1 : kNoTask;
}

contrafact_pool add_named_pool(const char* name, uint32_t threads) {
  if (!recording()) return kNoPool;
  const Inside inside;
  return g_agent.shared->log->add_pool({name, strnlen(name, 64)}, format::PoolKind::other, threads, threads);
}

// Calls `append(client, now_ns, number)`.
template <typename Append>
void with_task(contrafact_task task, Append append) {
  const uint32_t number = number_of(task);
  Client* const client = number == kNoTask ? nullptr : recording();
  if (client) append(client, g_clock.now_ns(), number);
}

contrafact_task submit_named(contrafact_pool pool, const void* body) {
  Client* const client = recording();
  if (!client) return 0;
  const uint64_t site = CONTRAFACT_SITE;
  const uint32_t number = new_tasks();
  append_stack(client, site);
  append_spawn(client, g_clock.now_ns(), number, pool, {site, reinterpret_cast<uint64_t>(body)});
  return name_of(number);
}

void begin_named(contrafact_task task) {
  with_task(task, append_start);
}

void end_named(contrafact_task task) {
  with_task(task, [](Client* client, int64_t now_ns, uint32_t number) { append_end(client, now_ns, number); });
}

void begin_named_wait(contrafact_task task) {
  const uint64_t site = CONTRAFACT_SITE;
  with_task(task, [&](Client* client, int64_t now_ns, uint32_t number) {
    append_stack(client, site);
    append_wait_begin(client, now_ns, number, site);
  });
}

void end_named_wait(contrafact_task task) {
  with_task(task, [](Client* client, int64_t now_ns, uint32_t number) { append_wait_end(client, now_ns, number); });
}

void drop_named(contrafact_task task) {
  with_task(task, [](Client* client, int64_t now_ns, uint32_t number) {
    append(client, EventKind::task_drop, now_ns, number);
  });
}

}  // namespace
}  // namespace contrafact::agent_native

using namespace contrafact::agent_native;

extern "C" __attribute__((visibility("default"))) const contrafact_tasks contrafact_tasks_of_agent;
const contrafact_tasks contrafact_tasks_of_agent = {
    CONTRAFACT_TASKS_VERSION, add_named_pool, submit_named, begin_named, end_named,
    begin_named_wait,         end_named_wait, drop_named};
