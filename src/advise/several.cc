#include "advise/several.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>

#include "advise/gain_over.h"
#include "advise/section_advice.h"
#include "table/value_text.h"

namespace contrafact::advise {
namespace {

using improve::Candidate;
using whatif::Improvement;

bool changes_tasks(const Improvement& improvement) {
  return whatif::target_of(improvement.optimisation) == whatif::Target::tasks;
}

std::vector<Improvement> improvements_in(std::span<const Candidate> candidates) {
  std::vector<Improvement> improvements;
  for (const Candidate& candidate : candidates) improvements.push_back(candidate.improvement);
  return improvements;
}

// A change of the shown recording, in another one: none where its place does not occur.
using Elsewhere = std::vector<std::optional<Candidate>>;

Elsewhere find_in(const RecordingAdvice& other, std::span<const std::string> selections) {
  Elsewhere found;
  for (base::Result<Candidate>& one : improve::select_each(other.specs, selections)) {
    found.push_back(one ? std::optional(*std::move(one)) : std::nullopt);
  }
  return found;
}

// The gain of these changes, made together, in another recording. None where that recording cannot say.
std::optional<Gain> gain_in(const RecordingAdvice& other, std::span<const Candidate> candidates) {
  if (candidates.empty()) return Gain{};
  const base::Result<Effect> effect = effect_of(other.engines, improvements_in(candidates));
  if (!effect || (effect->simulated && effect->simulated->stuck)) return std::nullopt;
  return gain_to_read(other.advices, *effect);
}

// Rewrites one recording's advice by what the others say.
class Merger {
 public:
  Merger(RecordingAdvice& shown, std::span<const RecordingAdvice> others, const AdviceOptions& options)
      : shown_(shown), others_(others), options_(options) {}

  void merge() {
    adopt();
    note_combinations();
    price_elsewhere();
    rank_anew();
    choose_combination();
    leave_out_filtered();
  }

 private:
  std::vector<Advice>& ranked() { return shown_.advices.ranked; }
  std::string key_of(const Advice& advice) const { return improve::place_key(shown_.specs, advice.candidate); }

  // Adds the changes that other recordings rank and the shown one does not.
  void adopt() {
    std::map<std::string, bool> known;  // by key
    for (const Advice& advice : ranked()) known[key_of(advice)] = true;
    std::map<std::string, std::string> suggested;  // their selections, by key
    for (const RecordingAdvice& other : others_) {
      for (const Advice& advice : other.advices.ranked) {
        std::string key = improve::place_key(other.specs, advice.candidate);
        if (!known.contains(key)) suggested[std::move(key)] = improve::write_selection(other.specs, advice.candidate);
      }
    }
    std::erase_if(shown_.advices.left_out, [&](Advice& advice) {
      if (!advice.failed.empty()) return false;
      const bool wanted = suggested.erase(key_of(advice)) > 0;
      if (wanted) ranked().push_back(std::move(advice));
      return wanted;
    });
    std::vector<std::string> selections;
    for (const auto& [key, selection] : suggested) selections.push_back(selection);
    for (std::optional<Candidate>& candidate : find_in(shown_, selections)) {
      if (!candidate) continue;
      Advice advice{.candidate = *std::move(candidate)};
      base::Result<Effect> effect = effect_of(shown_.engines, std::span(&advice.improvement(), 1));
      if (!effect) continue;
      advice.effect = *std::move(effect);
      ranked().push_back(std::move(advice));
    }
  }

  // Each recording's best combination whose members have a place in the shown one, by their keys.
  void note_combinations() {
    std::vector<std::string> keys;
    for (const Advice& advice : ranked()) keys.push_back(key_of(advice));
    const auto note = [&](const improve::SpecTrace& specs, const Advices& advices, const Combination& best) {
      std::vector<std::string> members;
      for (const size_t member : best.members) {
        members.push_back(improve::place_key(specs, advices.ranked[member].candidate));
        if (std::ranges::find(keys, members.back()) == keys.end()) return;
      }
      std::ranges::sort(members);
      const bool is_new = std::ranges::find(combinations_, members) == combinations_.end();
      if (!members.empty() && is_new) combinations_.push_back(std::move(members));
    };
    note(shown_.specs, shown_.advices, shown_.best);
    for (const RecordingAdvice& other : others_) note(other.specs, other.advices, other.best);
  }

  void price_elsewhere() {
    std::vector<std::string> selections;
    for (const Advice& advice : ranked())
      selections.push_back(improve::write_selection(shown_.specs, advice.candidate));
    for (size_t i = 0; i < ranked().size(); ++i)
      ranked()[i].effect.over = OverRecordings{.each = {gain_to_read(shown_.advices, ranked()[i].effect)}, .gain = {}};
    for (const RecordingAdvice& other : others_) {
      const Elsewhere found = find_in(other, selections);
      for_each_index(found.size(), options_.progress, [&](size_t i) {
        const std::optional<Candidate>& one = found[i];
        ranked()[i].effect.over->each.push_back(one ? gain_in(other, std::span(&*one, 1)) : Gain{});
      });
      for (size_t i = 0; i < found.size(); ++i) elsewhere_[key_of(ranked()[i])].push_back(found[i]);
    }
    for (Advice& advice : ranked()) finish(advice.effect);
  }

