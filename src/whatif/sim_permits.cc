#include "whatif/sim_permits.h"

#include <algorithm>

#include "whatif/least_counts.h"
#include "whatif/sim_program.h"

namespace contrafact::whatif {
namespace {

using model::EventKind;

// Never fewer than were taken and not given back at any time.
void allow_for(uint32_t pool, int64_t count, std::vector<uint32_t>& permits) {
  uint32_t& known = permits[pool];
  const int64_t more = -count - int64_t{known};
  if (known != SimProgram::kPermitsUnknown && more > 0)
    known = static_cast<uint32_t>(std::min<int64_t>(known + more, SimProgram::kPermitsUnknown - 1));
}

}  // namespace

std::vector<uint32_t> find_permits(const model::Trace& trace, const std::vector<model::ThreadUse>& uses) {
  std::vector<uint32_t> permits(trace.pools.size(), SimProgram::kPermitsUnknown);
  bool any = false;
  for (size_t i = 0; i < trace.pools.size(); ++i) {
    if (trace.pools[i].kind != format::PoolKind::permits) continue;
    permits[i] = std::min(trace.pools[i].core_size, SimProgram::kPermitsUnknown - 1);
    any = true;
  }
  if (!any) return {};
  std::vector<CountChange> changes;
  for (uint32_t thread = 0; thread < trace.threads.size(); ++thread) {
    const model::EventRange range = trace.thread_events(model::ThreadId(thread));
    for (uint32_t i = range.begin; i < range.end; ++i) {
      const bool takes = trace.kind[i] == EventKind::permit_take, gives = trace.kind[i] == EventKind::permit_give;
      if ((!takes && !gives) || trace.a[i] >= permits.size()) continue;
      if (uses[thread].role == model::ThreadRole::bystander) permits[trace.a[i]] = SimProgram::kPermitsUnknown;
      changes.push_back({trace.a[i], trace.time_ns[i], takes ? -int64_t{trace.b[i]} : int64_t{trace.b[i]}});
    }
  }
  each_count(changes, [&](uint32_t pool, int64_t count) { allow_for(pool, count, permits); });
  return permits;
}

}  // namespace contrafact::whatif
