#include "advise/recorded_service.h"

#include <fmt/format.h>

#include <utility>

#include "advise/endpoint_loads.h"
#include "analysis/lock_bounds.h"
#include "whatif/load_templates.h"

namespace contrafact::advise {
namespace {

std::string no_requests_reason(const model::Trace& trace, bool by_task) {
  if (by_task) return "no task was handed to a pool from outside of tasks";
  return trace.connections.empty()
             ? "no connection was recorded that the program accepted; --by-task takes outermost tasks for requests"
             : "no request was answered on the connections that the program accepted; --by-task takes outermost tasks "
               "for requests";
}

}  // namespace

base::Result<RecordedService> recorded_service(const model::Facts& facts, const ServiceReading& reading) {
  const model::Trace& trace = facts.trace();
  RecordedService recorded;
  recorded.requests = reading.by_task ? model::requests_by_task(trace) : model::requests_by_connection(trace);
  const auto unusable = [&](std::string why) {
    recorded.unusable = std::move(why);
    return std::move(recorded);
  };
  const size_t count = recorded.requests.all.size();
  if (count == 0) return unusable(no_requests_reason(trace, reading.by_task));
  if (count < reading.requests_min)
    return unusable(fmt::format("{} of {} requests that it takes were recorded", count, reading.requests_min));
  model::drop_warm_up(trace, recorded.requests);
  base::Result<whatif::LoadSimulator> simulator = whatif::LoadSimulator::make(facts, recorded.requests);
  if (!simulator) return simulator.error();
  if (simulator->templates().all().empty()) return unusable("no request of the recording can be simulated");
  recorded.simulator.emplace(*std::move(simulator));
  recorded.arrivals = analysis::arrivals_of(recorded.requests);
  if (recorded.arrivals.per_second <= 0)
    return unusable("only one request, or all at once: that does not show how they come");
  const bool was_open = recorded.arrivals.open;
  recorded.arrivals.open = reading.open.value_or(was_open);
  recorded.arrivals_given = recorded.arrivals.open != was_open;
  recorded.endpoints = drawn_endpoints(recorded.simulator->templates(), recorded.requests);
  return recorded;
}

base::Result<Service> service_of(const RecordedService& recorded, const model::Facts& facts, ServiceOptions options) {
  options.lock_bounds = analysis::lock_bounds(facts, recorded.requests);
  options.unknown_waits = recorded.simulator->templates().unknown_waits();
  options.endpoints = recorded.endpoints;
  return Service::make(*recorded.simulator, recorded.arrivals, std::move(options));
}

}  // namespace contrafact::advise
