#include "cli/load_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/lock_profile.h"
#include "cli/json_document.h"
#include "cli/service_report.h"
#include "cli/trace_input.h"
#include "table/render.h"
#include "table/value_text.h"

namespace contrafact::cli {

using advise::LoadPoint;
using advise::ServiceLimit;
using table::Cell;

const table::Schema kLoadSchema{
    "load",
    "The service under other loads: what it answers, and how long that takes. Simulated.",
    {
        {"program", "program", table::Type::word, table::Unit::none,
         "recorded: as it was; changed: with the given specs applied."},
        {"clients", "clients", table::Type::integer, table::Unit::none,
         "How many clients ask; each waits for its answer, and thinks as long as the recorded ones did."},
        {"offered_per_s", "asked/s", table::Type::number, table::Unit::requests,
         "Requests that come in a second, where they do not wait for answers."},
        {"per_s", "answered/s", table::Type::number, table::Unit::requests, "Requests that are answered in a second."},
        {"per_s_interval", "90 %", table::Type::interval, table::Unit::requests,
         "Nominally nine of ten such runs lie between.", 3},
        {"p50_ns", "p50", table::Type::duration, table::Unit::ns, "Half of the answers take no longer than this."},
        {"p90_ns", "p90", table::Type::duration, table::Unit::ns, "Nine of ten answers take no longer than this.", 2},
        {"p99_ns", "p99", table::Type::duration, table::Unit::ns, "99 of 100 answers take no longer than this."},
        {"cores_used", "cores used", table::Type::ratio, table::Unit::ratio, "Share of the cores' time in use.", 1},
        {"remark", "remark", table::Type::word, table::Unit::none,
         "recorded load: as in the recording; saturated: more clients get no more answers (they do not think); falls "
         "behind: more requests come than are answered; hangs: it comes to a standstill."},
    }};

namespace {

std::string rate_text(double per_second) {
  return table::number_text(per_second) + "/s";
}

std::string interval_text(const LoadPoint& point) {
  return fmt::format("{} ({} to {})", rate_text(point.per_second), table::number_text(point.low),
                     table::number_text(point.high));
}

void add_point(table::Table& result, const std::string& program, const LoadPoint& point, std::string remark) {
  const auto if_known = [&](auto value) { return point.stuck ? Cell() : Cell(value); };
  if (point.stuck) remark = "hangs";
  if (!point.stuck && !point.keeps_up) remark += remark.empty() ? "falls behind" : ", falls behind";
  result.add_row({program, point.open ? Cell() : Cell(point.clients), point.open ? Cell(point.offered) : Cell(),
                  if_known(point.per_second), if_known(table::Interval{point.low, point.high}), if_known(point.p50_ns),
                  if_known(point.p90_ns), if_known(point.p99_ns), if_known(point.cores_used), remark});
}

const char* kind_name(ServiceLimit::Kind kind) {
  switch (kind) {
    case ServiceLimit::Kind::none:
      return "none";
    case ServiceLimit::Kind::cores:
      return "cores";
    case ServiceLimit::Kind::pool:
      return "pool";
    case ServiceLimit::Kind::thread:
      return "thread";
    case ServiceLimit::Kind::permits:
      return "permits";
    case ServiceLimit::Kind::lock:
      return "lock";
  }
  return "none";
}

std::string name_of_limit(const model::Trace& trace, const ServiceLimit& limit) {
  return limit.kind == ServiceLimit::Kind::lock ? analysis::lock_name(trace, model::LockId(limit.id)) : limit.name;
}

std::string load_head_text(const LoadDocument& document) {
  std::string text = requests_sentence(document.requests, document.arrivals);
  text += document.arrivals_given ? " (as --arrivals says)\n" : "\n";
  std::vector<int64_t> sorted_ns = document.recorded_ns;
  std::ranges::sort(sorted_ns);
  text += fmt::format("answers took {} in the median, p99 {} (measured)\n",
                      table::duration_text(static_cast<double>(analysis::percentile_ns(sorted_ns, 0.5))),
                      table::duration_text(static_cast<double>(analysis::percentile_ns(sorted_ns, 0.99))));
  for (const ProgramLoads& loads : document.programs) {
    const LoadPoint& point = loads.saturation.point;
    const std::string program = document.programs.size() > 1 ? loads.program + " program: " : "";
    if (point.clients > 0)
      text += fmt::format("{}it can answer {} (simulated); {}\n", program, interval_text(point),
                          limit_text(document.trace, loads.saturation.limit));
    if (loads.saturation.hangs) {
      text += fmt::format("warning: {}with {} it hangs: {}\n", program,
                          table::counted_text(loads.saturation.hangs->clients, "client", "clients"),
                          loads.saturation.hangs->stuck_reason);
    }
  }
  if (document.requests.unanswered > 0)
    text += fmt::format("note: {} had no answer when the recording ended\n",
                        table::counted_text(document.requests.unanswered, "request", "requests"));
  for (const std::string& note : document.notes) text += "note: " + note + "\n";
  constexpr double kErrorTold = 0.05;
  if (std::fabs(document.error) > kErrorTold)
    text += fmt::format("warning: simulated under the recorded load, answers take {} {} than they did: so unsure is the rest\n",
                        table::percent_text(std::fabs(document.error)), document.error > 0 ? "longer" : "less time");
  return text;
}

table::Json point_json(const LoadPoint& point) {
  table::Json json{{"open", point.open},
                   {"clients", point.open ? table::Json() : table::Json(point.clients)},
                   {"offered_per_s", point.open ? table::Json(point.offered) : table::Json()},
                   {"hangs", point.stuck}};
  const auto put = [&](const char* name, auto value) { json[name] = point.stuck ? table::Json() : table::Json(value); };
  put("per_s", point.per_second);
  put("low", point.low);
  put("high", point.high);
  put("mean_ns", point.mean_ns);
  put("p50_ns", point.p50_ns);
  put("p90_ns", point.p90_ns);
  put("p99_ns", point.p99_ns);
  put("cores_used", point.cores_used);
  put("keeps_up", point.keeps_up);
  return json;
}

}  // namespace

std::string limit_text(const model::Trace& trace, const ServiceLimit& limit) {
  const std::string more = fmt::format("+{}", table::percent_text(limit.more));
  const std::string name = name_of_limit(trace, limit);
  switch (limit.kind) {
    case ServiceLimit::Kind::none:
      return "nothing of which twice as much would help by itself limits it";
    case ServiceLimit::Kind::cores:
      return fmt::format("limited by {} (with twice as many {})", name, more);
    case ServiceLimit::Kind::pool:
      return fmt::format("limited by pool {}, {} workers (with twice as many {})", name, limit.size, more);
    case ServiceLimit::Kind::thread:
      return fmt::format("limited by one thread, {} (with a second one {})", name, more);
    case ServiceLimit::Kind::permits:
      return fmt::format("limited by the {} of {} (with twice as many {})",
                         table::counted_text(limit.size, "permit", "permits"), name, more);
    case ServiceLimit::Kind::lock:
      if (limit.is_estimated)
        return fmt::format("limited by lock {} (estimated by how long requests waited for it; without it {}): record with "
                           "--classes-from to see its sections",
                           name, more);
      return fmt::format("limited by lock {} (without it {})", name, more);
  }
  return "";
}

table::Json limit_json(const model::Trace& trace, const ServiceLimit& limit) {
  return {{"kind", kind_name(limit.kind)},
          {"name", name_of_limit(trace, limit)},
          {"size", limit.size},
          {"estimated", limit.is_estimated},
          {"more", limit.more}};
}

table::Table load_table(const LoadDocument& document) {
  table::Table result(kLoadSchema);
  for (const ProgramLoads& loads : document.programs) {
    add_point(result, loads.program, loads.recorded, "recorded load");
    for (const LoadPoint& point : loads.curve) add_point(result, loads.program, point, "");
    if (loads.saturation.point.clients > 0) add_point(result, loads.program, loads.saturation.point, "saturated");
  }
  return result;
}

std::string load_text(const LoadDocument& document, const table::TextStyle& style) {
  return load_head_text(document) + "\n" + table::render_text(load_table(document), style);
}

std::string load_csv(const LoadDocument& document) {
  return table::render_csv(load_table(document));
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
  json["error"] = document.error;
  json["programs"] = table::Json::array();
  for (const ProgramLoads& loads : document.programs) {
    table::Json one{{"program", loads.program}};
    one["saturation"] = point_json(loads.saturation.point);
    one["limited_by"] = limit_json(document.trace, loads.saturation.limit);
    one["hangs_with_clients"] =
        loads.saturation.hangs ? table::Json(loads.saturation.hangs->clients) : table::Json();
    one["recorded_load"] = point_json(loads.recorded);
    one["curve"] = table::Json::array();
    for (const LoadPoint& point : loads.curve) one["curve"].push_back(point_json(point));
    json["programs"].push_back(std::move(one));
  }
  json["notes"] = document.notes;
  return table::json_text(json);
}

}  // namespace contrafact::cli
