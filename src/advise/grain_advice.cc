#include "advise/grain_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include "analysis/granularity.h"
#include "improve/grain_change.h"
#include "improve/kinds/kinds.h"
#include "model/event_cost.h"
#include "table/value_text.h"
#include "whatif/sim_program.h"
#include "whatif/task_groups.h"

namespace contrafact::advise {
namespace {

using improve::GrainChange;
using improve::TaskGrain;
using whatif::Improvement;

const GrainChange& kind_as_grain(const improve::Kind* kind) {
  return static_cast<const GrainChange&>(*kind);
}

bool is_too_large(analysis::GranularityVerdict verdict) {
  return verdict == analysis::GranularityVerdict::coarse || verdict == analysis::GranularityVerdict::unbalanced;
}

analysis::Granularity measured_grains(const model::Facts& facts) {
  return analysis::granularity(facts, {.tellable_share = kTellableTime});
}

// The recorded figures of a class.
struct GrainFacts {
  int64_t core_ns = 0;      // of its tasks
  int64_t blocked_ns = 0;   // for which their threads were off their cores without being preempted
  int64_t duration_ns = 0;  // summed, start to end
  int64_t handing_ns = 0;   // its spawners' cost
  double share = 0;         // of the cores' time in the run: of both
  analysis::GranularityVerdict verdict = analysis::GranularityVerdict::unknown;  // of its first task's class
};

struct OffCoreTimes {
  int64_t preempted_ns = 0, blocked_ns = 0;
};

OffCoreTimes off_core_times(const model::Trace& trace, size_t thread, int64_t begin_ns, int64_t end_ns) {
  OffCoreTimes off;
  if (thread >= trace.cpu.size()) return off;
  const auto& gaps = trace.cpu[thread];
  for (auto gap = std::ranges::lower_bound(gaps, begin_ns, {}, &model::CpuGap::in_ns);
       gap != gaps.end() && gap->out_ns < end_ns; ++gap)
    (gap->preempted ? off.preempted_ns : off.blocked_ns) +=
        std::min(gap->in_ns, end_ns) - std::max(gap->out_ns, begin_ns);
  return off;
}

// Tasks that ran within each other are off the core together: that counts once.
int64_t blocked_together_ns(const model::Trace& trace, std::span<const model::TaskId> tasks) {
  struct Stretch {
    size_t thread;
    int64_t begin_ns, end_ns;
  };
  std::vector<Stretch> stretches;
  for (const model::TaskId task : tasks) {
    const model::TaskRow& row = trace.tasks[task.index()];
    stretches.push_back(
        {trace.thread_of(row.start).index(), trace.time_ns[row.start.index()], trace.time_ns[row.end.index()]});
  }
  std::ranges::sort(stretches, {}, [](const Stretch& one) { return std::pair(one.thread, one.begin_ns); });
  int64_t blocked_ns = 0, until_ns = 0;
  size_t thread = SIZE_MAX;
  for (const Stretch& one : stretches) {
    if (one.thread != std::exchange(thread, one.thread)) until_ns = INT64_MIN;
    blocked_ns += off_core_times(trace, one.thread, std::max(one.begin_ns, until_ns), one.end_ns).blocked_ns;
    until_ns = std::max(until_ns, one.end_ns);
  }
  return blocked_ns;
}

GrainFacts facts_of(const Pricer& pricer, const TaskGrain& grain) {
  const model::Trace& trace = pricer.trace();
  const model::HandOverCosts& costs = pricer.hand_over_costs();
  GrainFacts facts;
  for (const model::TaskId task : grain.tasks) {
    const model::TaskRow& row = trace.tasks[task.index()];
    const int64_t ns = trace.time_ns[row.end.index()] - trace.time_ns[row.start.index()];
    facts.duration_ns += ns;
    const OffCoreTimes off = off_core_times(trace, trace.thread_of(row.start).index(), trace.time_ns[row.start.index()],
                                            trace.time_ns[row.end.index()]);
    facts.core_ns += ns - off.preempted_ns - off.blocked_ns;
    facts.handing_ns += costs.spawn_ns[task.index()] + costs.start_ns[task.index()];
  }
  facts.blocked_ns = blocked_together_ns(trace, grain.tasks);
  const double cores = std::max(1u, model::recorded_cores(trace));
  const auto run_ns = static_cast<double>(std::max<int64_t>(1, trace.end_ns() - trace.begin_ns()));
  facts.share = static_cast<double>(facts.core_ns + facts.handing_ns) / (cores * run_ns);
  return facts;
}

// Powers of two up to `most`; if these are too many, every second one, or fewer.
std::vector<uint32_t> powers_up_to(uint64_t most, size_t count_max) {
  std::vector<uint32_t> all;
  constexpr uint64_t kMost = 1 << 20;
  for (uint64_t size = 2; size <= std::min(most, kMost); size *= 2) all.push_back(static_cast<uint32_t>(size));
  if (all.size() <= count_max || count_max == 0) return all;
  std::vector<uint32_t> some;
  for (size_t i = 1; i <= count_max; ++i) some.push_back(all[i * all.size() / count_max - 1]);
  return some;
}

class CurveMaker {
 public:
  CurveMaker(const Pricer& pricer, const GrainOptions& options) : pricer_(pricer), options_(options) {}

