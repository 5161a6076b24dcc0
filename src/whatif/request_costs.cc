#include "whatif/request_costs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>

#include "model/facts.h"
#include "model/on_core.h"
#include "whatif/trimmed_mean.h"

namespace contrafact::whatif {
namespace {

constexpr uint32_t kNoThread = UINT32_MAX;

// By pool: the thread that serves no requests and wakes the pool's, which take requests from a queue of the program's own;
// kNoThread: none. One that woke them for a tenth of their requests: where they are busy, nobody has to be woken.
std::vector<uint32_t> wakers_of_servers(const DrawnRequests& drawn) {
  constexpr size_t kTenth = 10;
  const model::Trace& trace = drawn.facts.trace();
  std::vector<size_t> served(trace.pools.size());
  for (const RequestTemplate& one : drawn.all) {
    const model::PoolId pool = root_of(drawn, one).pool;
    if (pool.valid()) ++served[pool.index()];
  }
  const std::span<const model::ThreadUse> uses = drawn.program.uses;
  std::map<std::pair<uint32_t, uint32_t>, size_t> woken;  // by pool and waker
  for (const model::SyncWake& wake : drawn.facts.wakes()) {
    const model::EventIndex end = drawn.facts.sections()[wake.wait].acquire;
    if (!end.valid()) continue;
    const model::ThreadUse& sleeper = uses[trace.thread_of(end).index()];
    const uint32_t waker = trace.thread_of(wake.cause).value;
    if (sleeper.role == model::ThreadRole::worker && uses[waker].role != model::ThreadRole::worker)
      ++woken[{sleeper.pool.value, waker}];
  }
  std::vector<uint32_t> found(trace.pools.size(), kNoThread);
  std::vector<size_t> most(trace.pools.size());
  for (const auto& [ends, count] : woken) {
    const auto [pool, waker] = ends;
    if (pool >= found.size() || served[pool] == 0 || count * kTenth < served[pool] || count <= most[pool]) continue;
    found[pool] = waker, most[pool] = count;
  }
  return found;
}

// By drawn request: the thread that handed it on; kNoThread where a pool's worker did, or nobody.
std::vector<uint32_t> handed_on_by(const DrawnRequests& drawn, const std::vector<uint32_t>& wakers) {
  const model::Trace& trace = drawn.facts.trace();
  std::vector<uint32_t> by;
  for (const RequestTemplate& one : drawn.all) {
    const model::TaskRow& root = root_of(drawn, one);
    uint32_t thread = trace.thread_of(root.spawn).value;
    if (thread >= drawn.recorded_threads && root.pool.valid()) thread = wakers[root.pool.index()];
    const bool is_known =
        thread < drawn.recorded_threads && drawn.program.uses[thread].role != model::ThreadRole::worker;
    by.push_back(is_known ? thread : kNoThread);
  }
  return by;
}

// Of what the thread did in the recording, the part in which requests were served that are drawn: by its times on a core, or if the kernel
// did not report these by its events. Of other requests served meanwhile it did as much for each.
double part_while_drawn(const DrawnRequests& drawn, uint32_t thread) {
  const model::Trace& trace = drawn.facts.trace();
  const uint32_t first = drawn.all.front().request, last = drawn.all.back().request;
  const int64_t from_ns = drawn.served[first].arrived_ns, until_ns = drawn.served[last].answered_ns;
  const model::EventRange events = trace.thread_events(model::ThreadId(thread));
  if (events.size() == 0) return 1;
  const int64_t begun_ns = trace.time_ns[events.begin], ended_ns = trace.time_ns[events.end - 1];
  double within_ns = 0, all_ns = 0;
  const auto add = [&](int64_t begin_ns, int64_t end_ns) {
    within_ns += static_cast<double>(model::overlap_ns(begin_ns, end_ns, from_ns, until_ns));
    all_ns += static_cast<double>(model::overlap_ns(begin_ns, end_ns, begun_ns, ended_ns));
  };
  if (thread < trace.cpu.size()) model::each_time_on_core(trace.cpu[thread], add);
  if (all_ns <= 0) add(begun_ns, ended_ns);
  if (all_ns <= 0) return 1;
  const double drawn_share = static_cast<double>(drawn.all.size()) / static_cast<double>(last - first + 1);
  return within_ns / all_ns * drawn_share;
}

}  // namespace

const model::TaskRow& root_of(const DrawnRequests& drawn, const RequestTemplate& one) {
  return drawn.facts.trace().tasks[one.tasks.front()];
}

int64_t computed_ns(const DrawnRequests& drawn, const RequestTemplate& one) {
  uint64_t sum_ns = 0;
  each_op(drawn.program, one, [&](const Op& op) { sum_ns += computes(op.code) ? op.value : 0; });
  return static_cast<int64_t>(sum_ns);
}

size_t slow_beginning(const DrawnRequests& drawn) {
  constexpr size_t kKeptMin = 200;
  constexpr double kFasterMin = 0.05;
  std::vector<int64_t> computed;
  for (const RequestTemplate& one : drawn.all) computed.push_back(computed_ns(drawn, one));
  size_t begin = 0;
  for (;;) {
    const size_t half = (computed.size() - begin) / 2;
    if (half < kKeptMin) return begin;
    const auto middle = computed.begin() + static_cast<ptrdiff_t>(begin + half);
    const Mean first = trimmed_mean({computed.begin() + static_cast<ptrdiff_t>(begin), middle});
    const Mean second = trimmed_mean({middle, computed.end()});
    const double sure_ns = 2 * std::sqrt(first.variance + second.variance);
    if (first.ns - second.ns <= std::max(kFasterMin * first.ns, sure_ns)) return begin;
    begin += half;
  }
}

// What a thread that is no worker computed while drawn requests were served is shared evenly among those that it handed on. (Before, the
// program started, and a JVM had compiled little of it.)
HandOns hand_ons(const DrawnRequests& drawn) {
  const model::Trace& trace = drawn.facts.trace();
  const std::vector<uint32_t> by = handed_on_by(drawn, wakers_of_servers(drawn));
  std::unordered_map<uint32_t, int64_t> handed;  // by thread: requests
  for (const uint32_t thread : by) {
    if (thread != kNoThread) ++handed[thread];
  }
  std::unordered_map<uint32_t, HandOn> each;  // by thread, outside of pools' tasks
  const auto add = [&](uint32_t thread, uint32_t fiber) {
    if (!handed.contains(thread)) return;
    HandOn& sum = each.try_emplace(thread, HandOn{0, 0}).first->second;
    for (const Op& op : recorded_ops(drawn.program, fiber)) {
      if (computes(op.code)) sum.cpu_ns += static_cast<int64_t>(op.value);
      if (op.code == OpCode::refill) sum.refill_ns += static_cast<int64_t>(op.value);
    }
  };
  for (const auto& [thread, count] : handed) add(thread, drawn.program.thread_fiber(thread));
  for (uint32_t i = 0; i < trace.tasks.size(); ++i) {
    const model::TaskRow& run = trace.tasks[i];
    if (run.kind == model::TaskKind::thread && run.start.valid()) add(trace.thread_of(run.start).value, i);
  }
  for (const auto& [thread, count] : handed) {
    const double part = part_while_drawn(drawn, thread) / static_cast<double>(count);
    each[thread].cpu_ns = static_cast<int64_t>(part * static_cast<double>(each[thread].cpu_ns));
    each[thread].refill_ns = static_cast<int64_t>(part * static_cast<double>(each[thread].refill_ns));
  }
  HandOns found;
  found.threads = static_cast<uint32_t>(handed.size());
  for (size_t i = 0; i < drawn.all.size(); ++i) {
    found.of.push_back(by[i] == kNoThread ? HandOn() : each[by[i]]);
    const uint32_t spawned_by = trace.thread_of(root_of(drawn, drawn.all[i]).spawn).value;
    found.of.back().wakes = by[i] != kNoThread && spawned_by >= drawn.recorded_threads;
  }
  return found;
}

// Of all requests that were served meanwhile, those that are not drawn, too.
int64_t beside_ns(const DrawnRequests& drawn, const HandOns& handed) {
  constexpr int64_t kReportedShare = 20;  // of what the requests compute themselves: a twentieth
  const model::Trace& trace = drawn.facts.trace();
  if (!model::is_native(trace) || drawn.all.empty() || drawn.served.empty()) return 0;
  std::vector<bool> serves(drawn.recorded_threads);
  const auto serves_one = [&](uint32_t thread) {
    if (thread < serves.size()) serves[thread] = true;
  };
  for (const std::vector<RequestTemplate>* requests : {&drawn.all, &drawn.outside}) {
    for (const RequestTemplate& one : *requests) {
      for (const uint32_t task : one.tasks) {
        if (trace.tasks[task].start.valid()) serves_one(trace.thread_of(trace.tasks[task].start).value);
      }
      for (const uint32_t thread : one.threads) serves_one(thread);
    }
  }
  int64_t computed = 0;
  for (size_t i = 0; i < drawn.all.size(); ++i) {
    const RequestTemplate& one = drawn.all[i];
    if (handed.of[i].cpu_ns >= 0) serves_one(trace.thread_of(root_of(drawn, one).spawn).value);
    computed += computed_ns(drawn, one);
  }
  for (const uint32_t waker : wakers_of_servers(drawn)) serves_one(waker);
  const int64_t from_ns = drawn.served.front().arrived_ns, until_ns = drawn.served.back().answered_ns;
  int64_t others_ns = 0;
  for (uint32_t thread = 0; thread < std::min(serves.size(), trace.cpu.size()); ++thread) {
    if (serves[thread]) continue;
    model::each_time_on_core(trace.cpu[thread], [&](int64_t begin_ns, int64_t end_ns) {
      others_ns += model::overlap_ns(begin_ns, end_ns, from_ns, until_ns);
    });
  }
  const int64_t each_ns = others_ns / static_cast<int64_t>(drawn.served.size());
  return each_ns * kReportedShare >= computed / static_cast<int64_t>(drawn.all.size()) ? each_ns : 0;
}

}  // namespace contrafact::whatif
