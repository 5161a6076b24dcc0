#include "advise/flow_advice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "advise/verdict.h"
#include "analysis/lock_profile.h"
#include "base/middle.h"
#include "base/saturating.h"
#include "table/value_text.h"

namespace contrafact::advise {
namespace {

using analysis::LockImpact;
using analysis::Relation;
using analysis::times_of;
using graph::PairKind;

std::optional<double> share_gone(int64_t before_ns, int64_t after_ns) {
  if (before_ns <= 0) return std::nullopt;
  return 1 - static_cast<double>(after_ns) / static_cast<double>(before_ns);
}

bool is_above_nothing(const std::optional<Gain>& gain) {
  return gain && gain->low > 0 && gain->share >= kGainMin;
}

class FlowAdviser {
 public:
  FlowAdviser(const Pricer& pricer, const model::SectionFlows& flows, const model::MemoryNames& names,
              const FlowAdviceOptions& options)
      : pricer_(pricer),
        facts_(*pricer.sections()),
        flows_(flows),
        names_(names),
        options_(options),
        impacts_(facts_, flows, options.impact) {}

  FlowAdvice run() {
    FlowAdvice advice{.impact = impacts_.impact()};
    const auto fields = analysis::conflicts_without_flow(facts_, flows_, names_, options_.impact.control);
    const size_t total = advice.impact.locks.size() + 1;
    size_t done = 0;
    const auto report = [&] {
      if (options_.progress) options_.progress(++done, total);
    };
    advice.all = gains({});
    report();
    for (const LockImpact& impact : advice.impact.locks) {
      LockFlowAdvice lock{.impact = impact, .gains = gains(impacts_.only(impact.lock))};
      if (const auto known = fields.find(impact.lock); known != fields.end()) lock.fields = known->second;
      judge(lock);
      advice.locks.push_back(std::move(lock));
      report();
    }
    advice.next = next_bottleneck(advice.locks);
    return advice;
  }

 private:
  FlowGains gains(const std::vector<bool>& relaxed) const {
    FlowGains found;
    const std::optional<SimulatedEffect> conflicts = effect(Relation::conflicts, relaxed);
    const std::optional<SimulatedEffect> flows = effect(Relation::flows, relaxed);
    const std::optional<whatif::BaselineCheck>& baseline = pricer_.baseline();
    if (conflicts) found.conflicts = gain_of(*baseline, *conflicts);
    if (flows) found.flows = gain_of(*baseline, *flows);
    if (conflicts && flows) found.beyond_conflicts = gain_of(*baseline, beyond(*conflicts, *flows));
    return found;
  }

  std::optional<SimulatedEffect> effect(Relation relation, std::vector<bool> relaxed) const {
    if (!pricer_.simulates() || pricer_.baseline()->stuck) return std::nullopt;
    auto order = impacts_.order(relation, relaxed);
    // Nothing changes. In a simulation, threads that take turns in a given order would still take more or less time for
    // it than threads that take a lock as they come.
    if (order->begin == facts_.recorded.begin && order->before == facts_.recorded.before) {
      SimulatedEffect none;
      none.drawn = {0};
      return none;
    }
    if (relaxed.empty()) relaxed.assign(facts_.trace->locks.size(), true);
    const base::Result<SimulatedEffect> effect = pricer_.simulate_order(std::move(order), std::move(relaxed));
    if (!effect.ok() || effect->stuck || effect->drawn.empty()) return std::nullopt;
    return *effect;
  }

  // By how much `flows` gains more in each draw. If keeping the order of conflicts is a loss, the lock may stay as it is.
  static SimulatedEffect beyond(const SimulatedEffect& conflicts, const SimulatedEffect& flows) {
    SimulatedEffect more = flows;
    for (size_t draw = 0; draw < more.drawn.size(); ++draw)
      more.drawn[draw] -= std::max(0.0, conflicts.drawn[std::min(draw, conflicts.drawn.size() - 1)]);
    const auto [lowest, highest] = std::ranges::minmax(more.drawn);
    more.drawn_low = lowest;
    more.drawn_high = highest;
    std::vector<double> drawn = more.drawn;
    more.gain = base::median(std::span(drawn));
    more.between_cores = 0;
    return more;
  }