  // The points to simulate, still without effects; fewer than two: there is nothing to choose.
  GrainCurve planned(TaskGrain grain, const GrainFacts& facts) const {
    GrainCurve curve;
    curve.before = grain.levels.empty() ? grain.tasks.size() : grain.deepest;
    curve.axis = !grain.levels.empty() ? GrainAxis::level : grain.of_threads ? GrainAxis::threads : GrainAxis::tasks;
    if (curve.axis == GrainAxis::level) {
      plan_levels(grain, facts, curve);
    } else {
      plan_merges(grain, facts, curve);
      plan_splits(grain, facts, curve);
    }
    curve.blocked_ns = facts.blocked_ns;
    GrainPoint recorded;
    recorded.setting = curve.before;
    curve.points.push_back(std::move(recorded));
    std::ranges::stable_sort(curve.points, {}, &GrainPoint::setting);
    curve.grain = std::move(grain);
    return curve;
  }

 private:
  bool may_be_larger(const GrainFacts& facts) const {
    return !options_.only_promising || facts.verdict == analysis::GranularityVerdict::fine;
  }
  bool may_be_smaller(const GrainFacts& facts) const { return !options_.only_promising || is_too_large(facts.verdict); }

  void plan_levels(const TaskGrain& grain, const GrainFacts& facts, GrainCurve& curve) const {
    if (!may_be_larger(facts)) return;
    const size_t count = std::min<size_t>(grain.deepest, options_.points_max);
    for (size_t i = 0; i < count; ++i) {
      const auto level = static_cast<uint32_t>(i * grain.deepest / count);
      add(grain, improve::kinds::cut_off, level, level, curve);
    }
  }

  void plan_merges(const TaskGrain& grain, const GrainFacts& facts, GrainCurve& curve) const {
    if (!may_be_larger(facts)) return;
    const std::vector<std::vector<uint32_t>> runs = whatif::neighbours(pricer_.program(), grain.tasks);
    size_t longest = 0, in_runs = 0;
    for (const std::vector<uint32_t>& run : runs) {
      longest = std::max(longest, run.size());
      in_runs += run.size();
    }
    for (const uint32_t size : powers_up_to(longest, options_.points_max / 2)) {
      uint64_t tasks = grain.tasks.size() - in_runs;
      for (const std::vector<uint32_t>& run : runs) tasks += (run.size() + size - 1) / size;
      add(grain, improve::kinds::merge_tasks, size, tasks, curve);
    }
  }

