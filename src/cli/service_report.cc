#include "cli/service_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "advise/endpoint_loads.h"
#include "advise/service.h"
#include "advise/starvation_text.h"
#include "cli/advice_tables.h"
#include "cli/endpoint_tables.h"
#include "cli/load_tables.h"
#include "cli/metric_tables.h"
#include "improve/kind.h"
#include "improve/move_change.h"
#include "table/value_text.h"
#include "whatif/load.h"

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
      "themselves; the file name of its spec begins with it."},
     {"what", "what", Type::word, Unit::none, "The change."},
     {"where", "where", Type::location, Unit::none,
      "The place in the source that hands the tasks out or asks for the lock; or the pool."},
     {"per_s", "can answer/s", Type::change, Unit::requests,
      "Requests a second that the saturated service answers, without and with this change alone; empty: with it alone "
      "the program hangs."},
     {"gain", "gain", Type::ratio, Unit::ratio, "How many more these are, by this change alone."},
     {"adds", "adds", Type::ratio, Unit::ratio,
      "How many more all changes to make together bring with this one than without it; empty: it is none of them."},
     {"p50_ns", "p50", Type::change, Unit::ns,
      "Time that half of the answers do not exceed, at the given load, without and with this change alone.", 2},
     {"p99_ns", "p99", Type::change, Unit::ns, "The same of 99 in 100 answers.", 1}}};

