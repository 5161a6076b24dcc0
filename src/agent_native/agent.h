// The agent in a native process: made by the library's constructor, before main; never destroyed, because the process
// may use it until its very end. Interposed functions have no other way to it than a global.
//
// It lives in somebody else's process. After its constructor it has no thread and no file descriptor, and makes no
// system call but in exec and, with read and write sets, where docs/native.md says. Code that async-signal-safe
// functions reach neither locks nor allocates, and takes 2 KiB of the stack at most.
//
// Threads: `live` is atomic, `shared` is set before it. A forked child has neither, unless children are recorded: then
// it makes its own.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <string>

#include "agent_native/options.h"
#include "recorder/recorder.h"
#include "recorder/shared_log.h"

namespace contrafact::agent_native {

// Of one recorded process.
struct Shared {
  Options options;
  std::string agent_file;  // path of this agent
  recorder::SharedLog* log = nullptr;
  // Entries for the environment of a program that this process becomes (exec).
  std::string preload_entry, options_entry;
  std::string restricted_options_entry;  // where it may not make every system call
  std::atomic<uint32_t> next_task{0};
  std::atomic<uint32_t> next_thread{1};  // for names; 0 is main
};

struct Agent {
  std::atomic<bool> live{false};
  Shared* shared = nullptr;
  pid_t pid = 0;                          // of the recorded process
  pthread_key_t ended{};                  // its destructor runs when a thread ends
  std::atomic<uint32_t> restrictions{0};  // of system calls, by the program's threads
};
extern Agent g_agent;

// If so, not even exec makes a system call for us.
inline bool is_restricted() {
  return g_agent.restrictions.load(std::memory_order_relaxed) != 0;
}

// 1 in the process that is recorded. The kernel clears the page in a forked child, however that was made: the child
// shares the buffers and must not append to them. A page of the library's own memory: asking is one load.
struct alignas(4096) OriginalPage {
  std::atomic<uint32_t> is_original{0};
};
extern constinit OriginalPage g_original;

// How deep the thread is in children made by vfork, which run on their parents' threads and memory (processes.cc).
extern "C" thread_local constinit uint32_t contrafact_vfork_depth
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

// Before `main`: memory for exec (processes.cc).
void reserve_for_exec();

// Ends the recording of a process that exits; at most once, harmless from any thread at any time.
void end_recording();

// A system call that the program makes: from right before it to right after it (restrictions.cc).
class ProgramCall {
 public:
  explicit ProgramCall(const long* call);  // its number and six arguments
  ProgramCall(const ProgramCall&) = delete;
  ProgramCall& operator=(const ProgramCall&) = delete;
  // Preserves errno.
  void returned(long result);

 private:
  void begin_without_clock();
  void end_without_clock(bool failed);

  const long* const call_;
  bool restricts_ = false, takes_clock_ = false;
  bool was_inside_ = false;
  recorder::Client* client_ = nullptr;
  int64_t last_ns_ = 0;
};

// The current thread's id in the kernel, found without asking the kernel.
uint32_t own_thread_id();

// Whether the environment has a variable of that name with a value.
bool has_variable(std::string_view name);

// One line on standard error. In a signal's handler, too.
void say(std::string_view line);

}  // namespace contrafact::agent_native