  // A part should still take much longer than it takes to hand it out. What mostly waits is not divided: whether its
  // waits could be made at the same time, nothing says.
  void plan_splits(const TaskGrain& grain, const GrainFacts& facts, GrainCurve& curve) const {
    constexpr int64_t kOfHanding = 10, kPartNsMin = 20'000;
    constexpr uint64_t kPartsMax = 32;
    if (facts.core_ns * 2 < facts.duration_ns || !may_be_smaller(facts)) return;
    const auto tasks = static_cast<int64_t>(grain.tasks.size());
    const int64_t part_ns = std::max(kPartNsMin, kOfHanding * facts.handing_ns / tasks);
    const auto most = static_cast<uint64_t>(facts.core_ns / tasks / part_ns);
    for (const uint32_t parts : powers_up_to(std::min(most, kPartsMax), options_.points_max / 2))
      add(grain, improve::kinds::split_tasks, parts, uint64_t{parts} * grain.tasks.size(), curve);
  }

  static void add(const TaskGrain& grain, const improve::Kind* kind, uint32_t size, uint64_t setting,
                  GrainCurve& curve) {
    GrainPoint point;
    point.improvement = kind_as_grain(kind).made(grain, size);
    point.setting = setting;
    if (!point.improvement.tasks.empty()) curve.points.push_back(std::move(point));
  }

