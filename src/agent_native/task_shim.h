// How a library of ours that stands in front of a task runtime's functions tells the agent of its tasks. Such a library is
// preloaded behind the agent where the program has that runtime, and only there: its functions need the runtime's. Both
// are of one build.
//
// Every function does nothing where the thread is not recorded; numbers are of tasks (task_events.h).
#pragma once

#include <cstdint>

namespace contrafact::agent_native {

// In the agent: whether the current thread is in a runtime, and so unrecorded; from now on it is, or is not.
bool be_in_runtime(bool in);

inline constexpr char kTaskShimSymbol[] = "contrafact_task_shim_of_agent";

struct TaskShim {
  // Numbers are worth having: this process and thread are recorded.
  bool (*is_recording)();
  uint32_t (*new_task)();
  uint32_t (*fork_join_pool)(const char* name, uint32_t workers);
  void (*spawn)(uint32_t task, uint32_t pool, uint64_t site, uint64_t body);
  void (*depends)(uint32_t task, uint32_t source);
  void (*start)(uint32_t task);
  void (*end)(uint32_t task, bool failed);
  void (*drop)(uint32_t task);
  void (*wait_begin)(uint32_t task, uint64_t site);
  // The task is a future, which is complete now.
  void (*wait_end)(uint32_t task);
  // The thread is in the runtime, whose own locks and waits are not the program's; or not any more. Returns what it was.
  bool (*be_quiet)(bool quiet);
  void (*unseen)(uint64_t tasks);  // so many were not recorded: too many were pending
};

}  // namespace contrafact::agent_native
