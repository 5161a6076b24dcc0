#include "advise/section_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "base/saturating.h"
#include "improve/divided_data.h"
#include "improve/kind.h"
#include "improve/lock_candidates.h"
#include "improve/observation.h"
#include "model/facts.h"
#include "table/value_text.h"

namespace contrafact::advise {
namespace {

// The sum of the waits for the locks: an upper bound of the gain, as good as any for choosing.
int64_t waits_ns(const analysis::SectionFacts& facts, const improve::Candidate& candidate) {
  std::vector<bool> concerned(facts.trace->locks.size());
  for (const model::LockId lock : candidate.locks) concerned[lock.index()] = true;
  int64_t sum_ns = 0;
  for (const model::CriticalSection& section : facts.sections) {
    if (concerned[section.lock.index()]) sum_ns = base::add_saturated(sum_ns, section.wait_ns());
  }
  return sum_ns;
}

void rank(std::vector<Advice>& advices) {
  std::ranges::stable_sort(advices, std::greater(),
                           [](const Advice& advice) { return section_gain(advice.effect).share; });
  const auto share_lock = [](const Advice& x, const Advice& y) {
    return std::ranges::find_first_of(x.candidate.locks, y.candidate.locks) != x.candidate.locks.end();
  };
  const auto effort = [](const Advice& advice) { return improve::kind_of(advice.improvement()).steps(); };
  const auto drawn = [](const Advice& advice) {
    const Gain gain = section_gain(advice.effect);
    if (!ends_simulated(advice.effect)) return std::pair(gain.share, gain.share);
    return std::pair(advice.effect.simulated->drawn_low, advice.effect.simulated->drawn_high);
  };
  for (auto place = advices.begin(); place != advices.end(); ++place) {
    auto first = place;
    for (auto other = place + 1; other != advices.end(); ++other) {
      const bool as_good =
          drawn(*other).second + kGainTie >= drawn(*place).first && section_gain(other->effect).share >= kGainMin;
      if (as_good && share_lock(*other, *place) && effort(*other) < effort(*first)) first = other;
    }
    std::rotate(place, first, first + 1);
  }
  // Changes that gain visibly and were observed well come first, changes that gain nothing last.
  std::ranges::stable_sort(advices, {}, [](const Advice& advice) {
    if (!gains(advice)) return 2;
    const bool is_visible = section_gain(advice.effect).share >= kGainTie;
    return is_visible && !improve::is_little_observed(advice.candidate) ? 0 : 1;
  });
}

// Puts together, from the best change on, those whose locks no better one changes; or all that were asked for.
void make_together(const Pricer& pricer, bool all, SectionAdvices& advices) {
  std::vector<bool> changed(pricer.trace().locks.size());
  std::vector<whatif::Improvement> improvements;
  for (size_t i = 0; i < advices.ranked.size(); ++i) {
    const Advice& advice = advices.ranked[i];
    const std::vector<model::LockId>& locks = advice.candidate.locks;
    const bool again = std::ranges::any_of(locks, [&](model::LockId lock) { return changed[lock.index()]; });
    if (!all && (!helps(advice, pricer.baseline()) || again)) continue;
    for (const model::LockId lock : locks) changed[lock.index()] = true;
    advices.together.push_back(i);
    improvements.push_back(advice.improvement());
  }
  base::Result<Effect> effect =
      improvements.size() < 2 ? base::Error{"nothing to combine"} : effect_of({.pricer = pricer}, improvements);
  if (effect.ok()) {
    advices.together_effect = *std::move(effect);
  } else {
    advices.together.clear();
  }
}

// Keeps the changes whose locks were waited for longest, where there are too many.
void keep_longest(const analysis::SectionFacts& facts, size_t kept, SectionAdvices& advices,
                  std::vector<improve::Candidate>& candidates) {
  std::vector<std::pair<int64_t, improve::Candidate>> by_wait;
  for (improve::Candidate& candidate : candidates) {
    const int64_t wait_ns = waits_ns(facts, candidate);
    by_wait.emplace_back(wait_ns, std::move(candidate));
  }
  std::ranges::stable_sort(by_wait, [](const auto& x, const auto& y) { return x.first > y.first; });
  advices.not_priced = by_wait.size() > kept ? by_wait.size() - kept : 0;
  candidates.clear();
  for (auto& [wait_ns, candidate] : by_wait) {
    if (candidates.size() < kept) candidates.push_back(std::move(candidate));
  }
}

// Prices the redesigns of locks that nothing else helps, and adds their gains to the reasons.
void price_redesigns(const Pricer& pricer, SectionAdvices& advices) {
  constexpr size_t kPricedMax = 16;
  constexpr double kWorthARedesign = 0.02;
  size_t priced = 0;
  for (improve::Ineligible& refused : advices.ineligible) {
    const auto is_helped = [&](const Advice& advice) {
      return std::ranges::find(advice.candidate.locks, refused.lock) != advice.candidate.locks.end() &&
             helps(advice, pricer.baseline());
    };
    if (!refused.redesign || ++priced > kPricedMax || std::ranges::any_of(advices.ranked, is_helped)) continue;
    const base::Result<Effect> effect = effect_of({.pricer = pricer}, std::span(&refused.redesign->improvement, 1));
    if (!effect || section_gain(*effect).share < kWorthARedesign) continue;
    const Verdict verdict = verdict_of(*effect, pricer.baseline());
    if (verdict != Verdict::gain && verdict != Verdict::baseline_off) continue;
    refused.reason +=
        fmt::format("; {} shorter{} {}", table::percent_text(section_gain(*effect).share),
                    verdict == Verdict::gain ? "" : ", baseline off,", improve::redesign_words(*refused.redesign));
  }
}

// The most frequent reason why threads left the observed code, with its count; empty where none left it.
std::string most_left(const model::Trace& trace) {
  constexpr std::string_view kPrefix = "sets.left.";
  std::string_view reason;
  uint64_t most = 0;
  for (const auto& [key, value] : trace.facts) {
    uint64_t count = 0;
    if (!key.starts_with(kPrefix)) continue;
    std::from_chars(value.data(), value.data() + value.size(), count);
    if (count > most) reason = std::string_view(key).substr(kPrefix.size());
    most = std::max(most, count);
  }
  if (most == 0) return "";
  return fmt::format(": threads left the observed code {} times for '{}' (docs/native.md)",
                     table::count_text(static_cast<int64_t>(most)), reason);
}

}  // namespace

SectionAdvices advise_sections(const Pricer& pricer, const SectionAdviceOptions& options) {
  const analysis::SectionFacts& facts = *pricer.sections();
  SectionAdvices advices;
  improve::Candidates found = improve::lock_candidates(facts);
  advices.ineligible = std::move(found.ineligible);
  std::vector<improve::Candidate> candidates = options.apply.empty() ? std::move(found.candidates) : options.apply;
  if (options.apply.empty()) keep_longest(facts, options.priced_max, advices, candidates);
  std::vector<std::optional<Advice>> priced(candidates.size());
  for_each_index(candidates.size(), options.progress, [&](size_t i) {
    Advice advice{.candidate = std::move(candidates[i])};
    base::Result<Effect> effect = effect_of({.pricer = pricer}, std::span(&advice.improvement(), 1));
    if (!effect) return;
    advice.effect = *std::move(effect);
    advice.verdict = verdict_of(advice.effect, pricer.baseline());
    priced[i] = std::move(advice);
  });
  for (std::optional<Advice>& advice : priced) {
    if (advice) advices.ranked.push_back(*std::move(advice));
  }
  rank(advices.ranked);
  if (options.apply.empty()) price_redesigns(pricer, advices);
  make_together(pricer, !options.apply.empty(), advices);
  return advices;
}

Gain section_gain(const Effect& effect) {
  if (ends_simulated(effect)) {
    const SimulatedEffect& simulated = *effect.simulated;
    return {simulated.gain, simulated.drawn_low, simulated.drawn_high, model::Origin::simulated};
  }
  const double share = effect.sections ? effect.sections->recorded_order : 0;
  return {share, share, share, model::Origin::estimated};
}

bool gains(const Advice& advice) {
  const Effect& effect = advice.effect;
  const double simulated = ends_simulated(effect) ? effect.simulated->gain : 0;
  return std::max({simulated, effect.sections->recorded_order, effect.sections->floor.value_or(0)}) >= kGainMin;
}

bool helps(const Advice& advice, const std::optional<whatif::BaselineCheck>& baseline) {
  if (advice.effect.simulated) return advice.verdict == Verdict::gain;
  return baseline && baseline->trusted && section_gain(advice.effect).share >= kGainMin;
}

std::string no_sets_reason(const model::Trace& trace) {
  const bool of_jvm = !trace.fact("jvm.name").empty();
  if (!model::has_lock_events(trace)) {
    return of_jvm ? "the trace has no critical sections, only waits for locks; contrafact record --classes-from THIS "
                    "--sets --twice -o locks.cft -- PROGRAM records them, and what they read and write"
                  : "the trace has no lock events";
  }
  if (trace.locks.empty() || !trace.access_sets.empty()) return "";
  if (!trace.fact("sets.source").empty())
    return "what critical sections read and wrote was to be recorded, but none of them was observed" + most_left(trace);
  return fmt::format(
      "the trace does not say what critical sections read and wrote; contrafact record {}--sets -o run.cft -- PROGRAM "
      "records them",
      of_jvm ? "--classes-from THIS " : "");
}

}  // namespace contrafact::advise