  const Pricer& pricer_;
  const GrainOptions& options_;
};

// The further time that is spared by tasks that are gone. Making a task, and asking for its result, is the program's code,
// which no event tells from its work: some 150 ns in `TreeCount` (test/truth_granularity). Where the recorder has not
// timed itself, a fork took up to 1.3 us longer recorded than unrecorded, most of which no event shows. A share of the
// unchanged run.
double more_of_tasks(const Pricer& pricer, uint64_t spared) {
  constexpr double kProgramNs = 250, kRecorderNs = 1'250;
  const double most_ns =
      kProgramNs + (pricer.left_out().recording.measured(model::EventKind::task_spawn) ? 0 : kRecorderNs);
  const double cores = std::max(1u, pricer.cores() > 0 ? pricer.cores() : model::recorded_cores(pricer.trace()));
  const auto base_ns = static_cast<double>(std::max<int64_t>(1, pricer.baseline()->simulated_ns));
  return most_ns * static_cast<double>(spared) / (cores * base_ns);
}

// The time for which tasks were off their cores goes on in the merged ones. Some of it, as waiting for a core behind
// many threads, or for a lock that another of the tasks held, would not be there. A share of the unchanged run.
double less_blocked(const Pricer& pricer, int64_t blocked_ns) {
  const auto base_ns = static_cast<double>(std::max<int64_t>(1, pricer.baseline()->simulated_ns));
  return std::min(1.0, static_cast<double>(blocked_ns) / base_ns);
}

void price(const Pricer& pricer, const GrainCurve& curve, GrainPoint& point) {
  if (point.improvement.optimisation == nullptr) {
    point.effect.duration_ns = pricer.baseline()->simulated_ns;
    point.gain.origin = model::Origin::simulated;
    return;
  }
  base::Result<SimulatedEffect> effect = pricer.simulate(std::span(&point.improvement, 1));
  if (!effect) {
    point.effect.stuck = true;
    point.effect.stuck_why = effect.error().message;
    return;
  }
  point.effect = *std::move(effect);
  const uint64_t recorded = curve.grain.tasks.size();
  const bool is_cut_off = point.improvement.optimisation == improve::kinds::cut_off;
  const uint64_t spared = is_cut_off ? point.improvement.tasks.size() : recorded - std::min(recorded, point.setting);
  point.effect.more += more_of_tasks(pricer, spared);
  if (spared > 0) point.effect.more += less_blocked(pricer, curve.blocked_ns);
  if (!point.effect.stuck) point.gain = gain_of(*pricer.baseline(), point.effect);
}

void find_best(GrainCurve& curve) {
  const auto gain = [&](size_t i) { return curve.points[i].effect.stuck ? -INFINITY : curve.points[i].gain.share; };
  size_t top = 0, recorded = 0;
  for (size_t i = 0; i < curve.points.size(); ++i) {
    if (gain(i) > gain(top)) top = i;
    if (curve.points[i].improvement.optimisation == nullptr) recorded = i;
  }
  curve.flat_first = curve.flat_last = top;
  while (curve.flat_first > 0 && gain(curve.flat_first - 1) + kGainTie >= gain(top)) --curve.flat_first;
  while (curve.flat_last + 1 < curve.points.size() && gain(curve.flat_last + 1) + kGainTie >= gain(top))
    ++curve.flat_last;
  const bool has_recorded = curve.flat_first <= recorded && recorded <= curve.flat_last;
  curve.best = has_recorded ? recorded : (curve.flat_first + curve.flat_last) / 2;
}

// "25 tasks: 41 %, 50: 43 %, 100: 40 %"
std::string grain_words(const GrainCurve& curve) {
  std::string text;
  for (const GrainPoint& point : curve.points) {
    if (point.improvement.optimisation == nullptr || point.effect.stuck) continue;
    if (!text.empty())
      text += fmt::format(", {}: ", point.setting);
    else if (curve.axis == GrainAxis::level)
      text = fmt::format("down to level {}: ", point.setting);
    else
      text = fmt::format("{} {}: ", point.setting, curve.axis == GrainAxis::threads ? "threads" : "tasks");
    text += table::percent_text(point.gain.share);
  }
  return text;
}

}  // namespace

bool any_grain_promises(const model::Facts& facts) {
  const analysis::Granularity measured = measured_grains(facts);
  return std::ranges::any_of(measured.classes, [](const analysis::ClassGranularity& one) {
    return one.judgement.verdict == analysis::GranularityVerdict::fine || is_too_large(one.judgement.verdict);
  });
}

whatif::LeftOut left_out_for_grains(const model::Trace& trace) {
  return {model::event_costs(trace), true};
}

std::vector<GrainCurve> grain_curves(const Pricer& pricer, const GrainOptions& options) {
  struct Class {
    TaskGrain grain;
    GrainFacts facts;
  };
  std::vector<Class> classes;
  for (TaskGrain& grain : improve::task_grains(pricer.facts())) {
    const GrainFacts facts = facts_of(pricer, grain);
    if (facts.share >= options.share_min) classes.push_back({std::move(grain), facts});
  }
  if (options.only_promising && !classes.empty()) {
    const analysis::Granularity measured = measured_grains(pricer.facts());
    for (Class& one : classes) {
      const uint32_t of_class = measured.of_task[one.grain.tasks.front().index()];
      if (of_class < measured.classes.size()) one.facts.verdict = measured.classes[of_class].judgement.verdict;
    }
  }
  std::ranges::stable_sort(classes, std::greater(), [](const Class& one) { return one.facts.share; });
  if (classes.size() > options.classes_max) classes.resize(options.classes_max);
  const CurveMaker maker(pricer, options);
  std::vector<GrainCurve> curves;
  for (Class& one : classes) {
    GrainCurve curve = maker.planned(std::move(one.grain), one.facts);
    if (curve.points.size() > 1) curves.push_back(std::move(curve));
  }
  std::vector<std::pair<const GrainCurve*, GrainPoint*>> points;
  for (GrainCurve& curve : curves) {
    for (GrainPoint& point : curve.points) points.emplace_back(&curve, &point);
  }
  for_each_index(points.size(), options.progress,
                 [&](size_t i) { price(pricer, *points[i].first, *points[i].second); });
  for (GrainCurve& curve : curves) find_best(curve);
  return curves;
}

std::vector<Advice> grain_advices(const Pricer& pricer, const std::vector<GrainCurve>& curves) {
  std::vector<Advice> advices;
  for (const GrainCurve& curve : curves) {
    const GrainPoint& best = curve.points[curve.best];
    if (!curve.gains() || best.effect.stuck || best.gain.share < kGainMin) continue;
    Advice advice;
    advice.candidate.improvement = best.improvement;
    advice.effect.simulated = best.effect;
    advice.verdict = verdict_of(advice.effect, pricer.baseline());
    advice.curve = grain_words(curve);
    advices.push_back(std::move(advice));
  }
  return advices;
}

}  // namespace contrafact::advise
