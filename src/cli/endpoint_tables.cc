#include "cli/endpoint_tables.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/glob.h"
#include "table/value_text.h"

namespace contrafact::cli {

using advise::EndpointAnswers;
using advise::EndpointLoad;
using advise::LoadPoint;
using table::Cell;
using table::Type;
using table::Unit;

const table::Schema kEndpointsSchema{
    "endpoints",
    "What the service is asked for, what most ask for first: how long answers take, and what a request uses.",
    {{"program", "program", Type::word, Unit::none,
      "recorded: as it was; changed: with the given specs applied; empty: there is only the recorded one."},
     {"endpoint", "endpoint", Type::text, Unit::none,
      "Method and path as the recording has them, or the code that handles the request."},
     {"requests", "requests", Type::integer, Unit::none, "Recorded requests that are drawn from.", 7},
     {"share", "share", Type::ratio, Unit::ratio, "Share of all requests."},
     {"p50_measured_ns", "p50 meas.", Type::duration, Unit::ns, "Time that half of its recorded answers took at most.",
      3},
     {"p90_measured_ns", "p90 meas.", Type::duration, Unit::ns, "The same of nine in ten.", 9},
     {"p99_measured_ns", "p99 meas.", Type::duration, Unit::ns, "The same of 99 in 100.", 2},
     {"p50_ns", "p50 sim.", Type::duration, Unit::ns,
      "Time that half of its answers take at most at the recorded load: simulated."},
     {"p90_ns", "p90 sim.", Type::duration, Unit::ns, "The same of nine in ten.", 8},
     {"p99_ns", "p99 sim.", Type::duration, Unit::ns, "The same of 99 in 100."},
     {"p99_saturated_ns", "p99 sat.", Type::duration, Unit::ns, "The same of 99 in 100 if the service is saturated.",
      4},
     {"core_ns", "core", Type::duration, Unit::ns, "Time on a core for one request, on average: measured."},
     {"pause_ns", "asleep", Type::duration, Unit::ns, "Time in which it sleeps or does I/O: measured.", 5},
     {"wait_ns", "waits", Type::duration, Unit::ns,
      "The rest of its answer, in which it waits for a worker, a lock, a permit or a core; 0 where its tasks work side "
      "by side "
      "for longer than the answer takes: measured.",
      1},
     {"of_limit", "of limit", Type::ratio, Unit::ratio,
      "Share of what the recorded requests used of that which limits the service; empty: not known.", 1}}};

const table::Schema kEndpointCurvesSchema{
    "endpoint_curves",
    "How long answers take by endpoint under other loads. Simulated.",
    {{"program", "program", Type::word, Unit::none,
      "recorded: as it was; changed: with the given specs applied; empty: there is only the recorded one."},
     {"endpoint", "endpoint", Type::text, Unit::none, "What the service is asked for."},
     {"clients", "clients", Type::integer, Unit::none, "How many clients ask; each waits for its answer."},
     {"offered_per_s", "asked/s", Type::number, Unit::requests,
      "Requests that come in a second, where they do not wait."},
     {"answers", "answers", Type::integer, Unit::none, "Answers that were simulated."},
     {"p50_ns", "p50", Type::duration, Unit::ns, "Half of the answers take no longer than this."},
     {"p90_ns", "p90", Type::duration, Unit::ns, "Nine of ten answers take no longer than this."},
     {"p99_ns", "p99", Type::duration, Unit::ns, "99 of 100 answers take no longer than this."}}};

namespace {

Cell if_any(const EndpointAnswers& answers, int64_t ns) {
  return answers.answers > 0 ? Cell(ns) : Cell();
}

Cell program_cell(const ProgramEndpoints& program) {
  return program.program.empty() ? Cell() : Cell(std::string(program.program));
}

void add_endpoint(table::Table& table, const Cell& program, const std::string& name, const EndpointLoad& load) {
  const EndpointAnswers &measured = load.measured, &recorded = load.recorded, &saturated = load.saturated;
  table.add_row({program, name, load.requests, load.share, if_any(measured, measured.p50_ns),
                 if_any(measured, measured.p90_ns), if_any(measured, measured.p99_ns),
                 if_any(recorded, recorded.p50_ns), if_any(recorded, recorded.p90_ns),
                 if_any(recorded, recorded.p99_ns), if_any(saturated, saturated.p99_ns), load.core_ns, load.pause_ns,
                 load.wait_ns, load.of_limit ? Cell(*load.of_limit) : Cell()});
}

// Sums and means; of percentiles there is no sum.
EndpointLoad rest_of(const std::vector<EndpointLoad>& loads, size_t begin) {
  EndpointLoad rest;
  double core_ns = 0, pause_ns = 0, wait_ns = 0;
  for (size_t i = begin; i < loads.size(); ++i) {
    const EndpointLoad& load = loads[i];
    const double requests = load.requests;
    rest.requests += load.requests;
    rest.share += load.share;
    core_ns += requests * static_cast<double>(load.core_ns);
    pause_ns += requests * static_cast<double>(load.pause_ns);
    wait_ns += requests * static_cast<double>(load.wait_ns);
    if (load.of_limit) rest.of_limit = rest.of_limit.value_or(0) + *load.of_limit;
  }
  const auto mean = [&](double sum) { return static_cast<int64_t>(sum / std::max(1u, rest.requests)); };
  rest.core_ns = mean(core_ns);
  rest.pause_ns = mean(pause_ns);
  rest.wait_ns = mean(wait_ns);
  return rest;
}

table::Json answers_json(const EndpointAnswers& answers) {
  if (answers.answers == 0) return {};
  return {
      {"answers", answers.answers}, {"p50_ns", answers.p50_ns}, {"p90_ns", answers.p90_ns}, {"p99_ns", answers.p99_ns}};
}

}  // namespace

table::Table endpoints_table(const model::Requests& requests, const std::vector<ProgramEndpoints>& programs,
                             size_t rows_most) {
  table::Table table(kEndpointsSchema);
  for (const ProgramEndpoints& program : programs) {
    const size_t rows = program.loads.size() > rows_most + 1 ? rows_most : program.loads.size();
    for (size_t i = 0; i < rows; ++i)
      add_endpoint(table, program_cell(program), requests.endpoints[program.loads[i].endpoint], program.loads[i]);
    if (rows < program.loads.size())
      add_endpoint(table, program_cell(program), fmt::format("{} others", program.loads.size() - rows),
                   rest_of(program.loads, rows));
  }
  table.set_empty_reason("no request is drawn");
  return table;
}

table::Table endpoint_curves_table(const model::Requests& requests, const std::vector<ProgramEndpoints>& programs) {
  table::Table table(kEndpointCurvesSchema);
  for (const ProgramEndpoints& program : programs) {
    for (const EndpointLoad& load : program.loads) {
      for (const LoadPoint& point : program.curve) {
        if (load.endpoint >= point.endpoints.size() || point.endpoints[load.endpoint].answers == 0) continue;
        const EndpointAnswers& answers = point.endpoints[load.endpoint];
        table.add_row({program_cell(program), requests.endpoints[load.endpoint],
                       point.open ? Cell() : Cell(point.clients), point.open ? Cell(point.offered) : Cell(),
                       answers.answers, answers.p50_ns, answers.p90_ns, answers.p99_ns});
      }
    }
  }
  table.set_empty_reason("under no load a request is answered");
  return table;
}

table::Json endpoints_json(const model::Requests& requests, const std::vector<EndpointLoad>& loads) {
  table::Json json = table::Json::array();
  for (const EndpointLoad& load : loads) {
    json.push_back({{"endpoint", requests.endpoints[load.endpoint]},
                    {"requests", load.requests},
                    {"share", load.share},
                    {"measured", answers_json(load.measured)},
                    {"recorded_load", answers_json(load.recorded)},
                    {"saturated", answers_json(load.saturated)},
                    {"core_ns", load.core_ns},
                    {"pause_ns", load.pause_ns},
                    {"wait_ns", load.wait_ns},
                    {"of_limit", load.of_limit ? table::Json(*load.of_limit) : table::Json()}});
  }
  return json;
}

table::Json point_endpoints_json(const model::Requests& requests, const LoadPoint& point) {
  table::Json json = table::Json::object();
  for (size_t i = 0; i < point.endpoints.size(); ++i) {
    if (point.endpoints[i].answers > 0) json[requests.endpoints[i]] = answers_json(point.endpoints[i]);
  }
  return json;
}

std::string slowest_endpoint_text(const model::Requests& requests, const LoadPoint& before, const LoadPoint* after) {
  constexpr uint32_t kAnswersMin = 100;  // so that a p99 is not the slowest answer
  if (before.stuck || (after != nullptr && after->stuck)) return "";
  const auto p99_ns = [](const LoadPoint& point, size_t endpoint) {
    const bool is_known = endpoint < point.endpoints.size() && point.endpoints[endpoint].answers >= kAnswersMin;
    return is_known ? point.endpoints[endpoint].p99_ns : 0;
  };
  const auto text = [](int64_t ns) { return table::duration_text(static_cast<double>(ns)); };
  const auto with_changes = [&](size_t endpoint) {
    return after == nullptr ? "" : fmt::format(", with the changes {}", text(p99_ns(*after, endpoint)));
  };
  size_t known = 0, slowest = 0, gaining = 0;
  double most_saved = 0;
  for (size_t i = 0; i < before.endpoints.size(); ++i) {
    const int64_t ns = p99_ns(before, i);
    if (ns == 0) continue;
    ++known;
    if (ns > p99_ns(before, slowest)) slowest = i;
    if (after == nullptr || p99_ns(*after, i) == 0) continue;
    const double saved = 1 - static_cast<double>(p99_ns(*after, i)) / static_cast<double>(ns);
    if (saved > most_saved) most_saved = saved, gaining = i;
  }
  if (known < 2) return "";
  std::string out = fmt::format("Of {} endpoints {} is the slowest: p99 {}{}", known, requests.endpoints[slowest],
                                text(p99_ns(before, slowest)), with_changes(slowest));
  constexpr double kSavedMin = 0.1;
  if (most_saved >= kSavedMin && gaining != slowest)
    out += fmt::format("; {} gains most: p99 {}{}", requests.endpoints[gaining], text(p99_ns(before, gaining)),
                       with_changes(gaining));
  return out + " (simulated).\n";
}

std::vector<bool> endpoints_named(const model::Requests& requests, const std::vector<std::string>& patterns) {
  std::vector<bool> named;
  bool any = false;
  for (const std::string& endpoint : requests.endpoints) {
    named.push_back(std::ranges::any_of(
        patterns, [&](const std::string& pattern) { return base::matches_glob(pattern, endpoint); }));
    any = any || named.back();
  }
  return any ? named : std::vector<bool>();
}

}  // namespace contrafact::cli
