#include "advise/headline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "analysis/headroom.h"
#include "analysis/lock_likeness.h"
#include "analysis/lock_profile.h"
#include "analysis/lock_sites.h"
#include "analysis/permit_waits.h"
#include "analysis/places.h"
#include "analysis/ulc.h"
#include "base/saturating.h"
#include "table/value_text.h"

namespace contrafact::advise {
namespace {

double overloaded_share(const analysis::ThreadUsage& usage, uint32_t cores) {
  int64_t overloaded_ns = 0;
  for (size_t i = 0; i < usage.steps.size(); ++i) {
    const analysis::UsageStep& step = usage.steps[i];
    int64_t end_ns = i + 1 < usage.steps.size() ? usage.steps[i + 1].time_ns : usage.window.end_ns;
    if (step.active - step.blocked > cores) overloaded_ns += end_ns - step.time_ns;
  }
  return static_cast<double>(overloaded_ns) / static_cast<double>(usage.window.duration_ns());
}

// Share of the window in which some thread was pushed off its core while it still had work; none where the kernel
// reported nothing.
std::optional<double> preempted_share(const model::Trace& trace, const analysis::UsageWindow& window) {
  std::vector<model::CpuGap> gaps;
  bool known = false;
  for (const std::vector<model::CpuGap>& thread : trace.cpu) {
    known |= !thread.empty();
    for (const model::CpuGap& gap : thread) {
      if (gap.preempted) gaps.push_back(gap);
    }
  }
  if (!known) return std::nullopt;
  std::ranges::sort(gaps, {}, &model::CpuGap::out_ns);
  int64_t preempted_ns = 0;
  int64_t covered_to_ns = window.begin_ns;
  for (const model::CpuGap& gap : gaps) {
    int64_t begin_ns = std::max(gap.out_ns, covered_to_ns);
    int64_t end_ns = std::min(gap.in_ns, window.end_ns);
    if (end_ns <= begin_ns) continue;
    preempted_ns += end_ns - begin_ns;
    covered_to_ns = end_ns;
  }
  return static_cast<double>(preempted_ns) / static_cast<double>(window.duration_ns());
}

struct LockWaits {
  double share = 0;  // of the window; the threads' waits are added up
  model::LockId most;
  std::string where;  // most of that one
};

// The waits at objects that are held or serve as locks. Waiting for work at a condition is no sign of anything.
LockWaits lock_waits(const model::Facts& facts, const analysis::UsageWindow& window) {
  const model::Trace& trace = facts.trace();
  const std::vector<bool> by_use = analysis::locks_by_use(trace, facts.sections(), facts.wakes());
  analysis::LockSites sites(trace);
  std::map<uint32_t, std::map<uint32_t, int64_t>> by_lock;  // and by site
  for (const model::CriticalSection& section : facts.sections()) {
    const uint32_t lock = section.lock.value;
    if (section.wait_ns() <= 0 || (!model::is_held(trace.locks[lock].kind) && !by_use[lock])) continue;
    int64_t& of_site_ns = by_lock[lock][sites.of(section.lock, section.site)];
    of_site_ns = base::add_saturated(of_site_ns, section.wait_ns());
  }
  LockWaits waits;
  int64_t waited_ns = 0, most_ns = 0;
  for (const auto& [lock, by_site] : by_lock) {
    int64_t of_lock_ns = 0;
    for (const auto& [site, site_ns] : by_site) of_lock_ns = base::add_saturated(of_lock_ns, site_ns);
    waited_ns = base::add_saturated(waited_ns, of_lock_ns);
    if (of_lock_ns <= most_ns) continue;
    most_ns = of_lock_ns;
    waits.most = model::LockId(lock);
    const auto longest = std::ranges::max_element(by_site, {}, [](const auto& of_site) { return of_site.second; });
    waits.where = sites.sites()[longest->first].label;
  }
  waits.share = static_cast<double>(waited_ns) / static_cast<double>(window.duration_ns());
  return waits;
}

// Something that ran short, and for what share of the time.
struct Short {
  double share = 0;
  std::string reason;
  std::string limit;        // empty: it held nothing up
  model::PoolId pool = {};  // that it is about
};

// The time that tasks of the pool waited for a worker, added up, as a share of the window.
double queued_share(const model::Trace& trace, model::PoolId pool, const analysis::UsageWindow& window) {
  int64_t queued_ns = 0;
  for (const model::TaskRow& task : trace.tasks) {
    if (task.pool != pool || !task.spawn.valid()) continue;
    const int64_t start_ns = task.start.valid() ? trace.time_ns[task.start.index()] : window.end_ns;
    const int64_t waited_ns = start_ns - trace.time_ns[task.spawn.index()] - int64_t{task.delay_us} * 1000;
    queued_ns = base::add_saturated(queued_ns, std::max<int64_t>(0, waited_ns));
  }
  return static_cast<double>(queued_ns) / static_cast<double>(window.duration_ns());
}

// A clause if most waits at the lock's place are for what the other thread wrote; empty if not, or not known.
std::string conflicts_clause(const Pricer& pricer, const LockWaits& waits) {
  if (pricer.sections() == nullptr) return "";
  const analysis::UlcProfile profile = analysis::ulc_profile(*pricer.sections());
  const auto site = std::ranges::find(profile.sites, waits.where, [&](const analysis::UlcSite& one) {
    return pricer.sections()->sites.sites()[one.site].label;
  });
  if (site == profile.sites.end()) return "";
  const uint64_t conflicts = site->pairs[graph::PairKind::conflict], all = site->pairs.all();
  if (2 * conflicts <= all) return "";
  return fmt::format(", where {} of {} waits are for what the other thread wrote", conflicts, all);
}

// How threads waited for a core; no reason: they did not, or too little.
Short core_shortage(const model::Trace& trace, const analysis::ThreadUsage& usage, uint32_t cores) {
  if (std::optional<double> share = preempted_share(trace, usage.window)) {
    if (*share <= kOverloadedMax) return {};
    return {*share, fmt::format("some thread had to wait for a core for {} of the time", table::percent_text(*share))};
  }
  if (cores == 0) return {};
  const double share = overloaded_share(usage, cores);
  if (share <= kOverloadedMax) return {};
  return {share, fmt::format("more threads were active than the {} for {} of the time",
                             table::counted_text(cores, "core", "cores"), table::percent_text(share))};
}

// Of the threads that hand out tasks, the one that spent most time on starting workers, as with an executor for each
// request.
Short worker_starts(const Pricer& pricer, const analysis::UsageWindow& window) {
  if (pricer.facts().locks_ordered() || !pricer.simulates()) return {};
  const model::Trace& trace = pricer.trace();
  const std::vector<int64_t>& start_ns = pricer.hand_over_costs().start_ns;
  std::vector<int64_t> by_thread(trace.threads.size());
  for (size_t i = 0; i < start_ns.size(); ++i) {
    if (start_ns[i] > 0) by_thread[trace.thread_of(trace.tasks[i].spawn).index()] += start_ns[i];
  }
  const auto most = std::ranges::max_element(by_thread);
  if (most == by_thread.end()) return {};
  const double share = static_cast<double>(*most) / static_cast<double>(window.duration_ns());
  if (share <= kStartingMax) return {};
  return {share, fmt::format("starting the threads of pools took {} of the time of who hands tasks to them",
                             table::percent_text(share))};
}

}  // namespace

analysis::ThreadUsage usage_of(const model::Facts& facts) {
  analysis::ThreadUsage usage = analysis::thread_usage(facts, {analysis::ThreadUsageOptions::Window::tasks});
  return usage.window.duration_ns() > 0 ? usage : analysis::thread_usage(facts);
}

Shortage shortage_of(const Pricer& pricer, const analysis::ThreadUsage& usage) {
  const model::Trace& trace = pricer.trace();
  Shortage shortage;
  if (usage.window.duration_ns() <= 0) return shortage;
  std::vector<Short> all;
  for (const analysis::PoolHeadroom& pool : analysis::headroom_of_workers(trace, usage)) {
    const double share = static_cast<double>(pool.saturated_ns) / static_cast<double>(usage.window.duration_ns());
    if (pool.size == 0 || share <= kSaturatedMax) continue;
    const std::string workers = pool.size == 1 ? "its one worker" : fmt::format("all {} workers", pool.size);
    const std::string reason = fmt::format("pool {} had {} occupied for {} of the time",
                                           analysis::pool_name(trace, pool.pool), workers, table::percent_text(share));
    const bool queued = queued_share(trace, pool.pool, usage.window) > kSaturatedMax;
    all.push_back({share, reason, queued ? reason : "", pool.pool});
    shortage.pools.push_back({pool.pool, pool.size});
  }
  for (const analysis::PermitWaits& waits : analysis::permit_waits(pricer.facts())) {
    const double share = static_cast<double>(waits.waited_ns) / static_cast<double>(usage.window.duration_ns());
    if (share <= kSaturatedMax) continue;
    const std::string reason = fmt::format(
        "threads waited for one of the {} permits of {} for {} of the time, longest at {}", waits.permits,
        analysis::pool_name(trace, waits.pool), table::percent_text(share), trace.context_label(waits.context));
    all.push_back({share, reason, reason, waits.pool});
    shortage.pools.push_back({waits.pool, waits.permits, waits.context});
  }
  const uint32_t cores = pricer.cores() > 0 ? pricer.cores() : model::recorded_cores(trace);
  if (Short of_cores = core_shortage(trace, usage, cores); !of_cores.reason.empty()) {
    shortage.cores = cores;
    of_cores.limit = of_cores.reason;
    all.push_back(std::move(of_cores));
  }
  if (Short starts = worker_starts(pricer, usage.window); !starts.reason.empty()) {
    starts.limit = starts.reason;
    all.push_back(std::move(starts));
  }
  if (const LockWaits waits = lock_waits(pricer.facts(), usage.window); waits.share > kContendedMax) {
    const std::string reason = fmt::format("threads waited for locks, in sum, for {} of the time, longest for {}{}",
                                           table::percent_text(waits.share), analysis::lock_name(trace, waits.most),
                                           waits.where == "?" ? "" : " at " + waits.where);
    all.push_back({waits.share, reason, reason + conflicts_clause(pricer, waits)});
  }
  std::ranges::stable_sort(all, std::greater(), &Short::share);
  for (Short& one : all) {
    shortage.reasons.push_back(std::move(one.reason));
    if (!one.limit.empty()) shortage.limits.push_back({std::move(one.limit), one.pool});
  }
  return shortage;
}

Headline headline_of(const Pricer& pricer, const Shortage& shortage) {
  if (!pricer.simulates()) return {model::Origin::estimated, "nothing was simulated"};
  const whatif::BaselineCheck& baseline = *pricer.baseline();
  if (shortage.reasons.empty()) return {model::Origin::estimated, "no pool was saturated, and the cores sufficed"};
  const std::string& short_of = shortage.reasons.front();
  if (baseline.stuck) {
    return {model::Origin::estimated, short_of +
                                          ", but the simulation of the unchanged run came to no end: these figures "
                                          "are estimated, and know no queues"};
  }
  if (baseline.trusted) return {model::Origin::simulated, short_of};
  return {model::Origin::simulated,
          fmt::format("{}; the simulation missed its self-check by {}, and its gains are uncertain by as much",
                      short_of, table::percent_text(std::fabs(baseline.error)))};
}

}  // namespace contrafact::advise
