#include "advise/ranking.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "improve/kind.h"
#include "table/value_text.h"

namespace contrafact::advise {
namespace {

double ns(int64_t value) {
  return static_cast<double>(value);
}

// "4 -> 3 (-25 %)"
std::string fall(double before, double after) {
  return fmt::format("{} -> {} ({} %)", table::number_text(before), table::number_text(after),
                     table::number_text(std::round(-100 * gain(before, after))));
}

// By how many threads the peak and the mean change; empty where that may be noise.
std::string threads_clause(const whatif::Figures& base, const whatif::Figures& after) {
  const double peak = gain(base.peak_occupied, after.peak_occupied);
  const double mean = gain(base.mean_occupied, after.mean_occupied);
  if (std::max(std::fabs(peak), std::fabs(mean)) < kTellableThreads) return "";
  return fmt::format("{} threads at work or waiting at peak, {} on average; ",
                     fall(base.peak_occupied, after.peak_occupied), fall(base.mean_occupied, after.mean_occupied));
}

// The part of a simulated gain that a missed self-check leaves open.
std::string uncertainty(const whatif::BaselineCheck& baseline) {
  if (baseline.trusted) return "";
  return fmt::format(", give or take {} %", table::number_text(std::round(100 * std::fabs(baseline.error))));
}

std::string time_clause(const AdviceDocument& document) {
  const Combination& best = document.best;
  const bool simulated = reads_simulation(document.advices, best.effect);
  const double before = ns(simulated ? document.advices.baseline->simulated_ns : document.advices.base.duration_ns);
  const double share = gain_to_read(document.advices, best.effect).share;
  const double after = before * (1 - share);
  std::string change = fmt::format("{} -> {}", table::duration_text(before), table::duration_text(after));
  const std::string origin =
      std::string(simulated ? "simulated" : "estimated") +
      (best.effect.over ? fmt::format(", median of {} recordings", document.several.size()) : "");
  if (std::fabs(share) < kTellableTime) return fmt::format("the run takes as long as before ({}, {})", change, origin);
  return fmt::format("the run takes {} ({} %{}, {})", change, table::number_text(std::round(-100 * share)),
                     simulated && !best.effect.over ? uncertainty(*document.advices.baseline) : "", origin);
}

bool gains_threads(const AdviceDocument& document, const whatif::Figures& after) {
  const whatif::Figures& base = document.advices.base;
  return document.threads_scarce && (gain(base.peak_occupied, after.peak_occupied) >= kTellableThreads ||
                                     gain(base.mean_occupied, after.mean_occupied) >= kTellableThreads);
}

// The loss of those who wait for the outermost tasks; empty if it may be noise.
std::string response_clause(const whatif::Figures& base, const whatif::Figures& after) {
  const double share = gain(base.mean_response_ns, after.mean_response_ns);
  if (share > -kTellableTime) return "";
  return fmt::format("; but its outermost tasks take {} % longer on average",
                     table::number_text(std::round(-100 * share)));
}

bool combination_is_tellable(const AdviceDocument& document) {
  const Effect& effect = document.best.effect;
  return gain_to_read(document.advices, effect).share >= kTellableTime ||
         gains_threads(document, figures_to_read(document.advices, effect));
}

// Whether there is anything to change at all.
bool gains_anything(const AdviceDocument& document) {
  return (!document.best.members.empty() && combination_is_tellable(document)) ||
         is_tellable(document, document.advices.ranked.front());
}

}  // namespace

bool is_tellable(const AdviceDocument& document, const Advice& advice) {
  return gain_to_read(document.advices, advice.effect).share >= kTellableTime ||
         gains_threads(document, figures_to_read(document.advices, advice.effect));
}

Shown shown_of(const AdviceDocument& document) {
  Shown shown{.best = document.best.members};
  const std::vector<Advice>& ranked = document.advices.ranked;
  for (size_t i = 0; i < ranked.size(); ++i) {
    if (std::ranges::find(shown.best, i) != shown.best.end()) continue;
    const bool tellable = is_tellable(document, ranked[i]);
    if (document.all || (tellable && shown.others.size() < document.shown)) {
      shown.others.push_back(i);
    } else {
      ++(tellable ? shown.cut : shown.untellable);
    }
  }
  return shown;
}

void rank_as_shown(AdviceDocument& document) {
  std::vector<Advice>& ranked = document.advices.ranked;
  std::vector<size_t>& members = document.best.members;
  std::vector<size_t> order(ranked.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t i) {
    if (std::ranges::find(members, i) != members.end()) return 0;
    return is_tellable(document, ranked[i]) ? 1 : 2;
  });
  std::vector<Advice> sorted;
  for (size_t i : order) sorted.push_back(std::move(ranked[i]));
  ranked = std::move(sorted);
  std::iota(members.begin(), members.end(), size_t{0});
}

