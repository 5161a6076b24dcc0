// Says of each lock that threads wait for, by the flows between its critical sections, which of two patterns it has, or
// both, or neither (FlowProf, sections 3 and 6.1).
//
//   1  over-synchronised    half of the wait or more goes if only sections that conflict keep their order, and the run's
//                           gain has an interval above 0: finer locks, readers, or no lock
//   2  conflicts not needed half of the wait that is left then, or more, goes if only sections that hand information on
//                           keep it, and so does the gain beyond that of pattern 1: another data structure
//
// Waits are estimated on as many cores as it takes (analysis/schedule_impact.h), gains simulated on the machine's cores
// with the pricer's draws. Where nothing is simulated no pattern is found.
//
// Pure. Cost: for each lock that is looked at two passes over the events, and two simulations for each draw.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "advise/pricer.h"
#include "advise/replacements.h"
#include "analysis/schedule_impact.h"

namespace contrafact::advise {

// A pattern matches from this share of the wait on.
inline constexpr double kPatternShare = 0.5;

enum class FlowPattern : uint8_t {
  over_synchronised,
  conflicts_not_needed,
  both,
  either,     // 2, or 1: of most sections it is not known what they touch
  neither,    // the order is what the computation needs, or its waits cost the run nothing: stop looking here
  not_known,  // of most sections it is not known what they touch, or what they get
};
// "1: over-synchronised", ...
std::string_view name_of(FlowPattern pattern);

struct FlowGains {
  std::optional<Gain> conflicts;         // only conflicts keep their order; none: it was not simulated to its end
  std::optional<Gain> flows;             // only flows do
  std::optional<Gain> beyond_conflicts;  // what the latter gains more, draw by draw
};

struct LockFlowAdvice {
  analysis::LockImpact impact;
  FlowGains gains;
  // Of the wait with all locks, what goes with conflicts alone; and of the wait that is left then, what goes with flows
  // alone. None: there is none to go.
  std::optional<double> goes_with_conflicts, goes_with_flows;
  FlowPattern pattern = FlowPattern::neither;
  std::vector<analysis::ConflictField> fields;  // that sections conflict on without a flow, most pairs first
  const Replacement* replacement = nullptr;     // of pattern 2

  bool is_over_synchronised() const {
    return pattern == FlowPattern::over_synchronised || pattern == FlowPattern::both;
  }
  bool has_needless_conflicts() const {
    return pattern == FlowPattern::conflicts_not_needed || pattern == FlowPattern::both ||
           pattern == FlowPattern::either;
  }
};

// Where threads wait most once the best change is made: its lock's order reduced to what its pattern keeps.
struct NextBottleneck {
  model::LockId changed;
  analysis::Relation relation = analysis::Relation::locks;
  model::LockId next;   // none: nobody waits any more
  int64_t wait_ns = 0;  // for it; and for all
  int64_t all_wait_ns = 0;
};

struct FlowAdvice {
  analysis::ScheduleImpact impact;
  FlowGains all;                       // with the order of all locks reduced
  std::vector<LockFlowAdvice> locks;   // as impact.locks
  std::optional<NextBottleneck> next;  // none: no pattern
};

struct FlowAdviceOptions {
  analysis::ImpactOptions impact;
  std::function<void(size_t done, size_t total)> progress = {};
};

// REQUIRES: pricer.sections(). `flows`: of these, model::with_outside. `names`: of the recording with sets.
FlowAdvice advise_flows(const Pricer& pricer, const model::SectionFlows& flows, const model::MemoryNames& names,
                        const FlowAdviceOptions& options);

// Why the pattern is what it is, with the share that decided it; and what to do. Sentences.
std::string why_text(const LockFlowAdvice& lock);
std::string advice_text(const LockFlowAdvice& lock);
// "shop.Cache: 2: conflicts not needed; gains at most 41 % (simulated): ...", for each lock with a pattern or with none;
// those of which too little is known are left out.
std::vector<std::string> lock_sentences(const model::Trace& trace, const FlowAdvice& advice);

}  // namespace contrafact::advise