  static void judge(LockFlowAdvice& lock) {
    const auto wait_ns = [&](Relation relation) { return times_of(lock.impact.times, relation).wait_ns; };
    lock.goes_with_conflicts = share_gone(wait_ns(Relation::locks), wait_ns(Relation::conflicts));
    lock.goes_with_flows = share_gone(wait_ns(Relation::conflicts), wait_ns(Relation::flows));
    const bool first = lock.goes_with_conflicts >= kPatternShare && is_above_nothing(lock.gains.conflicts);
    const bool second = lock.goes_with_flows >= kPatternShare && is_above_nothing(lock.gains.beyond_conflicts);
    const uint64_t unseen = std::max(lock.impact.without_sets, lock.impact.without_flows);
    lock.pattern = first && second                                                  ? FlowPattern::both
                   : first                                                          ? FlowPattern::over_synchronised
                   : second && 2 * lock.impact.without_sets >= lock.impact.sections ? FlowPattern::either
                   : second                                                         ? FlowPattern::conflicts_not_needed
                   : 2 * unseen >= lock.impact.sections                             ? FlowPattern::not_known
                                                                                    : FlowPattern::neither;
    if (second) lock.replacement = replacement_for(lock.fields);
  }

  // The change of the lock that gains most.
  std::optional<NextBottleneck> next_bottleneck(const std::vector<LockFlowAdvice>& locks) const {
    const LockFlowAdvice* best = nullptr;
    const auto gain = [](const LockFlowAdvice& lock) {
      return lock.has_needless_conflicts() ? lock.gains.flows->share
             : lock.is_over_synchronised() ? lock.gains.conflicts->share
                                           : 0;
    };
    for (const LockFlowAdvice& lock : locks) {
      if (gain(lock) > 0 && (best == nullptr || gain(lock) > gain(*best))) best = &lock;
    }
    if (best == nullptr) return std::nullopt;
    NextBottleneck next{.changed = best->impact.lock,
                        .relation = best->has_needless_conflicts() ? Relation::flows : Relation::conflicts};
    const std::vector<int64_t> waits_ns =
        impacts_.wait_ns_by_lock(*impacts_.order(next.relation, impacts_.only(next.changed)));
    for (uint32_t lock = 0; lock < waits_ns.size(); ++lock) {
      next.all_wait_ns = base::add_saturated(next.all_wait_ns, waits_ns[lock]);
      if (waits_ns[lock] <= next.wait_ns) continue;
      next.next = model::LockId(lock);
      next.wait_ns = waits_ns[lock];
    }
    return next;
  }

  const Pricer& pricer_;
  const analysis::SectionFacts& facts_;
  const model::SectionFlows& flows_;
  const model::MemoryNames& names_;
  const FlowAdviceOptions& options_;
  const analysis::ScheduleImpacts impacts_;
};

std::string gone_text(const std::optional<double>& share) {
  return share ? table::percent_text(*share) : "none";
}

// Pairs of sections that do not conflict: of which kind most of them are, and what to do about that.
std::string over_synchronised_text(const LockImpact& impact) {
  constexpr std::pair<PairKind, std::string_view> kKinds[] = {
      {PairKind::null_lock, "one of the two touches nothing: leave the lock out there"},
      {PairKind::read_read, "both only read: a reader-writer lock, or data that readers share without a lock"},
      {PairKind::disjoint_write, "the two touch different data: finer locks, one for each part of the data"},
      {PairKind::benign, "the two write the same, or their additions commute: atomic additions (in Java a LongAdder)"}};
  const auto most = std::ranges::max_element(kKinds, {}, [&](const auto& kind) { return impact.pairs[kind.first]; });
  return fmt::format("in {} of {} {}", impact.pairs[most->first],
                     table::counted_text(impact.pairs.all(), "pair that overlaps", "pairs that overlap"), most->second);
}

std::string fields_text(const std::vector<analysis::ConflictField>& fields) {
  constexpr size_t kNamed = 3;
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(kNamed, fields.size()); ++i) names.push_back(fields[i].memory);
  const std::string more = fields.size() > kNamed ? fmt::format(" and {} more", fields.size() - kNamed) : "";
  return fmt::format("{}{}", fmt::join(names, ", "), more);
}

std::string needless_text(const LockFlowAdvice& lock) {
  const std::string where = lock.fields.empty() ? "" : fmt::format(" (they meet in {})", fields_text(lock.fields));
  if (lock.replacement == nullptr)
    return fmt::format("another data structure, in which sections that hand each other nothing do not meet{}", where);
  const std::string_view whose = lock.replacement->class_name;
  return fmt::format("{} instead of {}: {}{}", lock.replacement->by, whose.empty() ? "the field" : whose,
                     lock.replacement->reason, where);
}

}  // namespace

