#include "whatif/request_costs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>

#include "model/facts.h"
#include "model/on_core.h"
#include "whatif/sim_latency.h"

namespace contrafact::whatif {
namespace {

constexpr uint32_t kNoThread = UINT32_MAX;

const model::TaskRow& root_of(const DrawnRequests& drawn, const RequestTemplate& one) {
  return drawn.facts.trace().tasks[one.tasks.front()];
}

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

// Requests whose thread had slept before, if the program had one core: while no other thread of its was on that. Only the first
// request in a thread's time on its core.
std::vector<bool> begun_cold(const DrawnRequests& drawn) {
  constexpr int64_t kSwitchNs = 5'000;  // from one thread to the next, at most
  std::vector<std::pair<int64_t, int64_t>> on_core;
  const model::Trace& trace = drawn.facts.trace();
  for (const auto& gaps : trace.cpu)
    model::each_time_on_core(gaps, [&](int64_t begin_ns, int64_t end_ns) { on_core.emplace_back(begin_ns, end_ns); });
  std::ranges::sort(on_core);
  const bool one_core = model::recorded_cores(trace) == 1;
  std::vector<int64_t> ended_ns;  // by place in `on_core`: the latest end of those before
  int64_t latest_ns = INT64_MIN;
  for (const auto& [begin_ns, end_ns] : on_core) {
    ended_ns.push_back(latest_ns);
    latest_ns = std::max(latest_ns, end_ns);
  }
  std::set<std::pair<uint32_t, int64_t>> begun;  // by thread and time
  std::vector<bool> found;
  for (const RequestTemplate& one : drawn.all) {
    const model::EventIndex start = root_of(drawn, one).start;
    const uint32_t thread = trace.thread_of(start).value;
    const auto& gaps = trace.cpu[thread];
    const auto gap = std::ranges::upper_bound(gaps, trace.time_ns[start.index()], {}, &model::CpuGap::in_ns);
    found.push_back(false);
    if (gap == gaps.begin()) continue;
    const model::CpuGap& before = *(gap - 1);
    if (!begun.insert({thread, before.in_ns}).second || before.preempted) continue;
    const auto at = std::ranges::lower_bound(on_core, std::pair(before.in_ns, INT64_MIN)) - on_core.begin();
    const bool follows = at < std::ssize(ended_ns) && ended_ns[static_cast<size_t>(at)] > before.in_ns - kSwitchNs;
    found.back() = !(one_core && follows);
  }
  return found;
}

// Of what the thread did in the recording, the part in which requests were served that are drawn: by its times on a core, or if the kernel
// did not tell of these by its events. Of other requests served meanwhile it did as much for each.
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

// Two requests that did the same, apart from what it took, have the same number.
uint64_t path_of(const DrawnRequests& drawn, const RequestTemplate& one) {
  constexpr uint64_t kPrime = 1'099'511'628'211;  // FNV-1a's
  uint64_t hash = 14'695'981'039'346'656'037ULL;
  const auto add = [&](uint64_t value) { hash = (hash ^ value) * kPrime; };
  each_fiber(drawn.program, one, [&](uint32_t fiber) {
    add(UINT64_MAX);
    for (const Op& op : recorded_ops(drawn.program, fiber)) {
      if (op.code >= OpCode::spawn && op.code != OpCode::stop) add(static_cast<uint64_t>(op.code));
    }
  });
  return hash;
}

struct Mean {
  double ns = 0;
  double variance = 0;  // of the mean
};

// Without the twentieth at either end: something held these up.
Mean trimmed_mean(std::vector<int64_t> values_ns) {
  std::ranges::sort(values_ns);
  const size_t cut = values_ns.size() / 20;
  const std::span<const int64_t> kept = std::span(values_ns).subspan(cut, values_ns.size() - 2 * cut);
  const auto count = static_cast<double>(kept.size());
  Mean mean;
  for (const int64_t ns : kept) mean.ns += static_cast<double>(ns) / count;
  double squares = 0;
  for (const int64_t ns : kept) squares += (static_cast<double>(ns) - mean.ns) * (static_cast<double>(ns) - mean.ns);
  mean.variance = count > 1 ? squares / (count - 1) / count : 0;
  return mean;
}

// What drawn requests computed, by path; of turns in which cores were kept awake, and of others. Those of paths that hardly any request
// took are together.
struct ByTurn {
  std::vector<int64_t> awake_ns, left_alone_ns;
};
std::map<uint64_t, ByTurn> by_path(const DrawnRequests& drawn, const std::vector<model::Turn>& turns) {
  constexpr size_t kEachMin = 10;
  std::map<uint64_t, ByTurn> all;
  for (size_t i = 0; i < drawn.all.size(); ++i) {
    if (turns[i] == model::Turn::both) continue;
    ByTurn& path = all[path_of(drawn, drawn.all[i])];
    (turns[i] == model::Turn::awake ? path.awake_ns : path.left_alone_ns).push_back(computed_ns(drawn, drawn.all[i]));
  }
  ByTurn rest;
  std::erase_if(all, [&](const auto& entry) {
    const ByTurn& path = entry.second;
    if (path.awake_ns.size() >= kEachMin && path.left_alone_ns.size() >= kEachMin) return false;
    rest.awake_ns.insert(rest.awake_ns.end(), path.awake_ns.begin(), path.awake_ns.end());
    rest.left_alone_ns.insert(rest.left_alone_ns.end(), path.left_alone_ns.begin(), path.left_alone_ns.end());
    return true;
  });
  if (rest.awake_ns.size() >= kEachMin && rest.left_alone_ns.size() >= kEachMin) all[0] = std::move(rest);
  return all;
}

// How much of what is in `after_idle` is left out if caches take that long to fill.
double left_out_ns(std::span<const AfterIdle> after_idle, int64_t full_ns) {
  double sum_ns = 0;
  int64_t left_ns = 0;
  uint32_t idle = 0;  // they are numbered from 1
  for (const AfterIdle& part : after_idle) {
    if (std::exchange(idle, part.idle) != part.idle) left_ns = full_ns;
    const int64_t refill_ns = std::min(left_ns, refill_most_ns(part.cpu_ns, part.share));
    left_ns -= refill_ns;
    sum_ns += part.share * static_cast<double>(refill_ns);
  }
  return sum_ns;
}

}  // namespace

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

// By paths, as the mix of requests need not be the same in both kinds of turns.
std::optional<MeasuredCold> measured_cold(const DrawnRequests& drawn, const model::AwakeTurns& awake) {
  constexpr size_t kEachMin = 50;
  std::vector<model::Turn> turns;
  for (const RequestTemplate& one : drawn.all) {
    const RunRequest& served = drawn.served[one.request];
    turns.push_back(awake.of(served.arrived_ns, served.answered_ns));
  }
  size_t awake_count = 0, count = 0;
  double more_ns = 0, variance = 0, mean_ns = 0;  // sums of the requests on cores that were left alone
  for (const auto& [path, of_turns] : by_path(drawn, turns)) {
    const Mean warm = trimmed_mean(of_turns.awake_ns), cold = trimmed_mean(of_turns.left_alone_ns);
    const auto weight = static_cast<double>(of_turns.left_alone_ns.size());
    more_ns += weight * (cold.ns - warm.ns);
    variance += weight * weight * (cold.variance + warm.variance);
    mean_ns += weight * cold.ns;
    count += of_turns.left_alone_ns.size();
    awake_count += of_turns.awake_ns.size();
  }
  if (count < kEachMin || awake_count < kEachMin || mean_ns <= 0) return std::nullopt;
  MeasuredCold found{.share = std::max(0.0, more_ns / mean_ns), .error = 2 * std::sqrt(variance) / mean_ns};
  std::vector<bool> is_left_alone(drawn.program.fibers.size());
  size_t left_alone = 0;
  for (size_t i = 0; i < drawn.all.size(); ++i) {
    if (turns[i] != model::Turn::left_alone) continue;
    ++left_alone;
    each_fiber(drawn.program, drawn.all[i], [&](uint32_t fiber) { is_left_alone[fiber] = true; });
  }
  std::vector<AfterIdle> after_idle;
  for (const AfterIdle& part : drawn.program.after_idle) {
    if (is_left_alone[part.fiber]) after_idle.push_back(part);
  }
  const double wanted_ns = std::max(0.0, more_ns) / static_cast<double>(count) * static_cast<double>(left_alone);
  int64_t low_ns = 0, high_ns = model::ColdCores::kFullNsMax;
  while (high_ns - low_ns > 1) {
    const int64_t middle_ns = low_ns + (high_ns - low_ns) / 2;
    (left_out_ns(after_idle, middle_ns) < wanted_ns ? low_ns : high_ns) = middle_ns;
  }
  found.full_ns = low_ns;
  return found;
}

int64_t computed_ns(const DrawnRequests& drawn, const RequestTemplate& one) {
  uint64_t sum_ns = 0;
  each_op(drawn.program, one, [&](const Op& op) { sum_ns += computes(op.code) ? op.value : 0; });
  return static_cast<int64_t>(sum_ns);
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
  int64_t computed = 0;
  for (size_t i = 0; i < drawn.all.size(); ++i) {
    const RequestTemplate& one = drawn.all[i];
    for (const uint32_t task : one.tasks) {
      if (trace.tasks[task].start.valid()) serves_one(trace.thread_of(trace.tasks[task].start).value);
    }
    for (const uint32_t thread : one.threads) serves_one(thread);
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

// The difference of the medians. The recorded load has requests of both kinds, a saturated one hardly any that begin cold.
ColdStarts cold_starts_of(const DrawnRequests& drawn) {
  constexpr size_t kEachMin = 100;
  constexpr double kLeftMin = 0.5;  // of a request's computing, whatever the medians say
  const model::Trace& trace = drawn.facts.trace();
  const bool switches_known = std::ranges::any_of(trace.cpu, [](const auto& gaps) { return !gaps.empty(); });
  if (!model::is_native(trace) || !switches_known || trace.cpu.size() < trace.threads.size()) return {};
  const std::vector<bool> cold = begun_cold(drawn);
  std::vector<int64_t> own_ns;
  std::array<std::vector<int64_t>, 2> sorted_ns;  // warm, cold
  for (size_t i = 0; i < drawn.all.size(); ++i) {
    own_ns.push_back(computed_ns(drawn, drawn.all[i]));
    sorted_ns[cold[i] ? 1 : 0].push_back(own_ns.back());
  }
  if (sorted_ns[0].size() < kEachMin || sorted_ns[1].size() < kEachMin) return {};
  ColdStarts found;
  found.ns = std::max<int64_t>(0, median_ns(sorted_ns[1]) - median_ns(sorted_ns[0]));
  if (found.ns == 0) return found;
  for (size_t i = 0; i < drawn.all.size(); ++i) {
    const double left = own_ns[i] > 0 ? 1 - static_cast<double>(found.ns) / static_cast<double>(own_ns[i]) : 1;
    found.warm_share.push_back(cold[i] ? std::clamp(left, kLeftMin, 1.0) : 1);
  }
  return found;
}

}  // namespace contrafact::whatif
