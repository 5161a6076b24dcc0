#include "whatif/sim_wakes.h"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

#include "model/library_calls.h"
#include "model/task_walk.h"
#include "whatif/sim_crowding.h"
#include "whatif/sim_latency.h"

namespace contrafact::whatif {

using model::BlockReason;
using model::EventKind;
using model::FrameKind;
using model::TaskWalk;
using model::ThreadRole;
using model::Trace;

namespace {

struct Wake {
  uint32_t target;
  int64_t time_ns;
  uint32_t event;
};

class Groups {
 public:
  explicit Groups(const Trace& trace) : trace_(trace) {}

  // Adds the latest pair, whose block `walk` has just closed.
  void add(Tokens& tokens, uint32_t thread, const TaskWalk& walk) {
    const uint32_t place = trace_.b[walk.closed().begin.index()];
    const auto [kind, is_new_place] = is_permit_.try_emplace(place, false);
    if (is_new_place) kind->second = model::is_permit_call(trace_, model::ContextId(place));
    tokens.group.push_back(UINT32_MAX);
    if (!kind->second) return;
    const auto [known, is_new] = numbers_.try_emplace({thread, walk.task().value, place}, tokens.groups.size());
    if (is_new) tokens.groups.emplace_back();
    tokens.group.back() = static_cast<uint32_t>(known->second);
    tokens.groups[known->second].push_back(tokens.count - 1);
  }

 private:
  const Trace& trace_;
  std::map<uint32_t, bool> is_permit_;                 // by place
  std::map<std::array<uint32_t, 3>, size_t> numbers_;  // by thread, task and place
};

// Which thread held a lock is luck: in another order the wake may come long after.
bool must_be_woken(const Trace& trace, uint32_t block_begin) {
  const auto reason = static_cast<BlockReason>(trace.a[block_begin]);
  return reason != BlockReason::sleep && reason != BlockReason::io &&
         !model::is_lock_call(trace, model::ContextId(trace.b[block_begin]));
}

}  // namespace

Tokens match_wakes(const model::Facts& facts, bool by_all) {
  const Trace& trace = facts.trace();
  const auto is_simulated = [&](uint32_t thread) {
    return by_all || facts.uses()[thread].role != ThreadRole::bystander;
  };
  std::vector<Wake> wakes;
  for (uint32_t thread = 0; thread < trace.threads.size(); ++thread) {
    if (!is_simulated(thread)) continue;  // would never fire
    const model::EventRange range = trace.thread_events(model::ThreadId(thread));
    for (uint32_t i = range.begin; i < range.end; ++i) {
      if (trace.kind[i] == EventKind::wake && trace.a[i] != UINT32_MAX)
        wakes.push_back({trace.a[i], trace.time_ns[i], i});
    }
  }
  std::unordered_map<uint32_t, uint32_t> sends;  // by block_begin
  for (const model::SocketWake& wake : facts.socket_wakes()) {
    if (is_simulated(trace.thread_of(model::EventIndex(wake.send)).value)) sends.emplace(wake.block_begin, wake.send);
  }
  Tokens tokens;
  if (wakes.empty() && sends.empty()) return tokens;
  tokens.of_event.assign(trace.event_count(), UINT32_MAX);
  std::stable_sort(wakes.begin(), wakes.end(), [](const Wake& x, const Wake& y) {
    return x.target != y.target ? x.target < y.target : x.time_ns < y.time_ns;
  });
  size_t next = 0;
  Groups groups(trace);
  for (uint32_t thread = 0; thread < trace.threads.size(); ++thread) {
    while (next < wakes.size() && wakes[next].target < thread) ++next;
    for (TaskWalk walk(trace, model::ThreadId(thread)); walk.next();) {
      if (!model::closes(walk.kind()) || !walk.has_closed()) continue;
      const FrameKind kind = walk.closed().kind;
      if (kind == FrameKind::task) continue;
      uint32_t cause = UINT32_MAX;
      for (; next < wakes.size() && wakes[next].target == thread && wakes[next].time_ns <= walk.time_ns(); ++next)
        cause = wakes[next].event;
      if (kind != FrameKind::block) continue;
      const uint32_t begin = walk.closed().begin.value;
      const auto send = sends.find(begin);
      if (send != sends.end()) {
        cause = send->second;
      } else if (cause == UINT32_MAX || !must_be_woken(trace, begin)) {
        continue;
      }
      tokens.of_event[cause] = tokens.count;
      tokens.of_event[begin] = tokens.count++;
      tokens.ways.push_back({std::max(trace.time_ns[cause], trace.time_ns[begin]), walk.time_ns()});
      groups.add(tokens, thread, walk);
    }
  }
  return tokens;
}

std::vector<int64_t> own_wake_latencies(const Tokens& tokens, const Crowding& crowding) {
  std::vector<int64_t> recorded_ns, own_ns;
  for (const Tokens::Way& way : tokens.ways) recorded_ns.push_back(way.end_ns - way.wake_ns);
  const int64_t typical_ns = median_ns(recorded_ns);
  for (const Tokens::Way& way : tokens.ways) {
    const int64_t crowded_ns = crowding.ns(way.wake_ns, way.end_ns);
    own_ns.push_back(own_latency_ns(way.end_ns - way.wake_ns, crowded_ns, typical_ns));
  }
  return own_ns;
}

}  // namespace contrafact::whatif
