#include "cli/advice_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "advise/starvation_text.h"
#include "analysis/cpu_use.h"
#include "analysis/headroom.h"
#include "analysis/lock_profile.h"
#include "analysis/places.h"
#include "analysis/queue_workers.h"
#include "cli/advice_tables.h"
#include "cli/json_document.h"
#include "cli/metric_tables.h"
#include "cli/recordings.h"
#include "cli/trace_input.h"
#include "cli/ulc_tables.h"
#include "improve/kind.h"
#include "improve/lock_notes.h"
#include "table/value_text.h"

namespace contrafact::cli {
namespace {

using advise::Advice;
using advise::Advices;
using advise::Combination;
using advise::Headline;
using advise::Shown;
using table::Json;

// Lines that several improvements share, with the numbers of those improvements, in order of first appearance.
class SharedLines {
 public:
  void add(size_t improvement, std::string_view kind, std::string text) {
    std::string key = fmt::format("{}: {}", kind, text);
    auto [at, added] = position_.try_emplace(key, lines_.size());
    if (added) lines_.push_back({std::move(key), {}});
    std::vector<size_t>& numbers = lines_[at->second].improvements;
    if (numbers.empty() || numbers.back() != improvement) numbers.push_back(improvement);
  }

  // "#1, #4 note: ..."
  std::string text() const {
    std::string out;
    for (const Line& line : lines_) {
      for (size_t i = 0; i < line.improvements.size(); ++i) {
        out += fmt::format("{}#{}", i ? ", " : "", line.improvements[i] + 1);
      }
      out += fmt::format(" {}\n", line.text);
    }
    return out;
  }

