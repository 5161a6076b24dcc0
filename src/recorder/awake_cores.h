// Keeps idle cores awake, in turns: half a second awake, half a second left alone. What a program computes in turns of the first kind is
// what it computes on a busy machine: its core has not slept, and on a virtual machine no other has used the core's caches. The
// difference between the turns is what idle cores cost it (model/awake_turns.h).
//
// A thread for each core that this process may use computes nothing at the lowest priority there is (SCHED_IDLE, nice 19): whoever else
// wants the core gets it at once. Linux shares cores by groups first, though. So they stop for good where a child of this
// process is in a group of its own (a control group, or a session where the kernel groups by sessions).
//
// Not thread-safe. Its threads block all signals.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

namespace contrafact::recorder {

// The fact that says so: the length of a turn in ns.
inline constexpr std::string_view kAwakeFact = "cores.awake_ns";

class AwakeCores {
 public:
  // Turns are numbered by CLOCK_MONOTONIC, those with odd numbers are awake.
  static constexpr int64_t kTurnNs = 500'000'000;

  AwakeCores();
  ~AwakeCores();  // at once
  AwakeCores(const AwakeCores&) = delete;
  AwakeCores& operator=(const AwakeCores&) = delete;

  // Whether a thread runs on each core at its priority; false where the system refuses that: then no core is kept awake.
  bool began() const { return began_; }
  // Whether they had to stop because of a child's group.
  bool stopped() const { return stopped_; }

 private:
  void keep_awake(bool looks_at_children);
  // Until a turn in which cores are awake; false: it is over.
  bool wait_for_turn();
  void end();

  std::mutex mutex_;
  std::condition_variable ends_;
  std::atomic<bool> over_ = false;  // written under mutex_
  std::atomic<bool> stopped_ = false;
  bool began_ = true;
  std::vector<std::thread> threads_;
};

}  // namespace contrafact::recorder
