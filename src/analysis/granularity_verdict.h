// The verdict on a class of tasks, and the rule that decided it.
//
// Thresholds are shares of the cores' time while the class is active, without what other programs took while a thread of
// this one was ready, held against the share by which repeated runs differ:
//  - fine: handing the tasks out, waking and starting workers for them, and waking who waits for them takes more than that.
//  - coarse: cores are idle for more than that while fewer of its tasks are unfinished than there are cores, because a wave has
//    fewer tasks than cores, or because the last tasks of waves do not end together (class_activity.h says what counts).
//    Not so if that is not the main reason for which cores are idle (blocked threads, waits for other tasks, ... are), or
//    if its tasks are so short that the parts would cost more to hand out than they gain.
//  - unbalanced: the same, but the wave's last tasks run for more than twice as long as its median task takes.
// Of several that hold, the one with the largest share is the verdict. If none holds, the class is right, and the reason says
// what the cores' time goes into instead: a change of the tasks' number or size would not change that.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace contrafact::analysis {

struct ClassGranularity;
struct RunActivity;

enum class GranularityVerdict : uint8_t { unknown, right, fine, coarse, unbalanced };

enum class GranularityReason : uint8_t {
  no_cores,     // unknown: the trace does not say how many cores there were
  runs_others,  // unknown: threads whose work is other tasks
  costs,        // fine
  few,          // coarse: fewer tasks than cores
  ragged,       // coarse: the last tasks of its waves do not end together
  straggler,    // unbalanced
  seldom,       // right: active for less of the run than repeated runs differ by
  busy,         // right: cores are in use
  blocked,      // right: its threads are blocked
  waits,        // right: its tasks wait for other tasks
  queued,       // right: its tasks wait for a worker
  handed_out,   // right: they come one after another
  short_tasks,  // right: cores are idle, but splitting the tasks would cost more than it gains
};

struct Judgement {
  GranularityVerdict verdict = GranularityVerdict::unknown;
  GranularityReason reason = GranularityReason::no_cores;
  double share = 0;  // of the cores' time while it is active: what the reason takes
  double limit = 0;  // what `share` was held against
  double cost_share = 0, coarse_share = 0, unbalanced_share = 0;  // each against the same limit
};

// `cores` 0: not known.
Judgement judge(const ClassGranularity& c, const RunActivity& run, uint32_t cores, double tellable_share);

std::string_view name_of(GranularityVerdict verdict);
std::string_view name_of(GranularityReason reason);
// The rule that decided, in words and numbers. Without a full stop.
std::string rule_text(const ClassGranularity& c, const RunActivity& run, uint32_t cores);

}  // namespace contrafact::analysis