  void finish(Effect& effect) const { effect.over->gain = gain_over(effect.over->each); }

  // "a gain of 5 % in a.cft, and a loss of 3 % in b.cft"
  std::string contradiction(const Effect& effect) const {
    if (!contradict(effect.over->each)) return "";
    const std::vector<std::optional<Gain>>& each = effect.over->each;
    const auto share = [&](size_t i) { return each[i] ? each[i]->share : 0; };
    std::vector<size_t> order(each.size());
    std::iota(order.begin(), order.end(), size_t{0});
    const auto [least, most] = std::ranges::minmax_element(order, {}, share);
    const auto path = [&](size_t i) { return i == 0 ? shown_.path : others_[i - 1].path; };
    return fmt::format("a gain of {} in {}, and a loss of {} in {}", table::percent_text(share(*most)), path(*most),
                       table::percent_text(-share(*least)), path(*least));
  }

  void rank_anew() {
    for (Advice& advice : ranked()) {
      judge(advice, shown_.advices, options_);
      if (std::string why = contradiction(advice.effect); options_.filter_time && !why.empty())
        advice.filtered = std::move(why);
      const bool simulated_only = !changes_tasks(advice.improvement());
      if (options_.filter_gain && simulated_only && advice.filtered.empty() && advice.verdict != Verdict::gain)
        advice.filtered = name_of(advice.verdict);
    }
    std::ranges::stable_sort(
        ranked(), [&](const Advice& x, const Advice& y) { return ranks_before(shown_.advices, options_, x, y); });
  }

  std::optional<Combination> combination_of(const std::vector<std::string>& keys) {
    Combination combination;
    std::vector<Candidate> own;
    for (size_t i = 0; i < ranked().size(); ++i) {
      if (std::ranges::find(keys, key_of(ranked()[i])) == keys.end()) continue;
      combination.members.push_back(i);
      own.push_back(ranked()[i].candidate);
    }
    const bool any_tasks = std::ranges::any_of(improvements_in(own), changes_tasks);
    const bool only_tasks = std::ranges::all_of(improvements_in(own), changes_tasks);
    if (only_tasks && any_tasks && !improve::check_task_specs(*shown_.engines.estimator, own)) return std::nullopt;
    base::Result<Effect> effect = effect_of(shown_.engines, improvements_in(own), true);
    if (!effect || (effect->simulated && effect->simulated->stuck)) return std::nullopt;
    combination.effect = *std::move(effect);
    OverRecordings over{.each = {gain_to_read(shown_.advices, combination.effect)}, .gain = {}};
    for (size_t other = 0; other < others_.size(); ++other) {
      std::vector<Candidate> there;
      for (const std::string& key : keys) {
        if (const std::optional<Candidate>& one = elsewhere_[key][other]) there.push_back(*one);
      }
      over.each.push_back(gain_in(others_[other], there));
    }
    combination.effect.over = std::move(over);
    finish(combination.effect);
    combination.score =
        whatif::score_of(figures_to_read(shown_.advices, combination.effect), shown_.advices.base, options_.weights);
    return combination;
  }

  // A setting that is no sure gain by itself is none together with others.
  bool is_good(const Combination& combination) {
    const bool unsure = std::ranges::any_of(combination.members, [&](size_t member) {
      return !changes_tasks(ranked()[member].improvement()) && !ranked()[member].filtered.empty();
    });
    if (unsure) return false;
    if (options_.filter_time && !contradiction(combination.effect).empty()) return false;
    if (!simulated_loss(shown_.advices, combination.effect, options_).empty()) return false;
    return !options_.filter_gain || combination.score < 1 - kScoreTolerance;
  }

  void choose_combination() {
    for (const Advice& advice : ranked()) {
      if (!advice.filtered.empty() || advice.verdict != Verdict::gain || advice.target() == whatif::Target::machine)
        continue;
      combinations_.push_back({key_of(advice)});
      break;
    }
    Combination best;
    best.effect.estimate.figures = shown_.advices.base;
    for (const std::vector<std::string>& keys : combinations_) {
      std::optional<Combination> one = combination_of(keys);
      if (one && is_good(*one) && (best.members.empty() || one->score < best.score - kScoreTolerance))
        best = *std::move(one);
    }
    shown_.best = std::move(best);
  }

  // But for the members of the best combination.
  void leave_out_filtered() {
    std::vector<Advice> kept;
    std::vector<size_t> members;
    for (size_t i = 0; i < ranked().size(); ++i) {
      const bool is_member = std::ranges::find(shown_.best.members, i) != shown_.best.members.end();
      if (is_member) members.push_back(kept.size());
      const bool stays = is_member || ranked()[i].filtered.empty();
      (stays ? kept : shown_.advices.left_out).push_back(std::move(ranked()[i]));
    }
    ranked() = std::move(kept);
    shown_.best.members = std::move(members);
  }

  RecordingAdvice& shown_;
  const std::span<const RecordingAdvice> others_;
  const AdviceOptions& options_;
  std::vector<std::vector<std::string>> combinations_;  // keys of their members
  std::map<std::string, Elsewhere> elsewhere_;          // by key, then by other recording
};

}  // namespace

void advise_over(RecordingAdvice& shown, std::span<const RecordingAdvice> others, const AdviceOptions& options) {
  Merger(shown, others, options).merge();
}

}  // namespace contrafact::advise
