// What the machine does while a class of tasks is active: one pass over all threads' events and switches, in order of time.
//
// Words
//  - A *wave* of a class begins when one of its tasks is handed out (or starts, of tasks that nobody hands out, and of
//    those that wait for their time) while none is pending, and ends with the last of them. Tasks that are handed out later belong to
//    the same wave if the thread that hands them out did not wait meanwhile, neither for a result nor blocked for anything but a
//    lock, and the lull in between is no longer than 100 us or than the wave until then. Else tasks that are done faster than they are handed
//    out would each be a wave.
//  - A class is *active* in its waves. Times are without the pauses in which the virtual machine stopped all threads.
//  - A task is *unfinished* while it is handed out, and has not ended, and does not wait for another task's result.
//  - A core is *idle* while fewer threads of the program, and of the virtual machine's own, are on a core or ready for one than
//    there are cores. While a thread is ready and has no core, other programs have them.
//  - The *tail* of a wave lasts from the moment when fewer unfinished tasks than cores are left to its end.
//
// Idle time of cores, while a class is active, is divided by what would have had to be otherwise (IdleCores). Each thread of
// the class that is blocked accounts for one idle core; for all of them if none of its threads works.
//
// Cost: linear in events and switches, with a logarithm of the threads that live at once. Memory: for each class, and
// for each thread that lives at that moment; nothing for a task.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/task_executions.h"
#include "model/trace.h"

namespace contrafact::analysis {

// Idle core time (ns, summed over cores) while a class is active, by reason.
struct IdleCores {
  double few = 0;         // its waves had fewer tasks than there are cores
  double ragged = 0;      // tails that a task of usual length (up to twice the median) explains
  double straggler = 0;   // longer tails: some task took longer than the others
  double queued = 0;      // tasks were handed out and had not started: no worker was free, or it was being woken
  double blocked = 0;     // its threads were blocked
  double waits = 0;       // all its tasks waited for other tasks' results
  double handed_out = 0;  // its tasks came one after another: too few at that moment, more came later
  double all() const { return few + ragged + straggler + queued + blocked + waits + handed_out; }
};

struct ClassActivity {
  int64_t active_ns = 0;
  uint64_t waves = 0;
  // Summed over threads: inside of its tasks, on a core or ready for one; blocked; asleep for another task's result.
  double working_ns = 0, blocked_ns = 0, waiting_ns = 0;
  double used_ns = 0;                    // core time of the program and the virtual machine while the class was active
  uint64_t preemptions = 0, blocks = 0;  // how often threads left their cores then
  uint64_t pauses = 0;
  int64_t paused_ns = 0;
  IdleCores idle;
  uint64_t short_waves = 0;      // of fewer tasks than cores
  uint64_t straggler_waves = 0;  // whose tails were longer than a task of usual length explains
  int64_t tail_longest_ns = 0;
  // The cores' time while the class is active, without what other programs took while a thread was ready.
  double available_ns() const { return used_ns + idle.all(); }
};

struct RunActivity {
  int64_t run_ns = 0;  // without the pauses
  double used_ns = 0;
  uint64_t preemptions = 0, blocks = 0;
  uint64_t pauses = 0;
  int64_t paused_ns = 0;
};

// An equal part of the run.
struct ActivityBin {
  double used_ns = 0;  // core time
  double paused_ns = 0;
  uint32_t preemptions = 0, blocks = 0;
};

struct Activity {
  RunActivity run;
  std::vector<ClassActivity> classes;
  std::vector<ActivityBin> bins;
  std::vector<std::vector<float>> drawn;  // of each class to draw, by bin: the share of the time in which it is active
};

inline constexpr uint32_t kNoClass = UINT32_MAX;

struct ActivityInput {
  const TaskExecutions& executions;
  std::span<const uint32_t> of_task;    // by task: its class, or kNoClass
  std::span<const int64_t> typical_ns;  // by class: the median of its tasks' times on a core
  uint32_t cores = 1;                   // REQUIRES: > 0
  size_t bins = 0;                      // 0: none are wanted
  std::span<const uint32_t> drawn_classes;
};

Activity class_activity(const model::Trace& trace, const ActivityInput& input);

}  // namespace contrafact::analysis
