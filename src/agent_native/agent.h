// The agent in a native process: made by the library's constructor, before main; never destroyed, because the process
// may use it until its very end. Interposed functions have no other way to it than a global.
//
// Threads: `live` is atomic, `shared` is set before it. A forked child has neither, unless children are recorded: then
// it makes its own.
#pragma once

#include <pthread.h>

#include <atomic>
#include <mutex>
#include <string>
#include <unordered_map>

#include "agent_native/options.h"
#include "recorder/recorder.h"

namespace contrafact::agent_native {

// Of one recorded process. Locks: only on slow paths (threads, libraries, processes), while `inside`.
struct Shared {
  Options options;
  std::string agent_file;  // path of this agent
  std::string output;      // of this process
  recorder::Recorder* recorder = nullptr;
  std::mutex mutex;
  std::unordered_map<pthread_t, uint32_t> task_of_thread;  // guarded by mutex
  std::atomic<uint32_t> next_task{0};
  std::atomic<uint32_t> next_thread{1};  // for names; 0 is main
  std::atomic<int32_t> threads{0};       // attached, and not ended
};

struct Agent {
  std::atomic<bool> live{false};
  Shared* shared = nullptr;
  pid_t pid = 0;                 // of the recorded process: differs in children that were not told of
  pthread_key_t ended{};         // its destructor runs when a thread ends
  std::atomic<int> stopping{0};  // the thread (gettid) that ends the recording
  std::atomic<bool> stopped{false};
  std::atomic<bool> restricted{false};  // a thread restricts its system calls: none of the program's makes any for us
  bool orphaned = false;                // the drainer's: it ends the process, because nobody else is left to
};
extern Agent g_agent;

// Ends the recording; at most once, bounded in time (a thread that holds the allocator's lock may have called us from a
// signal's handler), and harmless from any thread at any time.
void end_recording(const char* reason);

// The current thread is about to restrict its own system calls.
void before_restriction();

// One line on standard error.
void say(std::string_view line);

}  // namespace contrafact::agent_native