 private:
  struct Line {
    std::string text;
    std::vector<size_t> improvements;
  };
  std::vector<Line> lines_;
  std::unordered_map<std::string, size_t> position_;
};

std::vector<std::string_view> steps_of(std::string_view path) {
  constexpr std::string_view kBetween = "; ";
  std::vector<std::string_view> steps;
  while (true) {
    const size_t end = path.find(kBetween);
    steps.push_back(path.substr(0, end));
    if (end == std::string_view::npos) return steps;
    path.remove_prefix(end + kBetween.size());
  }
}

// The steps from `first` on; all of them are in the JSON.
std::string some_steps(const std::vector<std::string_view>& steps, size_t first) {
  constexpr size_t kStepsMax = 5;
  if (first >= steps.size()) return "nothing more";
  const size_t last = std::min(first + kStepsMax, steps.size());
  std::string text = fmt::format("{}", fmt::join(steps.begin() + static_cast<ptrdiff_t>(first),
                                                 steps.begin() + static_cast<ptrdiff_t>(last), "; "));
  if (last < steps.size()) text += fmt::format("; {} more", steps.size() - last);
  return text;
}

// Two execution paths, from where they part.
std::string branch_text(std::string_view path, std::string_view other_path) {
  const std::vector<std::string_view> steps = steps_of(path), others = steps_of(other_path);
  const auto [part, other_part] = std::mismatch(steps.begin(), steps.end(), others.begin(), others.end());
  const auto same = static_cast<size_t>(part - steps.begin());
  std::string text;
  if (same > 0) text = fmt::format("after {} ({} step{}): ", steps[same - 1], same, same > 1 ? "s" : "");
  return text + some_steps(steps, same) + "; the other tasks: " + some_steps(others, same);
}

// Which locks change, and what to know of their sections.
template <typename Line>
void section_lines(const AdviceDocument& document, const Advice& advice, Line line) {
  const improve::Candidate& candidate = advice.candidate;
  line("locks", locks_text(document.trace(), candidate.locks));
  for (const std::string& note : improve::lock_notes(document.trace(), candidate)) line("note", note);
}

bool is_part_at_wait(const Advice& advice) {
  return advice.candidate.runs_at.valid() && advice.improvement().tasks.size() < advice.improvement().context_tasks;
}

// Warnings and conditions that the rows of the table have no room for.
std::string details_text(const AdviceDocument& document, std::span<const size_t> indexes, bool unicode) {
  SharedLines lines;
  auto line = [&](size_t index, std::string_view kind, const std::string& text) {
    lines.add(index, kind, table::printable(text, unicode));
  };
  for (size_t i : indexes) {
    const Advice& advice = document.advices.ranked[i];
    if (!advice.filtered.empty()) line(i, "note", advice.filtered + " by itself; for the combination only");
    if (!advice.candidate.path.empty())
      line(i, "branch to hoist", branch_text(advice.candidate.path, advice.candidate.other_path));
    if (const std::string runs_at = runs_at_text(document, i); !runs_at.empty())
      line(i, "runs at the wait",
           runs_at + (is_part_at_wait(advice) ? ", of each batch the first that is asked for" : ""));
    if (!advice.curve.empty()) line(i, "gain by size", advice.curve);
    if (advice.effect.over) line(i, "gain by recording", gains_by_recording(document, advice.effect));
    if (advice.target() == whatif::Target::pool) {
      std::vector<std::string> notes;
      improve::kind_of(advice.improvement()).add_notes(document.trace(), advice.candidate, notes);
      for (const std::string& note : notes) line(i, "note", note);
    }
    if (advice.target() == whatif::Target::sections)
      section_lines(document, advice, [&](auto kind, auto text) { line(i, kind, text); });
    for (const analysis::Violation& violation : advice.violations) {
      line(i, violation.serious ? "warning" : "note", violation.message);
    }
    if (advice.effect.simulated && advice.effect.simulated->stuck)
      line(i, "warning", "the simulated program hangs: " + advice.effect.simulated->stuck_why);
    for (const std::string& note : advice.effect.estimate.notes) line(i, "note", note);
  }
  return lines.text();
}

// The filters know the estimates only: not every improvement is simulated.
std::string left_out_by_estimate_text(const Advices& advices) {
  if (advices.headline.model != model::Origin::simulated) return "";
  const auto count = std::ranges::count_if(
      advices.left_out, [](const Advice& advice) { return advice.failed.empty() && !advice.effect.simulated; });
  if (count == 0) return "";
  return fmt::format("Left out by the estimated figures: {} (--left-out says why, --no-filter all ranks {}).\n",
                     table::counted_text(static_cast<uint64_t>(count), "improvement", "improvements"),
                     count == 1 ? "it" : "them");
}

std::string baseline_text(const AdviceDocument& document, bool unicode) {
  if (!document.advices.baseline) return "";
  const whatif::BaselineCheck& check = *document.advices.baseline;
  const Headline& headline = document.advices.headline;
  const std::string measured = table::duration_text(static_cast<double>(check.recorded_ns));
  const std::string all = table::duration_text(static_cast<double>(document.advices.base.duration_ns));
  return fmt::format("\nRead the {} figures first: {}.\n{}",
                     headline.model == model::Origin::simulated ? "simulated" : "estimated",
                     table::printable(headline.reason, unicode), left_out_by_estimate_text(document.advices)) +
         fmt::format("Self-check of the simulation: the unchanged run takes {} simulated, {} measured{}: {} off{}\n",
                     table::duration_text(static_cast<double>(check.checked_ns)), measured,
                     measured == all ? "" : " to the end of its last thread",
                     table::percent_text(std::round(check.error * 1e5) / 1e5),
                     check.trusted ? ""
                     : check.stuck ? "; do not rely on simulated figures"
                                   : "; so may simulated gains be");
}

// "shop: 1 -> 2 copies of this run fit its 20 workers"
std::string headroom_text(const AdviceDocument& document, bool unicode) {
  if (!document.best.effect.estimate.trace || !document.threads_scarce) return "";
  const model::Trace& before = document.trace();
  const auto rooms = [](const model::Facts& facts) {
    return analysis::headroom_of_workers(facts.trace(), analysis::thread_usage(facts, {.steps = false}));
  };
  const std::vector<analysis::PoolHeadroom> old_rooms = rooms(*document.facts),
                                            new_rooms = rooms(*document.best.effect.estimate.trace);
  std::string out;
  for (const analysis::PoolHeadroom& room : old_rooms) {
    for (const analysis::PoolHeadroom& changed : new_rooms) {
      if (changed.pool != room.pool || !room.copies_by_peak || !changed.copies_by_peak) continue;
      if (*room.copies_by_peak == *changed.copies_by_peak) continue;
      out +=
          fmt::format("Head-room of pool {}: {} -> {} concurrent copies of this run fit its {} workers (estimated)\n",
                      table::printable(analysis::pool_name(before, room.pool), unicode), *room.copies_by_peak,
                      *changed.copies_by_peak, room.size);
    }
  }
  return out;
}

std::string bounded_text(const AdviceDocument& document) {
  if (document.bounded.empty()) return "";
  return fmt::format("Not worked out, for the trace is long (--budget does): {}.\n", document.bounded);
}

// What the strict limit on the duration leaves out.
std::string slower_text(const AdviceDocument& document) {
  const Combination& best = document.best;
  if (!best.slower || !document.threads_scarce) return "";
  const whatif::Figures &base = document.advices.base, &slower = *best.slower;
  const double share = static_cast<double>(slower.duration_ns) / static_cast<double>(base.duration_ns) - 1;
  return fmt::format(
      "hint: for {} more time, {} together would take the peak to {} and the mean to {} (estimated): "
      "--slower-max {}\n",
      table::percent_text(share), table::counted_text(best.slower_members, "change", "changes"),
      table::counted_text(slower.peak_occupied, "thread", "threads"), table::number_text(slower.mean_occupied),
      table::number_text(100 * whatif::kSlightlySlower));
}

// How the best combination of tasks' improvements was found.
std::string search_text(const Combination& best) {
  if (best.estimated == 0) return "";
  return fmt::format(" ({} combinations estimated{})", table::count_text(static_cast<int64_t>(best.estimated)),
                     best.exhaustive  ? ", all there are"
                     : best.cut_short ? ", then the search's budget was spent: --budget"
                                      : "");
}

// The best combination: its members, each by itself, and what all of them change together.
std::string best_text(const AdviceDocument& document, const Shown& shown, const table::TextStyle& style) {
  const Combination& best = document.best;
  std::string out;
  if (!best.members.empty()) {
    out = table::render_text(improvements_table(document, shown.best), style);
    out += details_text(document, shown.best, style.unicode);
    out += fmt::format("\n{}{}:\n", best.members.size() > 1 ? "All together" : "The effect", search_text(best));
    const bool simulated_first = advise::reads_simulation(document.advices, best.effect);
    out += table::render_text(
        effect_table(document.advices.base, document.advices.baseline, best.effect, simulated_first), style);
  }
  for (const std::string& note : best.effect.estimate.notes)
    out += "note: " + table::printable(note, style.unicode) + "\n";
  if (best.effect.simulated && best.effect.simulated->stuck) {
    out += fmt::format("warning: the simulated program hangs: {}\n",
                       table::printable(best.effect.simulated->stuck_why, style.unicode));
  }
  return out + slower_text(document);
}

// What is not in the best combination: what is worth doing by itself, and how many more there are.
std::string others_text(const AdviceDocument& document, const Shown& shown, const table::TextStyle& style) {
  std::string out;
  if (!shown.others.empty()) {
    out =
        document.best.members.empty() ? "\nImprovements, each by itself:\n" : "\nInstead or besides, each by itself:\n";
    out += table::render_text(improvements_table(document, shown.others), style);
    out += details_text(document, shown.others, style.unicode);
  }
  if (shown.cut + shown.untellable > 0 && shown.others.empty() && !document.best.members.empty()) out += "\n";
  if (shown.cut > 0) out += fmt::format("({} more by rank; --top shows more)\n", shown.cut);
  if (shown.untellable == 1) out += "(1 more changes nothing measurable by itself; --all shows it)\n";
  if (shown.untellable > 1) {
    out += fmt::format("({} more change nothing measurable by themselves; --all shows them)\n", shown.untellable);
  }
  return out;
}

Json figures_json(const whatif::Figures& figures) {
  return {{"duration_ns", figures.duration_ns},     {"mean_response_ns", figures.mean_response_ns},
          {"mean_active", figures.mean_active},     {"mean_waiting", figures.mean_waiting},
          {"mean_occupied", figures.mean_occupied}, {"peak_active", figures.peak_active},
          {"peak_waiting", figures.peak_waiting},   {"peak_occupied", figures.peak_occupied}};
}

Json simulated_json(const Advices& advices, const advise::Effect& effect) {
  if (!effect.simulated) return nullptr;
  const advise::SimulatedEffect& simulated = *effect.simulated;
  Json out{{"duration_ns", simulated.duration_ns}, {"stuck", simulated.stuck}};
  if (advices.baseline) {
    const auto base_ns = static_cast<double>(advices.baseline->simulated_ns);
    const advise::Gain gain = advise::gain_of(*advices.baseline, simulated);
    out["gain"] = gain.share;
    out["duration_low_ns"] = std::llround(base_ns * (1 - gain.high));
    out["duration_high_ns"] = std::llround(base_ns * (1 - gain.low));
  }
  if (simulated.stuck) out["stuck_why"] = simulated.stuck_why;
  return out;
}

Json sections_json(const advise::Effect& effect) {
  if (!effect.sections) return nullptr;
  return {{"recorded_order", effect.sections->recorded_order},
          {"floor", effect.sections->floor ? Json(*effect.sections->floor) : Json()}};
}

Json estimate_json(const whatif::Estimate& estimate) {
  Json out = figures_json(estimate.figures);
  out["duration_low_ns"] = estimate.duration_low_ns;
  out["duration_high_ns"] = estimate.duration_high_ns;
  out["notes"] = estimate.notes;
  return out;
}

Json gain_json(const advise::Gain& gain) {
  return {{"gain", gain.share}, {"low", gain.low}, {"high", gain.high}, {"model", name_of(gain.origin)}};
}

// A row for each recording.
Json by_recording_json(const AdviceDocument& document, const advise::Effect& effect) {
  if (!effect.over) return nullptr;
  Json rows = Json::array();
  for (size_t i = 0; i < effect.over->each.size(); ++i) {
    const std::optional<advise::Gain>& one = effect.over->each[i];
    Json row = one ? gain_json(*one) : Json{{"gain", nullptr}};
    row["path"] = document.several[i].path;
    rows.push_back(std::move(row));
  }
  return rows;
}

Json several_json(const AdviceDocument& document) {
  if (document.several.empty()) return nullptr;
  Json rows = Json::array();
  for (const advise::RecordingNote& one : document.several) {
    rows.push_back({{"path", one.path},
                    {"duration_ns", one.duration_ns},
                    {"model", name_of(one.headline.model)},
                    {"baseline_error", one.baseline ? Json(one.baseline->error) : Json()}});
  }
  return rows;
}

Json improvement_json(const AdviceDocument& document, size_t index, const Json& row) {
  const Advice& advice = document.advices.ranked[index];
  Json out = row;
  out["estimated"] = advice.effect.estimated ? estimate_json(advice.effect.estimate) : Json();
  out["simulated"] = simulated_json(document.advices, advice.effect);
  out["sections"] = sections_json(advice.effect);
  out["by_recording"] = by_recording_json(document, advice.effect);
  out["locks"] = Json::array();
  for (const model::LockId lock : advice.candidate.locks)
    out["locks"].push_back(analysis::lock_name(document.trace(), lock));
  if (const std::string runs_at = runs_at_text(document, index); !runs_at.empty()) out["runs_at"] = runs_at;
  if (!advice.curve.empty()) out["gain_by_size"] = advice.curve;
  out["measurable"] = is_tellable(document, advice);
  out["warnings"] = Json::array();
  for (const analysis::Violation& violation : advice.violations) {
    out["warnings"].push_back(
        {{"serious", violation.serious}, {"message", violation.message}, {"count", violation.count}});
  }
  if (!advice.candidate.path.empty())
    out["branch"] = {{"path", advice.candidate.path}, {"other_path", advice.candidate.other_path}};
  return out;
}

}  // namespace

std::string advice_text(const AdviceDocument& document, const table::TextStyle& style) {
  const Advices& advices = document.advices;
  std::string out = advise::starvations_text(document.trace(), document.starvations, style.unicode);
  for (const advise::StarvedElsewhere& other : document.starved_elsewhere)
    out += advise::starvations_text(*other.trace, other.found, style.unicode, "In " + other.path + ": ");
  if (advices.ranked.empty()) {
    if (const std::string limit = limit_sentence(document); !limit.empty())
      out += table::printable(limit, style.unicode) + "\n";
    out += foreign_text(document.trace()) + table::render_text(improvements_table(document), style);
  } else {
    const Shown shown = shown_of(document);
    const auto line = [&](const std::string& text) {
      return text.empty() ? "" : table::printable(text, style.unicode) + "\n";
    };
    out += line(several_sentence(document)) + line(limit_sentence(document)) + line(summary_sentence(document)) +
           line(first_sentence(document, what_of(advices.ranked[0]), place_text_of(document, 0))) +
           line(certainty_sentence(document)) + foreign_text(document.trace()) + document.recordings +
           headroom_text(document, style.unicode) + bounded_text(document) + "\n";
    out += best_text(document, shown, style);
    out += others_text(document, shown, style);
    out += baseline_text(document, style.unicode);
    // A table of other changes must not look as if there were no tasks.
    if (const std::string unseen = unseen_schedulers(document.trace()); !unseen.empty())
      out += "note: " + line(unseen_line(unseen));
  }
  for (const std::string& lock : document.flows) out += "flows: " + table::printable(lock, style.unicode) + "\n";
  if (const std::string workers = analysis::queue_workers_text(*document.facts); !workers.empty())
    out += "note: " + table::printable(workers, style.unicode) + "\n";
  if (!advices.branch_hint.empty()) out += "hint: " + table::printable(advices.branch_hint, style.unicode) + "\n";
  if (document.left_out) out += "\n" + table::render_text(left_out_table(document), style);
  return out;
}

std::string advice_json(const AdviceDocument& document, table::Json service) {
  const Advices& advices = document.advices;
  Json out = json_document("advise");
  out["trace"] = trace_json_header(document.path, document.trace());
  out["recordings"] = several_json(document);
  out["foreign_share"] = nullptr;
  if (const auto foreign = analysis::foreign_share(document.trace())) out["foreign_share"] = *foreign;
  out["weights"] = {
      {"time", document.weights.duration}, {"peak", document.weights.peak}, {"mean", document.weights.mean}};
  out["limit"] = advices.limit.empty() ? Json() : Json(advices.limit);
  out["queue_workers"] = Json::array();
  for (const analysis::QueueWorkers& one : analysis::queue_workers(*document.facts))
    out["queue_workers"].push_back({{"where", document.trace().context_label(one.wait)},
                                    {"threads", one.threads.size()},
                                    {"waits", one.waits},
                                    {"share", one.share}});
  out["summary"] = advices.ranked.empty() ? Json() : Json(summary_sentence(document));
  out["starvation"] = advise::starvations_json(document.trace(), document.starvations);
  out["starvation_elsewhere"] = table::Json::array();
  for (const advise::StarvedElsewhere& other : document.starved_elsewhere) {
    table::Json found = advise::starvations_json(*other.trace, other.found);
    found["path"] = other.path;
    out["starvation_elsewhere"].push_back(std::move(found));
  }
  out["service"] = std::move(service);
  out["base"] = figures_json(advices.base);
  table::Table table = improvements_table(document);
  Json rows = table::rows_json(table);
  out["improvements"] = Json::array();
  for (size_t i = 0; i < advices.ranked.size(); ++i)
    out["improvements"].push_back(improvement_json(document, i, rows[i]));
  if (table.empty()) out["empty_reason"] = table.empty_reason();
  out["branch_hint"] = advices.branch_hint.empty() ? Json() : Json(advices.branch_hint);
  out["flows"] = Json(document.flows);
  out["bounded"] = document.bounded.empty() ? Json() : Json(document.bounded);
  out["left_out"] = table::rows_json(left_out_table(document));
  if (document.best.members.empty()) {
    out["best"] = nullptr;
  } else {
    Json ranks = Json::array();
    for (size_t member : document.best.members) ranks.push_back(member + 1);
    out["best"] = {
        {"ranks", ranks},
        {"score", document.best.score},
        {"combinations_estimated", document.best.estimated},
        {"exhaustive", document.best.exhaustive},
        {"cut_short", document.best.cut_short},
        {"estimated", document.best.effect.estimated ? estimate_json(document.best.effect.estimate) : Json()},
        {"simulated", simulated_json(advices, document.best.effect)},
        {"sections", sections_json(document.best.effect)},
        {"gain", gain_json(gain_to_read(advices, document.best.effect))},
        {"by_recording", by_recording_json(document, document.best.effect)}};
  }
  const Headline& headline = advices.headline;
  out["headline"] = {{"model", headline.model == model::Origin::simulated ? "simulated" : "estimated"},
                     {"reason", headline.reason}};
  if (advices.baseline) {
    out["simulation_baseline"] = {
        {"recorded_ns", advices.baseline->recorded_ns}, {"simulated_ns", advices.baseline->simulated_ns},
        {"checked_ns", advices.baseline->checked_ns},   {"error", advices.baseline->error},
        {"trusted", advices.baseline->trusted},         {"notes", advices.baseline->notes}};
  }
  return table::json_text(out);
}

}  // namespace contrafact::cli
