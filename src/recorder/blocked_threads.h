// BlockedThreads: asks the kernel, from time to time, in which system calls the threads of a process are
// (/proc/PID/task/TID/syscall). This shows waits that call no interposed function: Go, libgomp and others wait by a system
// call instruction of their own. The process notices nothing of it.
//
// Thread safety: one thread at a time. Reads files; does nothing where the kernel does not say.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace contrafact::recorder {

struct BlockedThread {
  uint32_t os_tid = 0;
  uint32_t system_call = 0;
  uint64_t first_argument = 0;
  uint64_t code = 0;  // the address behind the system call instruction
};

class BlockedThreads {
 public:
  explicit BlockedThreads(int32_t pid) : pid_(pid) {}

  // A look takes some 10 us for each thread. So it is at kThreadsMax threads, in turns, and seldom while there is
  // nothing to see.
  static constexpr int64_t kEachNs = 100'000'000, kSeldomNs = 1'600'000'000;
  static constexpr size_t kThreadsMax = 64;
  // Threads that are in a system call now; none if it is not time yet.
  std::vector<BlockedThread> look(int64_t now_ns);
  // Whether the last look has shown anything that is worth the next one.
  void found(bool anything) { wait_ns_ = anything ? kEachNs : std::min(2 * wait_ns_, kSeldomNs); }

 private:
  const int32_t pid_;
  int64_t looked_ns_ = 0;
  int64_t wait_ns_ = kEachNs;
  size_t next_ = 0;  // of the threads as they are listed
};

// A line of that file; none if the thread runs, or is blocked elsewhere.
std::optional<BlockedThread> system_call_in(std::string_view line);

}  // namespace contrafact::recorder