std::string several_sentence(const AdviceDocument& document) {
  if (document.several.empty()) return "";
  std::string lengths;
  for (const RecordingNote& one : document.several)
    lengths +=
        fmt::format("{}{} ({})", lengths.empty() ? "" : ", ", one.path, table::duration_text(ns(one.duration_ns)));
  return fmt::format("Gains are medians over {} recordings, all else is of {}: {}.", document.several.size(),
                     document.several.front().path, lengths);
}

std::string gains_by_recording(const AdviceDocument& document, const Effect& effect) {
  std::string text;
  if (!effect.over) return text;
  for (size_t i = 0; i < effect.over->each.size(); ++i) {
    const std::optional<Gain>& one = effect.over->each[i];
    text += fmt::format("{}{} in {}", text.empty() ? "" : ", ", one ? table::percent_text(one->share) : "not known",
                        document.several[i].path);
  }
  return text;
}

std::string limit_sentence(const AdviceDocument& document) {
  return document.advices.limit.empty() ? "" : fmt::format("What limits this run: {}.", document.advices.limit);
}

std::string first_sentence(const AdviceDocument& document, const std::string& what, const std::string& place) {
  if (!gains_anything(document)) return "";
  const improve::Candidate& first = document.advices.ranked.front().candidate;
  const whatif::Improvement& improvement = first.improvement;
  const bool is_part = !improvement.sections.empty() && improvement.sections.size() < first.of_sections;
  return fmt::format("Change first: {} at {} ({}{}).", what, place,
                     improve::name_of(improve::kind_of(first.improvement).effort(first)),
                     is_part ? fmt::format("; for {} of {} sections only, the others need the lock as it is",
                                           improvement.sections.size(), first.of_sections)
                             : "");
}

std::string certainty_sentence(const AdviceDocument& document) {
  const Advices& advices = document.advices;
  if (advices.ranked.empty()) return "";
  const bool together = !document.best.members.empty();
  const Effect& effect = together ? document.best.effect : advices.ranked.front().effect;
  const Gain gain = gain_to_read(advices, effect);
  const std::string low = table::percent_text(gain.low), high = table::percent_text(gain.high);
  const std::string between = low == high ? "" : fmt::format(", between {} and {}", low, high);
  // A gain that cannot be measured gets no digits: they would look measured.
  const std::string change = std::max(std::fabs(gain.low), std::fabs(gain.high)) < kTellableTime
                                 ? fmt::format("no change of the run's time{}", between)
                                 : fmt::format("{} {}{}{} of the run's time", gain.share < 0 ? "no gain:" : "a gain of",
                                               table::percent_text(gain.share), between, between.empty() ? "" : ",");
  if (effect.over) {
    return fmt::format("How sure: {}, by {} recordings and what each leaves open ({}).", change,
                       document.several.size(), gains_by_recording(document, effect));
  }
  if (gain.origin == model::Origin::estimated)
    return fmt::format("How sure: {}, by hand-overs as fast and as slow as recorded (estimated).", change);
  return fmt::format("How sure: {} (simulated); simulated unchanged, the run is {} off{}.", change,
                     table::percent_text(advices.baseline->error),
                     advices.baseline->trusted ? "" : ", too much for small gains to be believed");
}

std::string summary_sentence(const AdviceDocument& document) {
  const Combination& best = document.best;
  if (best.members.empty() && !gains_anything(document)) return "Nothing gains more than repeated runs differ by.";
  if (best.members.empty() && document.advices.ranked.front().target() == whatif::Target::machine)
    return "No change of the program itself gains more than repeated runs differ by; more cores would.";
  if (best.members.empty()) return "No combination can be advised; each of these stands by itself.";
  const whatif::Figures base = document.advices.base, after = figures_to_read(document.advices, best.effect);
  const bool tellable = combination_is_tellable(document);
  std::string what =
      best.members.size() == 1 ? "this change" : fmt::format("these {} changes together", best.members.size());
  const std::string_view lead =
      tellable ? "Make" : "Nothing gains more than repeated runs differ by; the most would be";
  if (!best.effect.estimated || best.effect.partly_estimated)
    return fmt::format("{} {}: {}.", lead, what, time_clause(document));
  if (!document.threads_scarce) {
    return fmt::format("{} {}: {}{}. Its threads are virtual: fewer of them are no gain.", lead, what,
                       time_clause(document), response_clause(base, after));
  }
  return fmt::format("{} {}: {}{}{}.", lead, what, threads_clause(base, after), time_clause(document),
                     response_clause(base, after));
}

}  // namespace contrafact::advise
