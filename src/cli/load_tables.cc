#include "cli/load_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "cli/endpoint_tables.h"
#include "cli/json_document.h"
#include "cli/service_words.h"
#include "cli/trace_input.h"
#include "report/load_picture.h"
#include "table/render.h"
#include "table/value_text.h"

namespace contrafact::cli {

using advise::LoadPoint;
using advise::ProgramLoads;
using table::Cell;

const table::Schema kLoadSchema{
    "load",
    "The service under other loads: what it answers, and how long that takes. Simulated.",
    {
        {"program", "program", table::Type::word, table::Unit::none,
         "recorded: as it was; changed: with the given specs applied."},
        {"clients", "clients", table::Type::integer, table::Unit::none,
         "How many clients ask; each waits for its answer, and thinks as long as the recorded ones did, unless the "
         "remark "
         "says that it does not."},
        {"offered_per_s", "asked/s", table::Type::number, table::Unit::requests,
         "Requests that come in a second, where they do not wait for answers."},
        {"per_s", "answered/s", table::Type::number, table::Unit::requests, "Requests that are answered in a second."},
        {"per_s_interval", "90 %", table::Type::interval, table::Unit::requests,
         "Nominally nine of ten such runs lie between, by the means of batches of answers.", 3},
        {"p50_ns", "p50", table::Type::duration, table::Unit::ns, "Half of the answers take no longer than this."},
        {"p50_interval", "p50 90 %", table::Type::interval, table::Unit::ns, "The interval of p50.", 5},
        {"p90_ns", "p90", table::Type::duration, table::Unit::ns, "Nine of ten answers take no longer than this.", 2},
        {"p90_interval", "p90 90 %", table::Type::interval, table::Unit::ns, "The interval of p90.", 6},
        {"p99_ns", "p99", table::Type::duration, table::Unit::ns, "99 of 100 answers take no longer than this."},
        {"p99_interval", "p99 90 %", table::Type::interval, table::Unit::ns, "The interval of p99.", 4},
        {"cores_used", "cores used", table::Type::ratio, table::Unit::ratio, "Share of the cores' time in use.", 1},
        {"remark", "remark", table::Type::word, table::Unit::none,
         "recorded load: as in the recording; saturated, no thinking: more clients get no more answers, and they ask "
         "again "
         "at once; falls behind: more requests come than are answered; no steady state: the simulated run was too "
         "short; "
         "hangs: it comes to a standstill."},
    }};

namespace {

void add_point(table::Table& result, const std::string& program, const LoadPoint& point, std::string remark) {
  const auto if_known = [&](auto value) { return point.stuck ? Cell() : Cell(value); };
  if (point.stuck) remark = "hangs";
  const auto add = [&](std::string_view what) { remark += fmt::format("{}{}", remark.empty() ? "" : ", ", what); };
  if (!point.stuck && !point.keeps_up) add("falls behind");
  if (!point.stuck && point.keeps_up && !point.steady) add("no steady state");
  const auto range = [&](const advise::TimeRange& time) {
    return if_known(table::Interval{static_cast<double>(time.low_ns), static_cast<double>(time.high_ns)});
  };
  result.add_row({program, point.open ? Cell() : Cell(point.clients), point.open ? Cell(point.offered) : Cell(),
                  if_known(point.per_second), if_known(table::Interval{point.low, point.high}), if_known(point.p50_ns),
                  range(point.p50_range), if_known(point.p90_ns), range(point.p90_range), if_known(point.p99_ns),
                  range(point.p99_range), if_known(point.cores_used), remark});
}

// What it can answer, what limits that, and where it ends.
std::string program_lines(const LoadDocument& document, const ProgramLoads& loads) {
  const std::string program = document.programs.size() > 1 ? loads.program + " program: " : "";
  std::string text;
  if (loads.saturation.point.clients > 0)
    text += fmt::format("{}it can answer {} (simulated); {}\n", program, rate_text(loads.saturation.point),
                        limit_text(document.trace, loads.saturation.limit));
  if (const std::string hint = limit_hint(document.facts, loads.saturation.limit); !hint.empty()) text += hint + "\n";
  text += fmt::format("{}at the recorded load {}\n", program, fate_text(loads.recorded, "answers"));
  if (loads.saturation.hangs) text += fmt::format("warning: {}\n", hang_text(loads.saturation, program + "it"));
  return text;
}

std::string load_head_text(const LoadDocument& document) {
  std::string text = requests_sentence(document.requests, document.arrivals, document.arrivals_given) + "\n";
  std::vector<int64_t> sorted_ns = document.recorded_ns;
  std::ranges::sort(sorted_ns);
  text += "answers took " + measured_text(sorted_ns) + "\n";
  if (!document.shown.empty())
    text += fmt::format("times of answers are those of {} alone, {} of {} requests\n", fmt::join(document.shown, ", "),
                        table::count_text(static_cast<int64_t>(document.requests_shown)),
                        table::count_text(static_cast<int64_t>(document.requests.all.size())));
  std::vector<const LoadPoint*> points;
  for (const ProgramLoads& loads : document.programs) {
    text += program_lines(document, loads);
    for (const LoadPoint& point : loads.curve) points.push_back(&point);
    points.push_back(&loads.recorded);
    points.push_back(&loads.saturation.point);
  }
  if (document.requests.unanswered > 0)
    text += fmt::format("note: {} had no answer when the recording ended\n",
                        table::counted_text(document.requests.unanswered, "request", "requests"));
  for (const std::string& note : document.notes) text += "note: " + note + "\n";
  return text + error_warning(document.error) + steady_warning(points) + method_line();
}

std::vector<ProgramEndpoints> endpoints_of(const LoadDocument& document) {
  std::vector<ProgramEndpoints> programs;
  for (const ProgramLoads& loads : document.programs)
    programs.push_back(
        {document.programs.size() > 1 ? std::string_view(loads.program) : "", loads.endpoints, loads.curve});
  return programs;
}

std::string named_by_text(const model::Requests& requests) {
  return requests.named_by_code
             ? "endpoints, called as the code that handles them (the recording has no names for them)"
             : "endpoints";
}

// With the endpoints' answers.
table::Json full_point_json(const model::Requests& requests, const LoadPoint& point) {
  table::Json json = point_json(point);
  json["endpoints"] = point.stuck ? table::Json() : point_endpoints_json(requests, point);
  return json;
}

}  // namespace

table::Table load_table(const std::vector<ProgramLoads>& programs) {
  table::Table result(kLoadSchema);
  for (const ProgramLoads& loads : programs) {
    add_point(result, loads.program, loads.recorded, "recorded load");
    for (const LoadPoint& point : loads.curve) add_point(result, loads.program, point, "");
    if (loads.saturation.point.clients > 0)
      add_point(result, loads.program, loads.saturation.point, "saturated, no thinking");
  }
  return result;
}

std::string load_text(const LoadDocument& document, const table::TextStyle& style) {
  std::string text = load_head_text(document) + "\n" + table::render_text(load_table(document.programs), style);
  constexpr size_t kRowsMost = 10;
  if (document.programs.front().endpoints.size() > 1)
    text += "\n" + named_by_text(document.requests) + ":\n" +
            table::render_text(endpoints_table(document.requests, endpoints_of(document), kRowsMost), style);
  return text;
}

std::string endpoints_text(const LoadDocument& document, const table::TextStyle& style) {
  return table::render_text(endpoints_table(document.requests, endpoints_of(document), SIZE_MAX - 1), style);
}

std::string endpoints_csv(const LoadDocument& document) {
  return table::render_csv(endpoints_table(document.requests, endpoints_of(document), SIZE_MAX - 1));
}

std::string load_picture(const LoadDocument& document) {
  return report::load_svg(load_picture_of(document.path, document.arrivals.open, document.programs));
}

std::string load_page(const LoadDocument& document) {
  const table::Table curve = load_table(document.programs);
  const table::Table endpoints = endpoints_table(document.requests, endpoints_of(document), SIZE_MAX - 1);
  const table::Table endpoint_curves = endpoint_curves_table(document.requests, endpoints_of(document));
  const std::string command(document.trace.fact("command"));
  std::vector<std::string> notes;
  std::istringstream head(load_head_text(document));
  for (std::string line; std::getline(head, line);) notes.push_back(line);
  return report::load_page(
      {.picture = load_picture_of(document.path, document.arrivals.open, document.programs),
       .subtitle = command.empty() ? document.path : command,
       .notes = notes,
       .tables = {{"Loads", &curve}, {"Endpoints", &endpoints}, {"Endpoints under load", &endpoint_curves}}});
}

std::string load_csv(const LoadDocument& document) {
  return table::render_csv(load_table(document.programs));
}

std::string load_json(const LoadDocument& document) {
  table::Json json = json_document("load");
  json["trace"] = trace_json_header(document.path, document.trace);
  json["arrivals"] = document.arrivals.open ? "open" : "closed";
  json["arrivals_given"] = document.arrivals_given;
  std::vector<int64_t> sorted_ns = document.recorded_ns;
  std::ranges::sort(sorted_ns);
  json["recorded"] = {{"requests", document.requests.all.size()},
                      {"connections", document.requests.connections},
                      {"unanswered", document.requests.unanswered},
                      {"by_task", document.requests.by_task},
                      {"per_s", document.arrivals.per_second},
                      {"clients", document.arrivals.clients},
                      {"p50_ns", analysis::percentile_ns(sorted_ns, 0.5)},
                      {"p90_ns", analysis::percentile_ns(sorted_ns, 0.9)},
                      {"p99_ns", analysis::percentile_ns(sorted_ns, 0.99)}};
  json["endpoints_named_by"] = document.requests.named_by_code ? "code" : "recording";
  json["endpoints_shown"] = document.shown;
  json["error"] = document.error ? table::Json(*document.error) : table::Json();
  json["programs"] = table::Json::array();
  for (const ProgramLoads& loads : document.programs) {
    table::Json one{{"program", loads.program}};
    one["saturation"] = full_point_json(document.requests, loads.saturation.point);
    one["limited_by"] = limit_json(document.trace, loads.saturation.limit);
    one["hangs_with_clients"] = loads.saturation.hangs ? table::Json(loads.saturation.hangs->clients) : table::Json();
    one["recorded_load"] = full_point_json(document.requests, loads.recorded);
    one["endpoints"] = endpoints_json(document.requests, loads.endpoints);
    one["curve"] = table::Json::array();
    for (const LoadPoint& point : loads.curve) one["curve"].push_back(full_point_json(document.requests, point));
    json["programs"].push_back(std::move(one));
  }
  json["notes"] = document.notes;
  return table::json_text(json);
}

}  // namespace contrafact::cli