std::string_view name_of(FlowPattern pattern) {
  switch (pattern) {
    case FlowPattern::over_synchronised:
      return "1: over-synchronised";
    case FlowPattern::conflicts_not_needed:
      return "2: conflicts not needed";
    case FlowPattern::both:
      return "1 and 2";
    case FlowPattern::either:
      return "1 or 2";
    case FlowPattern::neither:
      return "neither";
    case FlowPattern::not_known:
      return "not known";
  }
  return "?";
}

FlowAdvice advise_flows(const Pricer& pricer, const model::SectionFlows& flows, const model::MemoryNames& names,
                        const FlowAdviceOptions& options) {
  return FlowAdviser(pricer, flows, names, options).run();
}

std::string why_text(const LockFlowAdvice& lock) {
  const LockImpact& impact = lock.impact;
  switch (lock.pattern) {
    case FlowPattern::over_synchronised:
      return fmt::format("with the order of conflicts alone {} of the wait goes", gone_text(lock.goes_with_conflicts));
    case FlowPattern::conflicts_not_needed:
      return fmt::format("with the order of flows alone {} of the wait goes that conflicts leave",
                         gone_text(lock.goes_with_flows));
    case FlowPattern::either:
      return fmt::format(
          "with the order of flows alone {} of the wait goes; what most of its sections touch is not known",
          gone_text(lock.goes_with_flows));
    case FlowPattern::both:
      return fmt::format("with the order of conflicts alone {} of the wait goes, and with that of flows {} of the rest",
                         gone_text(lock.goes_with_conflicts), gone_text(lock.goes_with_flows));
    case FlowPattern::not_known:
      return fmt::format("of {} of {} it is not known what they touch, of {} what they get: these keep their order",
                         table::count_text(static_cast<int64_t>(impact.without_sets)),
                         table::counted_text(impact.sections, "section", "sections"),
                         table::count_text(static_cast<int64_t>(impact.without_flows)));
    case FlowPattern::neither:
      break;
  }
  const int64_t all_ns = times_of(impact.times, Relation::locks).wait_ns;
  const int64_t left_ns = times_of(impact.times, Relation::flows).wait_ns;
  const double left = static_cast<double>(left_ns) / static_cast<double>(std::max<int64_t>(all_ns, 1));
  if (left > 1 - kPatternShare)
    return fmt::format(
        "with the order of flows alone {} of the wait stays: the computation itself hands information on",
        table::percent_text(left));
  if (lock.goes_with_conflicts.value_or(0) < kPatternShare && lock.goes_with_flows.value_or(0) < kPatternShare)
    return fmt::format(
        "with the order of conflicts alone {} of the wait goes, and with that of flows {} of the rest: less than half "
        "each",
        gone_text(lock.goes_with_conflicts), gone_text(lock.goes_with_flows));
  if (!lock.gains.flows) return "the wait would go, but what the run would gain could not be simulated";
  return "the wait would go, but the run would not be shorter by more than the error";
}

std::vector<std::string> lock_sentences(const model::Trace& trace, const FlowAdvice& advice) {
  std::vector<std::string> sentences;
  for (const LockFlowAdvice& lock : advice.locks) {
    if (lock.pattern == FlowPattern::not_known) continue;
    const std::optional<Gain>& gain = lock.has_needless_conflicts() ? lock.gains.flows : lock.gains.conflicts;
    const bool matches = lock.is_over_synchronised() || lock.has_needless_conflicts();
    sentences.push_back(
        fmt::format("{}: {}{}: {}", analysis::lock_name(trace, lock.impact.lock), name_of(lock.pattern),
                    matches && gain ? fmt::format("; at most {} (simulated)", table::percent_text(gain->share)) : "",
                    matches ? advice_text(lock) : why_text(lock)));
  }
  return sentences;
}

std::string advice_text(const LockFlowAdvice& lock) {
  switch (lock.pattern) {
    case FlowPattern::over_synchronised:
      return over_synchronised_text(lock.impact);
    case FlowPattern::conflicts_not_needed:
      return needless_text(lock);
    case FlowPattern::either:
      return "record with --sets as well: it shows whether finer locks do, or only another data structure";
    case FlowPattern::both:
      return fmt::format("{}; beyond that {}", over_synchronised_text(lock.impact), needless_text(lock));
    case FlowPattern::neither:
      return "stop looking here";
    case FlowPattern::not_known:
      return "record with --sets and --flow, with the classes of these sections";
  }
  return "";
}

}  // namespace contrafact::advise
