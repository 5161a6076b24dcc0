// Keeps idle cores awake, in turns: half a second awake, half a second left alone. What a program computes in turns of the first kind is
// what it computes on a busy machine: its core has not slept, and on a virtual machine no other has used the core's caches. The
// difference between the turns is what idle cores cost it (model/awake_turns.h).
//
// A thread for each core that this process may use computes nothing at the lowest priority there is (SCHED_IDLE, nice 19): whoever else
// wants the core gets it at once. Linux shares cores by groups first, though. So they stop for good where a process that this one has
// started, or one of those has, is in a group of its own (scheduling_groups.h).
//
// Not thread-safe. Its threads block all signals. They end by themselves when they next get their cores, which may be after this object.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "recorder/awake_report.h"

namespace contrafact::recorder {

class AwakeCores {
 public:
  // Turns are numbered by CLOCK_MONOTONIC, those with odd numbers are awake.
  static constexpr int64_t kTurnNs = 500'000'000;

  // The error says why no core is kept awake. `proc`: where the kernel's folder of processes is.
  static base::Result<std::unique_ptr<AwakeCores>> start(const std::string& proc = "/proc");
  ~AwakeCores();  // at once, whatever else computes
  AwakeCores(const AwakeCores&) = delete;
  AwakeCores& operator=(const AwakeCores&) = delete;

  // Whether they had to stop because of a group.
  bool stopped() const;
  std::shared_ptr<const AwakeReport> report() const;

 private:
  class Shared;
  enum class Duty : uint8_t;
  struct Seat;
  explicit AwakeCores(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}

  const std::shared_ptr<Shared> shared_;  // with the threads
};

}  // namespace contrafact::recorder
