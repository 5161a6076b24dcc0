#include "cli/service_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "advise/service.h"
#include "advise/service_gain.h"
#include "advise/starvation_text.h"
#include "cli/advice_tables.h"
#include "cli/endpoint_tables.h"
#include "cli/load_tables.h"
#include "cli/metric_tables.h"
#include "cli/service_words.h"
#include "improve/kind.h"
#include "improve/move_change.h"
#include "report/load_picture.h"
#include "table/value_text.h"
#include "whatif/load_templates.h"

namespace contrafact::cli {

using advise::LoadPoint;
using advise::ServiceAdvice;
using advise::ServiceChange;
using table::Cell;
using table::Type;
using table::Unit;

const table::Schema kServiceChangesSchema{
    "service_improvements",
    "What to change so that the service answers more requests, and how long answers then take. Simulated.",
    {{"rank", "#", Type::integer, Unit::none,
      "Position: first the changes to make together, what adds most first, then those that gain by "
      "themselves, then cores, where these limit; the file name of its spec begins with it."},
     {"what", "what", Type::word, Unit::none, "The change."},
     {"where", "where", Type::location, Unit::none,
      "The place in the source that hands the tasks out or asks for the lock; or the pool."},
     {"per_s", "can answer/s", Type::change, Unit::requests,
      "Requests a second that the saturated service answers, without and with this change alone, from as many clients "
      "(where more get fewer answers, the best of three such numbers); where it hangs with so many, from as many as it "
      "runs with; empty: with the change alone the program hangs."},
     {"gain", "gain", Type::ratio, Unit::ratio,
      "How many more these are, by this change alone; of several recordings the median."},
     {"gain_interval", "gain 90 %", Type::interval, Unit::ratio,
      "The interval of that gain: of both simulations, and of the errors that they do not have in common; of several "
      "recordings, from the least gain to the greatest and beyond. With 0 in it, it may be none."},
     {"adds", "adds", Type::ratio, Unit::ratio,
      "How many more all changes to make together bring with this one than without it (of the objective p99, how much "
      "shorter 99 in 100 answers take); of cores, how many more they bring on such a machine; empty: it is none of "
      "them, or without it they hang."},
     {"adds_interval", "adds 90 %", Type::interval, Unit::ratio, "The interval of that.", 3},
     {"p50_ns", "p50", Type::change, Unit::ns,
      "Time that half of the answers do not exceed, at the given load, without and with this change alone.", 4},
     {"p90_ns", "p90", Type::change, Unit::ns, "The same of 90 in 100 answers.", 5},
     {"p99_ns", "p99", Type::change, Unit::ns, "The same of 99 in 100 answers.", 2}}};

namespace {

advise::Advice as_advice(const ServiceChange& change) {
  advise::Advice advice;
  advice.candidate = change.candidate;
  return advice;
}

Cell time_change(const LoadPoint& before, const LoadPoint& after, int64_t LoadPoint::* time) {
  if (before.stuck || after.stuck) return {};
  return table::Change{static_cast<double>(before.*time), static_cast<double>(after.*time)};
}

Cell share_cell(const std::optional<advise::Gain>& gain) {
  return gain ? Cell(gain->share) : Cell();
}

Cell interval_cell(const std::optional<advise::Gain>& gain) {
  return gain ? Cell(table::Interval{gain->low, gain->high}) : Cell();
}

std::string printable_lines(std::string_view text, bool unicode) {
  std::string out;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    out += table::printable(text.substr(0, end), unicode) + "\n";
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return out;
}

// "FeedApi.java:20: Future<String> feed = workers.submit(() -> composeFeed(user));", or only the place. Empty: no place.
std::string source_text(const Cell& cell, SourceLines& source) {
  const auto* place = std::get_if<table::Location>(&cell.value());
  if (place == nullptr || place->file.empty()) return "";
  const std::string line = source.line_at(*place);
  const std::string at = fmt::format("{}:{}", place->file.substr(place->file.rfind('/') + 1), place->line);
  return line.empty() ? at : at + ": " + line;
}

std::string line_text(const Cell& cell, SourceLines& source) {
  const auto* place = std::get_if<table::Location>(&cell.value());
  return place == nullptr ? "" : source.line_at(*place);
}

// The sizes of cores are those of the program that they limit.
std::string made_beside(const ServiceAdvice& advice) {
  if (advice.after.limit.kind != advise::ServiceLimit::Kind::cores) return "";
  return advice.best.size() == 1 ? ", with the first change"
                                 : fmt::format(", with the first {} changes", advice.best.size());
}

// What the table has no room for.
std::string change_text(const AdviceDocument& document, const ServiceReport& report, const ServiceChange& change,
                        size_t rank, SourceLines& source) {
  std::string out;
  const auto add = [&](const std::string& text) { out += fmt::format("#{} {}\n", rank, text); };
  const Cell place = place_cell_of(document, as_advice(change));
  if (!line_text(place, source).empty()) add(source_text(place, source));
  if (const model::ContextId runs_at = change.candidate.runs_at; runs_at.valid())
    add("runs at the wait: " + source_text(location_of(document.trace(), runs_at), source));
  const ServiceAdvice& advice = report.advice;
  if (change.hangs()) add("warning: by itself it lets the program hang; make the others first");
  if (change.adds && !change.is_needed && !advise::is_sure(*change.adds))
    add("note: over all recordings it may add nothing");
  if (change.is_needed && advice.best.size() > 1) add("without it the program with the other changes stands still");
  if (change.hangs_with && *change.hangs_with != advice.before.hangs->clients)
    add(fmt::format("with it alone the program stands still from {} on",
                    table::counted_text(*change.hangs_with, "client", "clients")));
  if (advice.load_before.stuck && !change.at_load.stuck)
    add("with it alone answers take " + times_text(change.at_load) + " at this load");
  if (change.is_of_machine()) add("note: a change of the machine, not of the program; it is in no combination");
  if (!change.curve.empty())
    add(fmt::format("can answer by size{}: {}",
                    change.is_of_machine() && !advice.best.empty() ? made_beside(advice) : "", change.curve));
  const whatif::Improvement& improvement = change.candidate.improvement;
  if (whatif::target_of(improvement.optimisation) == whatif::Target::moves || !improvement.threads.empty()) {
    std::vector<std::string> notes;
    improve::kind_of(improvement).add_notes(document.trace(), change.candidate, notes);
    for (const std::string& note : notes) add("note: " + note);
  }
  return out;
}

// "#1 and #3"
std::string rows_text(const std::vector<size_t>& rows) {
  std::string out;
  for (size_t i = 0; i < rows.size(); ++i)
    out += fmt::format("{}#{}", i == 0 ? "" : i + 1 == rows.size() ? " or " : ", ", rows[i]);
  return out;
}

// Rows with which alone the program hangs with more clients only.
std::vector<size_t> putting_off(const ServiceAdvice& advice) {
  std::vector<size_t> rows;
  advice.each_row([&](size_t rank, const ServiceChange& change) {
    if (change.hangs_with && *change.hangs_with > advice.before.hangs->clients) rows.push_back(rank);
  });
  return rows;
}

// From where on the programs stand still, and which rows change that.
std::string hang_lines(const ServiceAdvice& advice) {
  std::string out;
  if (advice.before.hangs) {
    out += "warning: " + hang_text(advice.before, "the program");
    const std::vector<size_t> removing = advice.hang_removed_by(), later = putting_off(advice);
    if (!removing.empty()) out += "; removed by " + rows_text(removing);
    if (!later.empty()) out += "; put off by " + rows_text(later);
    if (!advice.best.empty() && !advice.after.hangs) out += "; with all changes it does not";
    out += "\n";
  }
  if (advice.after.hangs) out += "warning: " + hang_text(advice.after, "the changed program") + "\n";
  return out;
}

// The load at which the program begins to hang, and why it does.
std::string begin_text(const LoadPoint& hangs) {
  const std::string load = hangs.open ? table::number_text(hangs.offered) + " requests a second"
                                      : table::counted_text(hangs.clients, "client", "clients");
  return fmt::format(", as from {} on: {}", load, hangs.stuck_reason);
}

std::string load_lines(const ServiceAdvice& advice) {
  const auto line = [&](const std::string& load, const LoadPoint& before, const LoadPoint& after) {
    std::string text = fmt::format("At {} {}", load, fate_text(before, "they"));
    if (before.stuck) text += advice.load_hangs ? begin_text(*advice.load_hangs) : ": " + before.stuck_reason;
    if (advice.best.empty()) return text + ".\n";
    const bool plain = !after.stuck && after.keeps_up;
    const bool alike = plain && !before.stuck && before.keeps_up;
    return text + fmt::format("; with the changes {}.\n", alike   ? times_text(after)
                                                          : plain ? "answers take " + times_text(after)
                                                                  : fate_text(after, "they"));
  };
  std::string out = line("the recorded load", advice.recorded_before, advice.recorded_after);
  if (advice.load != 1)
    out += line(fmt::format("{} times the recorded load", table::number_text(advice.load)), advice.load_before,
                advice.load_after);
  return out;
}

advise::ServiceCandidates candidates_of(const advise::Pricer& pricer, const advise::Advices& advices,
                                        const advise::Combination& best) {
  advise::ServiceCandidates candidates{.each = improve::move_candidates(pricer.trace()), .together = {}};
  for (const size_t member : best.members) {
    if (advices.ranked[member].target() == whatif::Target::tasks)
      candidates.together.push_back(advices.ranked[member].candidate);
  }
  for (const std::vector<advise::Advice>* list : {&advices.ranked, &advices.left_out}) {
    for (const advise::Advice& advice : *list) {
      if (advice.failed.empty()) candidates.each.push_back(advice.candidate);
    }
  }
  return candidates;
}

// The curves of the recorded program and of the best combination.
base::Result<std::vector<advise::ProgramLoads>> loads_of(const advise::Service& service, const advise::Pricer& pricer,
                                                         const ServiceAdvice& advice) {
  std::vector<whatif::Variant> variants{{}};
  std::vector<advise::ProgramLoads> programs;
  programs.push_back({.program = "recorded", .saturation = advice.before, .recorded = advice.recorded_before});
  if (!advice.best.empty()) {
    std::vector<whatif::Improvement> improvements;
    for (const ServiceChange& change : advice.best) improvements.push_back(change.candidate.improvement);
    base::Result<whatif::Variant> variant = pricer.variant(improvements);
    if (!variant) return variant.error();
    variants.push_back(*std::move(variant));
    programs.push_back({.program = "changed", .saturation = advice.after, .recorded = advice.recorded_after});
  }
  if (base::Status status = advise::add_curves(service, variants, programs); !status) return status.error();
  return programs;
}

// The gains in other recordings.
base::Status add_others(const ServiceReportOptions& options, Progress& progress, size_t& done, ServiceReport& report) {
  if (options.others.empty()) return {};
  const auto simulated = [&] { progress.update(++done, 0); };
  base::Result<advise::OverRecordingsFound> over = advise::advise_service_over(
      report.advice, options.shown, options.others,
      {.reading = options.reading, .advice = options.advice, .cores = options.cores, .progress = simulated});
  if (!over) return over.error();
  report.notes = std::move(over->notes);
  report.others = std::move(over->paths);
  return {};
}

// All that is said above the table.
std::string service_head_text(const AdviceDocument& document, const ServiceReport& report) {
  const ServiceAdvice& advice = report.advice;
  const model::Trace& trace = document.trace();
  std::string out = requests_sentence(report.requests, report.arrivals, report.arrivals_given) + ".\n";
  if (advice.before.point.clients > 0)
    out += fmt::format("It can answer {} (simulated), {}.\n", rate_text(advice.before.point),
                       limit_text(trace, advice.before.limit));
  const std::string hint = limit_hint(*document.facts, advice.before.limit, document.sections != nullptr);
  if (!hint.empty()) out += hint + ".\n";
  if (const std::string twice = twice_text(advice.before); !twice.empty()) out += twice + ".\n";
  if (!advice.best.empty()) {
    const double before = advice.before.point.per_second;
    const double gain = before > 0 ? advice.after.point.per_second / before - 1 : 0;
    const std::string gain_text =
        before > 0 ? fmt::format(", {}{}", gain < 0 ? "" : "+", table::percent_text(gain)) : "";
    out += fmt::format("With {} it can answer {} (simulated{}), then {}.\n",
                       advice.best.size() == 1 ? "the first change below"
                                               : fmt::format("the first {} changes below", advice.best.size()),
                       rate_text(advice.after.point), gain_text, limit_text(trace, advice.after.limit));
    // One with which alone the program hangs comes after the others.
    const auto runs = std::ranges::find_if_not(advice.best, &ServiceChange::hangs);
    const advise::Advice first = as_advice(runs == advice.best.end() ? advice.best.front() : *runs);
    out += fmt::format("Change first: {} at {}.\n", what_of(first), place_text_of(document, first));
  }
  out += "Answers took " + measured_text(report.recorded_ns) + ".\n" + load_lines(advice);
  out += slowest_endpoint_text(report.requests, advice.recorded_before,
                               advice.best.empty() ? nullptr : &advice.recorded_after);
  out += hang_lines(advice) + error_warning(report.error);
  out += steady_warning({&advice.before.point, &advice.after.point, &advice.recorded_before, &advice.recorded_after,
                         &advice.load_before, &advice.load_after});
  for (const std::string& note : report.notes) out += "note: " + note + "\n";
  return out;
}

// Of each recording, the shown one first; null if there is one.
table::Json recordings_json(const AdviceDocument& document, const ServiceReport& report, const ServiceChange& change) {
  if (change.by_recording.empty()) return nullptr;
  table::Json rows = table::Json::array();
  for (size_t i = 0; i < change.by_recording.size(); ++i) {
    const std::optional<advise::Gain>& gain = change.by_recording[i];
    rows.push_back({{"path", i == 0 ? document.path : report.others[i - 1]},
                    {"gain", gain ? table::Json(gain->share) : table::Json()},
                    {"low", gain ? table::Json(gain->low) : table::Json()},
                    {"high", gain ? table::Json(gain->high) : table::Json()}});
  }
  return rows;
}

}  // namespace

base::Result<ServiceReport> service_report(const advise::Pricer& pricer, const advise::Advices& advices,
                                           const advise::Combination& best, const ServiceReportOptions& options,
                                           Progress& progress) {
  base::Result<advise::RecordedService> recorded = advise::recorded_service(pricer.facts(), options.reading);
  if (!recorded) return recorded.error();
  ServiceReport report;
  report.unusable = recorded->unusable;
  if (!report.unusable.empty()) return report;
  size_t done = 0;
  const base::Result<advise::Service> service = advise::service_of(
      *recorded, pricer.facts(), {.cores = options.cores, .progress = [&] { progress.update(++done, 0); }});
  if (!service) return service.error();
  base::Result<ServiceAdvice> advice =
      advise::advise_service(*service, pricer, candidates_of(pricer, advices, best), options.advice);
  if (!advice) return advice.error();
  report.advice = *std::move(advice);
  if (base::Status status = add_others(options, progress, done, report); !status) return status.error();
  if (options.with_loads) {
    base::Result<std::vector<advise::ProgramLoads>> loads = loads_of(*service, pricer, report.advice);
    if (!loads) return loads.error();
    report.loads = *std::move(loads);
  }
  report.error = service->error();
  report.recorded_ns = recorded->simulator->templates().recorded_ns();
  std::ranges::sort(report.recorded_ns);
  const std::vector<std::string>& notes = recorded->simulator->templates().notes();
  report.notes.insert(report.notes.begin(), notes.begin(), notes.end());
  report.arrivals = recorded->arrivals;
  report.arrivals_given = recorded->arrivals_given;
  report.requests = std::move(recorded->requests);
  return report;
}

table::Table service_changes_table(const AdviceDocument& document, const ServiceReport& report) {
  const ServiceAdvice& advice = report.advice;
  table::Table table(kServiceChangesSchema);
  const double before = advice.per_second;
  advice.each_row([&](size_t rank, const ServiceChange& change) {
    const advise::Advice one = as_advice(change);
    table.add_row({static_cast<int64_t>(rank), what_of(one), place_cell_of(document, one),
                   change.hangs() ? Cell() : Cell(table::Change{before, change.per_second}), share_cell(change.gain),
                   interval_cell(change.gain), share_cell(change.adds), interval_cell(change.adds),
                   time_change(advice.load_before, change.at_load, &LoadPoint::p50_ns),
                   time_change(advice.load_before, change.at_load, &LoadPoint::p90_ns),
                   time_change(advice.load_before, change.at_load, &LoadPoint::p99_ns)});
  });
  table.set_empty_reason(advice.objective == advise::ServiceObjective::p99
                             ? "at this load no change of tasks, locks or pools makes answers take less time"
                             : "no change of tasks, locks or pools lets the service answer more requests a second");
  return table;
}

std::string service_text(const AdviceDocument& document, const ServiceReport& report, SourceLines& source,
                         const table::TextStyle& style) {
  const std::string starvations = advise::starvations_text(document.trace(), document.starvations, style.unicode);
  std::string further;
  report.advice.each_row([&](size_t rank, const ServiceChange& change) {
    further += change_text(document, report, change, rank, source);
  });
  return printable_lines(starvations + service_head_text(document, report), style.unicode) + "\n" +
         table::render_text(service_changes_table(document, report), style) + printable_lines(further, style.unicode);
}

std::string service_page(const AdviceDocument& document, const ServiceReport& report) {
  const table::Table changes = service_changes_table(document, report), loads = load_table(report.loads);
  const std::string command(document.trace().fact("command"));
  std::vector<std::string> notes;
  std::istringstream head(service_head_text(document, report));
  for (std::string line; std::getline(head, line);) notes.push_back(line);
  return report::load_page({.picture = load_picture_of(document.path, report.arrivals.open, report.loads),
                            .subtitle = command.empty() ? document.path : command,
                            .notes = notes,
                            .tables = {{"What to change", &changes}, {"Loads", &loads}}});
}

table::Json service_json(const AdviceDocument& document, const ServiceReport& report, SourceLines& source) {
  const ServiceAdvice& advice = report.advice;
  const auto saturation = [&](const advise::Saturation& one) {
    table::Json json = point_json(one.point);
    json["limited_by"] = limit_json(document.trace(), one.limit);
    json["hangs_with_clients"] = one.hangs ? table::Json(one.hangs->clients) : table::Json();
    return json;
  };
  table::Json json{{"requests", report.requests.all.size()},
                   {"connections", report.requests.connections},
                   {"arrivals", report.arrivals.open ? "open" : "closed"},
                   {"per_s", report.arrivals.per_second},
                   {"clients", report.arrivals.clients},
                   {"arrivals_given", report.arrivals_given},
                   {"by_task", report.requests.by_task},
                   {"error", report.error ? table::Json(*report.error) : table::Json()},
                   {"objective", advice.objective == advise::ServiceObjective::p99 ? "p99" : "throughput"},
                   {"load", advice.load}};
  json["before"] = saturation(advice.before);
  json["after"] = saturation(advice.after);
  json["recorded_load"] = {{"before", point_json(advice.recorded_before)},
                           {"after", point_json(advice.recorded_after)}};
  json["endpoints"] = {{"before", point_endpoints_json(report.requests, advice.recorded_before)},
                       {"after", point_endpoints_json(report.requests, advice.recorded_after)}};
  json["at_load"] = {{"before", point_json(advice.load_before)}, {"after", point_json(advice.load_after)}};
  json["load_hangs"] = advice.load_hangs ? point_json(*advice.load_hangs) : table::Json();
  json["hang_removed_by"] = table::Json::array();
  for (const size_t row : advice.hang_removed_by()) json["hang_removed_by"].push_back(row);
  const table::Table changes = service_changes_table(document, report);
  json["improvements"] = table::Json::array();
  advice.each_row([&](size_t rank, const ServiceChange& change) {
    table::Json one = table::row_json(kServiceChangesSchema, changes.rows()[rank - 1]);
    const std::string line = line_text(place_cell_of(document, as_advice(change)), source);
    one["at_load"] = change.at_load.stuck ? table::Json() : point_json(change.at_load);
    one["by_recording"] = recordings_json(document, report, change);
    one["hangs_with_clients"] = change.hangs_with ? table::Json(*change.hangs_with) : table::Json();
    one["needed"] = change.is_needed;
    one["of_machine"] = change.is_of_machine();
    one["source"] = line.empty() ? table::Json() : table::Json(line);
    json["improvements"].push_back(std::move(one));
  });
  json["best"] = table::Json::array();
  for (size_t i = 0; i < advice.best.size(); ++i) json["best"].push_back(i + 1);
  json["notes"] = report.notes;
  return json;
}

}  // namespace contrafact::cli
