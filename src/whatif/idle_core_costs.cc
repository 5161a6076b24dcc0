#include "whatif/idle_core_costs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "model/facts.h"
#include "model/on_core.h"
#include "whatif/sim_latency.h"
#include "whatif/trimmed_mean.h"

namespace contrafact::whatif {
namespace {

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

// By paths, as the mix of requests need not be the same in both kinds of turns.
std::optional<MeasuredCold> measured_cold(const DrawnRequests& drawn, const model::AwakeTurns& awake) {
  constexpr size_t kEachMin = 50;
  constexpr double kUnsureMost = 0.2;  // requests that differ so much among themselves say nothing
  std::vector<model::Turn> turns;
  size_t behind = 0;
  for (const RequestTemplate& one : drawn.all) {
    const RunRequest& served = drawn.served[one.request];
    turns.push_back(awake.of(served.arrived_ns, served.answered_ns));
    if (served.answered_ns > awake.until_ns()) ++behind;
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
  if (found.error > kUnsureMost) return std::nullopt;
  const double estimated = static_cast<double>(behind) / static_cast<double>(drawn.all.size());
  found.error += estimated * std::max(0.0, kEstimateError * found.share - found.error);
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

// The difference of the medians. The recorded load has requests of both kinds, a saturated one hardly any that begin cold.
ColdStarts cold_starts_of(const DrawnRequests& drawn) {
  constexpr size_t kEachMin = 100;
  constexpr double kLeftMin = 0.5;  // of a request's computing, whatever the medians say
  const model::Trace& trace = drawn.facts.trace();
  if (!model::is_native(trace) || !model::has_switches(trace) || trace.cpu.size() < trace.threads.size()) return {};
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
