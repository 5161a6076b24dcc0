#include "cli/load_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <sstream>

#include "analysis/lock_profile.h"
#include "analysis/places.h"
#include "cli/endpoint_tables.h"
#include "cli/json_document.h"
#include "cli/service_report.h"
#include "cli/trace_input.h"
#include "model/lock_waits.h"
#include "report/load_picture.h"
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

std::string per_second_text(double per_second) {
  return table::number_text(per_second) + "/s";
}

std::string interval_text(const LoadPoint& point) {
  return fmt::format("{} ({} to {})", per_second_text(point.per_second), table::number_text(point.low),
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

// A pool that the recording knows no name for is told by what it runs most.
std::string pool_text(const model::Trace& trace, model::PoolId pool) {
  const std::string name = analysis::pool_name(trace, pool);
  if (trace.pools[pool.index()].kind == format::PoolKind::permits || !name.starts_with("java.util.concurrent."))
    return name;
  std::map<uint32_t, size_t> bodies;
  for (const model::TaskRow& task : trace.tasks) {
    if (task.pool == pool && task.body.valid()) ++bodies[task.body.value];
  }
  const auto most = std::ranges::max_element(bodies, {}, [](const auto& body) { return body.second; });
  return most == bodies.end()
             ? name
             : fmt::format("{}, which runs {}", name, trace.method_label(model::MethodId(most->first)));
}

std::string name_of_limit(const model::Trace& trace, const ServiceLimit& limit) {
  if (limit.kind == ServiceLimit::Kind::lock) return analysis::lock_name(trace, model::LockId(limit.id));
  const bool is_pool = limit.kind == ServiceLimit::Kind::pool || limit.kind == ServiceLimit::Kind::thread ||
                       limit.kind == ServiceLimit::Kind::permits;
  return is_pool && limit.id < trace.pools.size() ? pool_text(trace, model::PoolId(limit.id)) : limit.name;
}

std::string load_head_text(const LoadDocument& document) {
  std::string text = requests_sentence(document.requests, document.arrivals);
  text += document.arrivals_given ? " (as --arrivals says)\n" : "\n";
  std::vector<int64_t> sorted_ns = document.recorded_ns;
  std::ranges::sort(sorted_ns);
  text += fmt::format("answers took {} in the median, p99 {} (measured)\n",
                      table::duration_text(static_cast<double>(analysis::percentile_ns(sorted_ns, 0.5))),
                      table::duration_text(static_cast<double>(analysis::percentile_ns(sorted_ns, 0.99))));
  if (!document.shown.empty())
    text += fmt::format("times of answers are those of {} alone, {} of {} requests\n", fmt::join(document.shown, ", "),
                        table::count_text(static_cast<int64_t>(document.requests_shown)),
                        table::count_text(static_cast<int64_t>(document.requests.all.size())));
  for (const ProgramLoads& loads : document.programs) {
    const LoadPoint& point = loads.saturation.point;
    const std::string program = document.programs.size() > 1 ? loads.program + " program: " : "";
    if (point.clients > 0)
      text += fmt::format("{}it can answer {} (simulated); {}\n", program, interval_text(point),
                          limit_text(document.trace, loads.saturation.limit));
    if (const std::string hint = limit_hint(document.facts, loads.saturation.limit); !hint.empty()) text += hint + "\n";
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
    text += fmt::format(
        "warning: simulated under the recorded load, the median answer takes {} {} than it did: so unsure is the "
        "rest\n",
        table::percent_text(std::fabs(document.error)), document.error > 0 ? "longer" : "less time");
  return text;
}

report::LoadPicture picture_of(const LoadDocument& document) {
  report::LoadPicture picture{
      .title = "A service under load: " + std::filesystem::path(document.path).filename().string(),
      .load_title = document.arrivals.open ? "requests that come in a second" : "clients that ask"};
  constexpr double kNsPerMs = 1e6;
  for (const ProgramLoads& loads : document.programs) {
    report::LoadCurve curve{.name = loads.program + " program"};
    for (const LoadPoint& point : loads.curve) {
      if (point.stuck) continue;
      curve.load.push_back(point.open ? point.offered : point.clients);
      curve.per_second.push_back(point.per_second);
      curve.p50_ms.push_back(static_cast<double>(point.p50_ns) / kNsPerMs);
      curve.p99_ms.push_back(static_cast<double>(point.p99_ns) / kNsPerMs);
    }
    picture.curves.push_back(std::move(curve));
  }
  return picture;
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

table::Json point_json(const model::Requests& requests, const LoadPoint& point) {
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
  put("endpoints", point_endpoints_json(requests, point));
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
      if (!limit.besides.empty())
        return fmt::format("limited by {} and {} together (with twice as many of both {})", name, limit.besides, more);
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
        return fmt::format(
            "limited by lock {} (estimated by how long requests waited for it; without it {}): record with "
            "--classes-from to see its sections",
            name, more);
      return fmt::format("limited by lock {} (without it {})", name, more);
  }
  return "";
}

std::string limit_hint(const model::Facts& facts, const ServiceLimit& limit) {
  if (limit.kind != ServiceLimit::Kind::lock) return "";
  const model::Trace& trace = facts.trace();
  std::map<uint32_t, std::pair<int64_t, uint64_t>> held;  // by site: ns, and times
  for (const model::CriticalSection& section : facts.sections()) {
    if (section.lock.value != limit.id || section.hold_ns() <= 0) continue;
    held[section.site.value].first += section.hold_ns();
    ++held[section.site.value].second;
  }
  if (!held.empty()) {
    const auto& [site, sum] = *std::ranges::max_element(held, {}, [](const auto& one) { return one.second.first; });
    const double mean_ns = static_cast<double>(sum.first) / static_cast<double>(sum.second);
    return fmt::format(
        "{} is held longest from {}, for {} on average: do less there while it is held; `contrafact record "
        "--sets` sees what need not be done under it",
        analysis::lock_name(trace, model::LockId(limit.id)), trace.context_label(model::ContextId(site)),
        table::duration_text(mean_ns));
  }
  const model::LockWait* longest = nullptr;
  const std::vector<model::LockWait> waits = model::lock_waits(trace);
  for (const model::LockWait& wait : waits) {
    if (wait.lock.value != limit.id || !wait.holder_at.valid()) continue;
    if (longest == nullptr || wait.wait_ns() > longest->wait_ns()) longest = &wait;
  }
  if (longest == nullptr) return "";
  return fmt::format("during the longest wait for {} its holder was at {}",
                     analysis::lock_name(trace, model::LockId(limit.id)), trace.context_label(longest->holder_at));
}

table::Json limit_json(const model::Trace& trace, const ServiceLimit& limit) {
  return {{"kind", kind_name(limit.kind)}, {"name", name_of_limit(trace, limit)}, {"size", limit.size},
          {"besides", limit.besides},      {"estimated", limit.is_estimated},     {"more", limit.more}};
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
  std::string text = load_head_text(document) + "\n" + table::render_text(load_table(document), style);
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
  return report::load_svg(picture_of(document));
}

std::string load_page(const LoadDocument& document) {
  const table::Table curve = load_table(document);
  const table::Table endpoints = endpoints_table(document.requests, endpoints_of(document), SIZE_MAX - 1);
  const table::Table endpoint_curves = endpoint_curves_table(document.requests, endpoints_of(document));
  const std::string command(document.trace.fact("command"));
  std::vector<std::string> notes;
  std::istringstream head(load_head_text(document));
  for (std::string line; std::getline(head, line);) notes.push_back(line);
  return report::load_page(
      {.picture = picture_of(document),
       .subtitle = command.empty() ? document.path : command,
       .notes = notes,
       .tables = {{"Loads", &curve}, {"Endpoints", &endpoints}, {"Endpoints under load", &endpoint_curves}}});
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
  json["endpoints_named_by"] = document.requests.named_by_code ? "code" : "recording";
  json["endpoints_shown"] = document.shown;
  json["error"] = document.error;
  json["programs"] = table::Json::array();
  for (const ProgramLoads& loads : document.programs) {
    table::Json one{{"program", loads.program}};
    one["saturation"] = point_json(document.requests, loads.saturation.point);
    one["limited_by"] = limit_json(document.trace, loads.saturation.limit);
    one["hangs_with_clients"] = loads.saturation.hangs ? table::Json(loads.saturation.hangs->clients) : table::Json();
    one["recorded_load"] = point_json(document.requests, loads.recorded);
    one["endpoints"] = endpoints_json(document.requests, loads.endpoints);
    one["curve"] = table::Json::array();
    for (const LoadPoint& point : loads.curve) one["curve"].push_back(point_json(document.requests, point));
    json["programs"].push_back(std::move(one));
  }
  json["notes"] = document.notes;
  return table::json_text(json);
}

}  // namespace contrafact::cli
