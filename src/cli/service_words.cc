#include "cli/service_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "analysis/lock_profile.h"
#include "analysis/places.h"
#include "cli/trace_input.h"
#include "model/lock_waits.h"
#include "table/value_text.h"

namespace contrafact::cli {

using advise::LoadPoint;
using advise::ServiceLimit;
using advise::TimeRange;

namespace {

std::string ns_text(int64_t ns) {
  return table::duration_text(static_cast<double>(ns));
}

std::string range_text(int64_t ns, const TimeRange& range) {
  const std::string low = ns_text(range.low_ns), high = ns_text(range.high_ns);
  return low == high ? ns_text(ns) : fmt::format("{} ({} to {})", ns_text(ns), low, high);
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

// The recording may have no name for a pool: then what the pool runs most says which one it is.
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

}  // namespace

std::string requests_sentence(const model::Requests& requests, const analysis::Arrivals& arrivals,
                              bool arrivals_given) {
  std::string text = fmt::format(
      "{}{}{}: {} of them answered a second; ", table::counted_text(requests.all.size(), "request", "requests"),
      requests.warm_up > 0 ? fmt::format(" behind the first {}, in which a JVM still compiles", requests.warm_up) : "",
      requests.by_task ? ", each a task"
                       : fmt::format("{} on {}", requests.warm_up > 0 ? "," : "",
                                     table::counted_text(requests.connections, "connection", "connections")),
      table::number_text(arrivals.per_second));
  text += arrivals.open ? "they come at their own times"
                        : fmt::format("from {} for each answer",
                                      arrivals.clients == 1 ? "1 client that waits"
                                                            : fmt::format("{} clients that wait", arrivals.clients));
  return text + (arrivals_given ? " (as --arrivals says)" : "");
}

std::string measured_text(const std::vector<int64_t>& sorted_ns) {
  return fmt::format("{} in the median, p99 {} (measured)", ns_text(analysis::percentile_ns(sorted_ns, 0.5)),
                     ns_text(analysis::percentile_ns(sorted_ns, 0.99)));
}

std::string rate_text(const LoadPoint& point) {
  return fmt::format("{}/s ({} to {})", table::number_text(point.per_second), table::number_text(point.low),
                     table::number_text(point.high));
}

std::string times_text(const LoadPoint& point) {
  return fmt::format("{} in the median, p90 {}, p99 {}", range_text(point.p50_ns, point.p50_range),
                     ns_text(point.p90_ns), range_text(point.p99_ns, point.p99_range));
}

std::string fate_text(const LoadPoint& point, std::string_view answers) {
  if (point.stuck) return "it stands still (simulated)";
  if (point.keeps_up) return fmt::format("{} take {} (simulated)", answers, times_text(point));
  return fmt::format(
      "it falls behind: {} requests come in a second and {} are answered, so that answers take the longer, the longer "
      "that lasts (simulated)",
      table::number_text(point.offered), table::number_text(point.per_second));
}

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
      return fmt::format("limited by pool {}, {} workers{} (with twice as many {})", name, limit.size,
                         limit.starves ? ", which come to wait for each other" : "", more);
    case ServiceLimit::Kind::thread:
      return fmt::format("limited by one thread, {}{} (with a second one {})", name,
                         limit.starves ? ", which comes to wait for itself" : "", more);
    case ServiceLimit::Kind::permits:
      if (limit.is_estimated)
        return fmt::format(
            "limited by what requests wait for at {} (estimated by how often and how long they waited; without it {})",
            name, more);
      return fmt::format("limited by the {} of {}{} (with twice as many {})",
                         table::counted_text(limit.size, "permit", "permits"), name,
                         limit.starves ? ", whose holders come to wait for further ones" : "", more);
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

std::string limit_hint(const model::Facts& facts, const ServiceLimit& limit, bool has_sets) {
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
    return fmt::format("{} is held longest from {}, for {} on average: do less there while it is held{}",
                       analysis::lock_name(trace, model::LockId(limit.id)), trace.context_label(model::ContextId(site)),
                       table::duration_text(mean_ns),
                       has_sets || !trace.access_sets.empty()
                           ? ""
                           : "; `contrafact record --sets` sees what need not be done under it");
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

std::string twice_text(const advise::Saturation& saturation) {
  const ServiceLimit& limit = saturation.limit;
  if (limit.kind != ServiceLimit::Kind::permits || !limit.is_estimated) return "";
  const double more = std::min(1.0, limit.more);
  return fmt::format("With about twice as many of what is waited for at {} it can answer up to {}/s (estimated)",
                     limit.name, table::number_text(saturation.point.per_second * (1 + more)));
}

table::Json limit_json(const model::Trace& trace, const ServiceLimit& limit) {
  return {{"kind", kind_name(limit.kind)},
          {"name", name_of_limit(trace, limit)},
          {"size", limit.size},
          {"besides", limit.besides},
          {"estimated", limit.is_estimated},
          {"starves", limit.starves},
          {"more", limit.more}};
}

std::string hang_text(const advise::Saturation& saturation, std::string_view program) {
  if (!saturation.hangs) return "";
  const LoadPoint& hangs = *saturation.hangs;
  return fmt::format("{} stands still from {} on: {}", program, table::counted_text(hangs.clients, "client", "clients"),
                     hangs.stuck_reason);
}

std::string error_warning(std::optional<double> error) {
  if (!error)
    return "warning: the recorded load cannot be simulated to its end: how far off the figures are is not known\n";
  constexpr double kErrorWarned = 0.05;
  if (std::fabs(*error) <= kErrorWarned) return "";
  return fmt::format(
      "warning: simulated under the recorded load, the median answer takes {} {} than it did: so unsure is the rest\n",
      table::percent_text(std::fabs(*error)), *error > 0 ? "longer" : "less time");
}

std::string steady_warning(const std::vector<const LoadPoint*>& points) {
  const auto is_unsteady = [](const LoadPoint* point) { return !point->stuck && point->keeps_up && !point->steady; };
  const auto count = static_cast<uint64_t>(std::ranges::count_if(points, is_unsteady));
  if (count == 0) return "";
  return fmt::format("warning: {} of {} reached no steady state; `contrafact load --requests` simulates longer\n",
                     count, table::counted_text(points.size(), "simulated load", "simulated loads"));
}

std::string method_line() {
  return "steady states are found by MSER; intervals (90 %) are those of batch means, of percentiles by sections\n";
}

table::Json point_json(const LoadPoint& point) {
  table::Json json{{"open", point.open},
                   {"clients", point.open ? table::Json() : table::Json(point.clients)},
                   {"thinking", point.open ? table::Json() : table::Json(point.thinks)},
                   {"offered_per_s", point.open ? table::Json(point.offered) : table::Json()},
                   {"hangs", point.stuck},
                   {"hangs_why", point.stuck ? table::Json(point.stuck_reason) : table::Json()}};
  const auto put = [&](const std::string& name, auto value) {
    json[name] = point.stuck ? table::Json() : table::Json(value);
  };
  put("per_s", point.per_second);
  put("low", point.low);
  put("high", point.high);
  put("mean_ns", point.mean_ns);
  const auto put_time = [&](const std::string& name, int64_t ns, const TimeRange& range) {
    put(name + "_ns", ns);
    put(name + "_low_ns", range.low_ns);
    put(name + "_high_ns", range.high_ns);
  };
  put_time("p50", point.p50_ns, point.p50_range);
  put_time("p90", point.p90_ns, point.p90_range);
  put_time("p99", point.p99_ns, point.p99_range);
  put("cores_used", point.cores_used);
  put("keeps_up", point.keeps_up);
  put("steady", point.steady);
  return json;
}

report::LoadPicture load_picture_of(const std::string& path, bool open,
                                    const std::vector<advise::ProgramLoads>& programs) {
  report::LoadPicture picture{.title = "A service under load: " + std::filesystem::path(path).filename().string(),
                              .load_title = open ? "requests that come in a second" : "clients that ask"};
  constexpr double kNsPerMs = 1e6;
  for (const advise::ProgramLoads& loads : programs) {
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

}  // namespace contrafact::cli