namespace {

std::string rate_range_text(const LoadPoint& point) {
  return fmt::format("{}/s ({} to {})", table::number_text(point.per_second), table::number_text(point.low),
                     table::number_text(point.high));
}

std::string times_text(const LoadPoint& point) {
  if (point.stuck) return "never (it hangs)";
  return fmt::format("{} in the median, p90 {}, p99 {}", table::duration_text(static_cast<double>(point.p50_ns)),
                     table::duration_text(static_cast<double>(point.p90_ns)),
                     table::duration_text(static_cast<double>(point.p99_ns)));
}

std::string hangs_text(const advise::Saturation& saturation, std::string_view what) {
  if (!saturation.hangs) return "";
  return fmt::format("warning: {} hangs with {}: {}\n", what,
                     table::counted_text(saturation.hangs->clients, "client", "clients"),
                     saturation.hangs->stuck_reason);
}

advise::Advice as_advice(const ServiceChange& change) {
  advise::Advice advice;
  advice.candidate = change.candidate;
  return advice;
}

Cell p_change(int64_t before_ns, int64_t after_ns, bool stuck) {
  if (stuck) return {};
  return table::Change{static_cast<double>(before_ns), static_cast<double>(after_ns)};
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

// What the table has no room for.
std::string change_text(const AdviceDocument& document, const ServiceChange& change, size_t rank, SourceLines& source) {
  std::string out;
  const auto add = [&](const std::string& text) { out += fmt::format("#{} {}\n", rank, text); };
  const Cell place = place_cell_of(document, as_advice(change));
  if (!line_text(place, source).empty()) add(source_text(place, source));
  if (const model::ContextId runs_at = change.candidate.runs_at; runs_at.valid())
    add("runs at the wait: " + source_text(location_of(document.trace(), runs_at), source));
  if (change.hangs()) add("warning: by itself it lets the program hang; make the others first");
  if (!change.curve.empty()) add("can answer by size: " + change.curve);
  const whatif::Improvement& improvement = change.candidate.improvement;
  if (whatif::target_of(improvement.optimisation) == whatif::Target::moves || !improvement.threads.empty()) {
    std::vector<std::string> notes;
    improve::kind_of(improvement).add_notes(document.trace(), change.candidate, notes);
    for (const std::string& note : notes) add("note: " + note);
  }
  return out;
}

table::Json service_point_json(const LoadPoint& point) {
  if (point.stuck) return {{"hangs", true}};
  return {{"hangs", false},         {"per_s", point.per_second},     {"low", point.low},
          {"high", point.high},     {"p50_ns", point.p50_ns},        {"p90_ns", point.p90_ns},
          {"p99_ns", point.p99_ns}, {"cores_used", point.cores_used}};
}

}  // namespace

base::Result<std::optional<ServiceReport>> service_report(const advise::Pricer& pricer, const advise::Advices& advices,
                                                          const advise::Combination& best,
                                                          const advise::ServiceAdviceOptions& options, uint32_t cores,
                                                          Progress& progress) {
  const std::optional<ServiceReport> none;
  ServiceReport report{.requests = model::requests_by_connection(pricer.trace())};
  constexpr size_t kRequestsMin = 20;
  if (report.requests.all.size() < kRequestsMin) return none;
  model::drop_warm_up(pricer.trace(), report.requests);
  base::Result<whatif::LoadSimulator> simulator = whatif::LoadSimulator::make(pricer.facts(), report.requests);
  if (!simulator) return simulator.error();
  if (simulator->recorded_ns().empty()) return none;
  report.arrivals = analysis::arrivals_of(report.requests);
  report.recorded_ns = simulator->recorded_ns();
  std::ranges::sort(report.recorded_ns);
  report.notes = simulator->notes();
  size_t done = 0;
  const advise::Service service(*simulator, report.arrivals,
                                {.cores = cores,
                                 .lock_bounds = analysis::lock_bounds(pricer.facts(), report.requests),
                                 .endpoints = advise::drawn_endpoints(*simulator, report.requests),
                                 .progress = [&] { progress.update(++done, 0); }});
  report.error = service.error();
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
  base::Result<ServiceAdvice> advice = advise::advise_service(service, pricer, candidates, options);
  if (!advice) return advice.error();
  report.advice = *std::move(advice);
  return std::optional(std::move(report));
}

std::string requests_sentence(const model::Requests& requests, const analysis::Arrivals& arrivals) {
  std::string text = fmt::format(
      "{}{}{}: {} of them answered a second; ", table::counted_text(requests.all.size(), "request", "requests"),
      requests.warm_up > 0 ? fmt::format(" behind the first {}, in which a JVM still compiles", requests.warm_up) : "",
      requests.by_task ? ", each a task"
                       : fmt::format("{} on {}", requests.warm_up > 0 ? "," : "",
                                     table::counted_text(requests.connections, "connection", "connections")),
      table::number_text(arrivals.per_second));
  return text + (arrivals.open
                     ? "they come at their own times"
                     : fmt::format("from {} for each answer",
                                   arrivals.clients == 1 ? "1 client that waits"
                                                         : fmt::format("{} clients that wait", arrivals.clients)));
}

table::Table service_changes_table(const AdviceDocument& document, const ServiceReport& report) {
  const ServiceAdvice& advice = report.advice;
  table::Table table(kServiceChangesSchema);
  int64_t rank = 0;
  const double before = advice.before.point.per_second;
  const auto add = [&](const ServiceChange& change) {
    const advise::Advice one = as_advice(change);
    table.add_row({++rank, what_of(one), place_cell_of(document, one),
                   change.hangs() ? Cell() : Cell(table::Change{before, change.per_second}),
                   before > 0 && !change.hangs() ? Cell(change.per_second / before - 1) : Cell(),
                   change.added > 0 ? Cell(change.added) : Cell(),
                   p_change(advice.load_before.p50_ns, change.at_load.p50_ns, change.at_load.stuck),
                   p_change(advice.load_before.p99_ns, change.at_load.p99_ns, change.at_load.stuck)});
  };
  for (const ServiceChange& change : advice.best) add(change);
  for (const ServiceChange& change : advice.others) add(change);
  table.set_empty_reason(advice.objective == advise::ServiceObjective::p99
                             ? "at this load no change of tasks, locks or pools makes answers take less time"
                             : "no change of tasks, locks or pools lets the service answer more requests a second");
  return table;
}

std::string service_text(const AdviceDocument& document, const ServiceReport& report, SourceLines& source,
                         const table::TextStyle& style) {
  const ServiceAdvice& advice = report.advice;
  const model::Trace& trace = document.trace();
  std::string out = advise::starvations_text(trace, document.starvations, style.unicode);
  out += requests_sentence(report.requests, report.arrivals) + ".\n";
  const bool saturates = advice.before.point.clients > 0;
  if (saturates)
    out += fmt::format("It can answer {} (simulated), {}.\n", rate_range_text(advice.before.point),
                       limit_text(trace, advice.before.limit));
  if (const std::string hint = limit_hint(*document.facts, advice.before.limit); !hint.empty()) out += hint + ".\n";
  if (!advice.best.empty()) {
    const double gain = advice.after.point.per_second / std::max(1e-9, advice.before.point.per_second) - 1;
    out += fmt::format("With {} it can answer {} (simulated, +{}), then {}.\n",
                       advice.best.size() == 1 ? "the first change below"
                                               : fmt::format("the first {} changes below", advice.best.size()),
                       rate_range_text(advice.after.point), table::percent_text(gain),
                       limit_text(trace, advice.after.limit));
    const advise::Advice first = as_advice(advice.best.front());
    out += fmt::format("Change first: {} at {}.\n", what_of(first), place_text_of(document, first));
  }
  out += fmt::format("Answers took {} in the median, p99 {} (measured).\n",
                     table::duration_text(static_cast<double>(analysis::percentile_ns(report.recorded_ns, 0.5))),
                     table::duration_text(static_cast<double>(analysis::percentile_ns(report.recorded_ns, 0.99))));
  const auto times = [&](std::string_view load, const LoadPoint& before, const LoadPoint& after) {
    out += fmt::format("At {} they take {} (simulated)", load, times_text(before));
    out += advice.best.empty() ? ".\n" : fmt::format("; with the changes {}.\n", times_text(after));
  };
  times("the recorded load", advice.recorded_before, advice.recorded_after);
  if (advice.load != 1)
    times(fmt::format("{} times the recorded load", table::number_text(advice.load)), advice.load_before,
          advice.load_after);
  out += slowest_endpoint_text(report.requests, advice.recorded_before,
                               advice.best.empty() ? nullptr : &advice.recorded_after);
  out += hangs_text(advice.before, "the program");
  out += hangs_text(advice.after, "the changed program");
  constexpr double kErrorTold = 0.05;
  if (std::fabs(report.error) > kErrorTold)
    out += fmt::format(
        "warning: simulated under the recorded load, the median answer takes {} {} than it did: so unsure are the "
        "other figures\n",
        table::percent_text(std::fabs(report.error)), report.error > 0 ? "longer" : "less time");
  for (const std::string& note : report.notes) out += "note: " + note + "\n";
  out = printable_lines(out, style.unicode) + "\n" + table::render_text(service_changes_table(document, report), style);
  std::string further;
  size_t rank = 0;
  for (const std::vector<ServiceChange>* list : {&advice.best, &advice.others}) {
    for (const ServiceChange& change : *list) further += change_text(document, change, ++rank, source);
  }
  return out + printable_lines(further, style.unicode);
}

table::Json service_json(const AdviceDocument& document, const ServiceReport& report, SourceLines& source) {
  const ServiceAdvice& advice = report.advice;
  const auto saturation = [&](const advise::Saturation& one) {
    table::Json json = service_point_json(one.point);
    json["clients"] = one.point.clients;
    json["limited_by"] = limit_json(document.trace(), one.limit);
    json["hangs_with_clients"] = one.hangs ? table::Json(one.hangs->clients) : table::Json();
    return json;
  };
  table::Json json{{"requests", report.requests.all.size()},
                   {"connections", report.requests.connections},
                   {"arrivals", report.arrivals.open ? "open" : "closed"},
                   {"per_s", report.arrivals.per_second},
                   {"clients", report.arrivals.clients},
                   {"error", report.error},
                   {"objective", advice.objective == advise::ServiceObjective::p99 ? "p99" : "throughput"},
                   {"load", advice.load}};
  json["before"] = saturation(advice.before);
  json["after"] = saturation(advice.after);
  json["recorded_load"] = {{"before", service_point_json(advice.recorded_before)},
                           {"after", service_point_json(advice.recorded_after)}};
  json["endpoints"] = {{"before", point_endpoints_json(report.requests, advice.recorded_before)},
                       {"after", point_endpoints_json(report.requests, advice.recorded_after)}};
  json["at_load"] = {{"before", service_point_json(advice.load_before)},
                     {"after", service_point_json(advice.load_after)}};
  const table::Table changes = service_changes_table(document, report);
  json["improvements"] = table::Json::array();
  size_t row = 0;
  for (const std::vector<ServiceChange>* list : {&advice.best, &advice.others}) {
    for (const ServiceChange& change : *list) {
      table::Json one = table::row_json(kServiceChangesSchema, changes.rows()[row++]);
      const std::string line = line_text(place_cell_of(document, as_advice(change)), source);
      one["source"] = line.empty() ? table::Json() : table::Json(line);
      json["improvements"].push_back(std::move(one));
    }
  }
  json["best"] = table::Json::array();
  for (size_t i = 0; i < advice.best.size(); ++i) json["best"].push_back(i + 1);
  json["notes"] = report.notes;
  return json;
}

}  // namespace contrafact::cli
