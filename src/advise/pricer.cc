#include "advise/pricer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "advise/verdict.h"
#include "analysis/cpu_use.h"
#include "analysis/warm_up.h"
#include "base/middle.h"
#include "table/value_text.h"
#include "whatif/sim_program.h"

namespace contrafact::advise {
namespace {

// Without locks that ordered the run there are no hand-overs to draw from.
uint32_t draws_of(const model::Facts& facts, const PricerOptions& options) {
  return facts.locks_ordered() ? options.draws : 0;
}

double computing_threads(int64_t cpu_ns, int64_t duration_ns) {
  return duration_ns <= 0 ? 0 : static_cast<double>(cpu_ns) / static_cast<double>(duration_ns);
}

// Of a JVM's run: tasks that ran before their code was compiled, and the time for which other programs (in older traces
// also the virtual machine's own threads) kept threads from their cores. Both take a fixed time by the clock, so the
// computing that they spoil depends on how many threads compute meanwhile.
double fleeting_share(const model::Facts& facts) {
  const double foreign = analysis::foreign_share(facts).value_or(0);
  return std::min(1.0, analysis::warm_up_share(facts.trace()) + foreign);
}

// More than this share of the run is most of it.
constexpr double kMostOfRun = 0.5;

std::optional<analysis::ContendedPlace> most_contended(const model::Facts& facts) {
  for (const analysis::ContendedPlace& place : analysis::contended_places(facts)) {
    if (!place.holder_may_wait) return place;
  }
  return std::nullopt;
}

// Repeated runs of one program differ by more than what is left out here.
double worth_telling(double share) {
  return share < kGainTie ? 0 : share;
}

}  // namespace

Pricer::Pricer(const model::Facts& facts, const analysis::SectionFacts* sections, const PricerOptions& options)
    : facts_(facts),
      trace_(facts.trace()),
      sections_(sections),
      options_(options),
      simulator_(facts, options.left_out) {
  if (sections_ != nullptr) {
    bounds_ = std::make_unique<const whatif::SectionBounds>(simulator_, trace_, sections_->sections, sections_->sets,
                                                            sections_->recorded, sections_->graph);
  }
  if (!options_.simulate) return;
  base::Result<whatif::BaselineCheck> check = check_baseline();
  if (!check) return;
  baseline_ = *std::move(check);
  const WaitingRun recorded = recorded_run(trace_, simulator_.sections());
  const base::Result<whatif::Variant> unchanged = variant({});
  // The check has simulated seed 0 of it, but for what sections cost and how long threads waited.
  if (!facts_.locks_ordered()) base_.push_back({{.duration_ns = baseline_->stuck ? 0 : baseline_->simulated_ns}});
  const auto plan = simulator_.plan(*unchanged, whatif::SimulateOptions().lock_rule);
  std::vector<double> missed;
  for (uint64_t seed = base_.size(); seed <= draws_of(facts_, options_); ++seed) {
    const base::Result<whatif::Simulation> simulation = run(*unchanged, plan.get(), seed);
    Base& base = base_.emplace_back();
    if (!simulation.ok() || !simulation->stuck.empty()) continue;
    base.run = simulated_run(trace_, *simulation);
    base.missed_ns = missed_ns(recorded, base.run);
    missed.push_back(static_cast<double>(base.missed_ns) / static_cast<double>(recorded.duration_ns));
  }
  if (!missed.empty()) missed_ = base::median(std::span(missed));
  if (facts_.locks_ordered()) return;
  contended_ = most_contended(facts_);
  base_threads_ = computing_threads(baseline_->cpu_ns, baseline_->simulated_ns);
  fleeting_ = fleeting_share(facts_);
}

Pricer::~Pricer() = default;

// The error is that for the recorded run, the simulated run that of the options.
base::Result<whatif::BaselineCheck> Pricer::check_baseline() const {
  base::Result<whatif::BaselineCheck> check = simulator_.check_baseline({.cores = options_.cores});
  if (!check || !options_.left_out.any()) return check;
  base::Result<whatif::BaselineCheck> recorded = whatif::Simulator(facts_).check_baseline({.cores = options_.cores});
  if (!recorded) return recorded;
  recorded->simulated_ns = check->simulated_ns;
  recorded->cpu_ns = check->cpu_ns;
  recorded->stuck |= check->stuck;
  return recorded;
}

base::Result<whatif::Simulation> Pricer::run(const whatif::Variant& variant, const whatif::SectionPlan* plan,
                                             uint64_t seed) const {
  return simulator_.simulate(variant, {.cores = options_.cores, .seed = seed}, plan);
}

base::Result<whatif::Variant> Pricer::variant(std::span<const whatif::Improvement> improvements) const {
  base::Result<whatif::Variant> variant = whatif::variant_of(trace_, simulator_.sections(), improvements);
  if (variant.ok() && sections_ != nullptr) variant->cpu_scales = sections_->cpu_scales;
  return variant;
}

base::Result<SimulatedEffect> Pricer::simulate(std::span<const whatif::Improvement> improvements) const {
  const base::Result<whatif::Variant> made = variant(improvements);
  if (!made) return made.error();
  return simulate(*made);
}

base::Result<SimulatedEffect> Pricer::simulate_order(std::shared_ptr<const graph::SectionOrder> order,
                                                     std::vector<bool> ordered) const {
  base::Result<whatif::Variant> made = variant({});
  if (!made) return made.error();
  made->order = std::move(order);
  made->ordered = std::move(ordered);
  return simulate(*made);
}

base::Result<SimulatedEffect> Pricer::simulate(const whatif::Variant& made) const {
  SimulatedEffect effect;
  std::vector<double> gains;
  const auto plan = simulator_.plan(made, whatif::SimulateOptions().lock_rule);
  for (uint64_t seed = 0; seed < base_.size(); ++seed) {
    base::Result<whatif::Simulation> simulation = run(made, plan.get(), seed);
    if (!simulation) return simulation.error();
    const bool stuck = !simulation->stuck.empty();
    if (seed == 0) {
      effect.duration_ns = simulation->duration_ns;
      effect.doubt = worth_telling(doubt(*simulation) + vm_doubt(*simulation) + spared_share(*simulation));
      effect.more = worth_telling(more(made));
      effect.between_cores = worth_telling(between_cores(made));
      effect.notes = std::move(simulation->notes);
    }
    if (stuck && (seed == 0 || base_[seed].run.duration_ns > 0)) {  // with some hand-overs, if not with all
      effect.stuck = true;
      effect.stuck_why = simulation->stuck.front().reason;
    }
    if (!stuck && base_[seed].run.duration_ns > 0)
      gains.push_back(gain_with_missed(base_[seed].run, base_[seed].missed_ns, simulated_run(trace_, *simulation)));
    if (effect.stuck) return effect;
  }
  if (gains.empty()) return effect;
  effect.drawn = gains;
  effect.gain = base::median(std::span(gains));
  effect.duration_ns = std::llround(static_cast<double>(baseline_->simulated_ns) * (1 - effect.gain));
  const auto [lowest, highest] = std::ranges::minmax(gains);
  effect.missed = missed_;
  effect.drawn_low = lowest;
  effect.drawn_high = highest;
  if (made.cores == 0) limit_by_lock(effect);
  if (!facts_.locks_ordered()) effect.usual_error = usual_error(effect.gain);
  return effect;
}

// While a thread waits for a lock, another one holds it: no change of tasks or pools makes that time shorter. In the
// rest of the run the lock is held as well, for an unknown time. So the gain is anything from nothing to that rest. Where
// threads wait for one lock during most of the run, it is anything from nothing to what the simulation gains, too, which
// does not know the lock: four workers of which one holds a lock nearly always were promised 17 to 32 % by more workers.
void Pricer::limit_by_lock(SimulatedEffect& effect) const {
  if (!contended_) return;
  const double most = std::max(0.0, 1 - contended_->share);
  if (effect.gain <= 0 || (effect.gain <= most && contended_->share <= kMostOfRun)) return;
  effect.notes.push_back(
      fmt::format("threads wait for a lock at {} during {} of the run, taken for one lock that is held as long as "
                  "recorded: without that limit it would gain {}",
                  trace_.context_label(contended_->context), table::percent_text(contended_->share),
                  table::percent_text(effect.gain)));
  effect.gain = std::min(effect.gain, most) / 2;
  effect.drawn_low = std::min(effect.drawn_low, effect.gain);
  effect.drawn_high = std::min(effect.drawn_high, most);
  effect.doubt += effect.gain;
  effect.duration_ns = std::llround(static_cast<double>(baseline_->simulated_ns) * (1 - effect.gain));
}

// With half or twice as many threads computing at a time, half or twice as much of the computing is fleeting. A share
// of the unchanged run.
double Pricer::doubt(const whatif::Simulation& simulation) const {
  if (fleeting_ == 0 || base_threads_ == 0 || base_[0].run.duration_ns == 0) return 0;
  const double change = std::fabs(computing_threads(simulation.cpu_ns, simulation.duration_ns) / base_threads_ - 1);
  return fleeting_ * change * static_cast<double>(simulation.duration_ns) /
         static_cast<double>(base_[0].run.duration_ns);
}

// The virtual machine's own threads compute up to a quarter more or less in a changed run (a compiler beside two
// workers instead of one: 892 and 1118 ms). Where they and the program need most of the cores, the run is longer or
// shorter by that. A share of the unchanged run.
double Pricer::vm_doubt(const whatif::Simulation& simulation) const {
  constexpr double kMoreOrLess = 0.25, kRoom = 0.2;
  const auto vm_ns = static_cast<double>(simulator_.program().vm_work.total_ns());
  if (vm_ns == 0 || simulation.cores == 0 || simulation.duration_ns <= 0 || base_[0].run.duration_ns == 0) return 0;
  const auto cores = static_cast<double>(simulation.cores);
  const double busy =
      (static_cast<double>(simulation.cpu_ns) + vm_ns) / (cores * static_cast<double>(simulation.duration_ns));
  const double crowded = std::clamp((busy - (1 - kRoom)) / kRoom, 0.0, 1.0);
  return kMoreOrLess * crowded * vm_ns / (cores * static_cast<double>(base_[0].run.duration_ns));
}

// Waits that are left out, although no event shows what they were for. A share of the unchanged run.
double Pricer::spared_share(const whatif::Simulation& simulation) const {
  return base_[0].run.duration_ns == 0
             ? 0
             : static_cast<double>(simulation.spared_waits_ns) / static_cast<double>(base_[0].run.duration_ns);
}

// Of the threads whose tasks become calls, the one that spent the most time on handing them out: the part of that time
// that is not simulated.
double Pricer::more(const whatif::Variant& variant) const {
  if (facts_.locks_ordered() || base_[0].run.duration_ns == 0) return 0;
  const model::HandOverCosts& costs = facts_.hand_over_costs();
  std::vector<int64_t> by_thread(trace_.threads.size());
  const auto add = [&](size_t task) {
    if (!trace_.tasks[task].spawn.valid()) return;
    by_thread[trace_.thread_of(trace_.tasks[task].spawn).index()] += costs.spawn_most_ns[task] - costs.spawn_ns[task];
  };
  for (size_t i = 0; i < variant.treatments.size(); ++i) {
    if (variant.treatments[i] != whatif::Treatment::keep) add(i);
  }
  for (const whatif::TaskMerge& merge : variant.merges) {
    for (const model::TaskId task : merge.tasks) add(task.index());
  }
  const auto most = std::ranges::max_element(by_thread);
  return most == by_thread.end()
             ? 0
             : static_cast<double>(std::max<int64_t>(0, *most)) / static_cast<double>(base_[0].run.duration_ns);
}

// Sections that run at the same time on several cores fetch their data and their locks from each other's caches. The
// recorded run does not show that, for there one thread often acquired the lock many times in a row. And the recorder's
// two events, which made each section longer, are missing in an unrecorded run. This matters where sections take some
// 0.1 us and threads do little else: memory handed out by an atomic addition instead of under a mutex took 108 ms
// instead of 59. A share of the unchanged run.
double Pricer::between_cores(const whatif::Variant& variant) const {
  constexpr double kMovesNs = 80, kEventsNs = 50;
  const std::span<const model::CriticalSection> sections = simulator_.sections();
  const uint32_t cores = options_.cores > 0 ? options_.cores : model::recorded_cores(trace_);
  if ((variant.edits.empty() && !variant.order) || cores == 0 || base_[0].run.duration_ns == 0) return 0;
  size_t changed = 0;
  for (size_t s = 0; s < sections.size(); ++s) {
    if (variant.order) {
      changed += variant.ordered[sections[s].lock.index()];
      continue;
    }
    const whatif::SectionEdit &edit = variant.edits[s], before = whatif::unedited(sections[s]);
    changed += edit.lock != before.lock || edit.mode != before.mode || edit.also != before.also;
  }
  return (kMovesNs + kEventsNs) * static_cast<double>(changed) /
         (cores * static_cast<double>(base_[0].run.duration_ns));
}

base::Result<whatif::SectionGains> Pricer::section_gains(std::span<const whatif::Improvement> improvements) const {
  const base::Result<whatif::Variant> made = variant(improvements);
  if (!made) return made.error();
  return bounds_->gains(improvements, made->edits);
}

Gain gain_of(const whatif::BaselineCheck& baseline, const SimulatedEffect& effect) {
  const double off = std::max({doubt_with_missed(baseline.error, effect.missed), effect.doubt, effect.usual_error});
  return {effect.gain, effect.drawn_low - off - effect.between_cores,
          std::min(1.0, effect.drawn_high + off + effect.more), model::Origin::simulated};
}

}  // namespace contrafact::advise
