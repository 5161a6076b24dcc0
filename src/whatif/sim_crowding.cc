#include "whatif/sim_crowding.h"

#include <algorithm>
#include <limits>

namespace contrafact::whatif {
namespace {

// From the kernel's switches: a thread has a core between its first event and its last, but for its gaps.
std::vector<RunningChange> stints_of(const model::Trace& trace, const std::vector<model::ThreadUse>& uses) {
  std::vector<RunningChange> changes;
  for (uint32_t i = 0; i < trace.threads.size() && i < trace.cpu.size(); ++i) {
    const model::EventRange range = trace.thread_events(model::ThreadId(i));
    if (uses[i].role == model::ThreadRole::bystander || range.size() == 0) continue;
    const int64_t begin_ns = trace.time_ns[range.begin], end_ns = trace.time_ns[range.end - 1];
    changes.push_back({begin_ns, 1});
    changes.push_back({end_ns, -1});
    for (const model::CpuGap& gap : trace.cpu[i]) {
      const int64_t out_ns = std::max(gap.out_ns, begin_ns), in_ns = std::min(gap.in_ns, end_ns);
      if (in_ns <= out_ns) continue;
      changes.push_back({out_ns, -1});
      changes.push_back({in_ns, 1});
    }
  }
  return changes;
}

std::vector<RunningChange> sorted(std::vector<RunningChange> changes) {
  std::ranges::sort(changes, {}, &RunningChange::time_ns);
  return changes;
}

}  // namespace

Crowding::Crowding(const model::Trace& trace, const std::vector<model::ThreadUse>& uses, uint32_t cores)
    : Crowding(cores == 0 ? std::vector<RunningChange>() : sorted(stints_of(trace, uses)), cores) {}

Crowding Crowding::with_vm(const model::Trace& trace, const std::vector<model::ThreadUse>& uses, uint32_t cores) {
  std::vector<RunningChange> changes = stints_of(trace, uses);
  for (const model::VmStint& stint : trace.vm_stints) {
    if (stint.end_ns <= stint.begin_ns) continue;
    changes.push_back({stint.begin_ns, 1});
    changes.push_back({stint.end_ns, -1});
  }
  return {sorted(std::move(changes)), cores};
}

Crowding::Crowding(const std::vector<RunningChange>& changes, uint32_t cores) {
  if (cores == 0) return;
  int64_t running = 0, since_ns = 0, total_ns = 0;
  for (const RunningChange& change : changes) {
    const bool was_crowded = running >= cores;
    running += change.by;
    const bool is_crowded = running >= cores;
    if (is_crowded == was_crowded) continue;
    if (was_crowded && change.time_ns > since_ns) {
      stretches_.push_back({since_ns, change.time_ns, total_ns});
      total_ns += change.time_ns - since_ns;
    }
    since_ns = change.time_ns;
  }
  if (running >= cores) stretches_.push_back({since_ns, std::numeric_limits<int64_t>::max(), total_ns});
}

int64_t Crowding::until(int64_t time_ns) const {
  const auto after = std::ranges::upper_bound(stretches_, time_ns, {}, &Stretch::begin_ns);
  if (after == stretches_.begin()) return 0;
  const Stretch& stretch = *(after - 1);
  return stretch.before_ns + std::min(time_ns, stretch.end_ns) - stretch.begin_ns;
}

}  // namespace contrafact::whatif
