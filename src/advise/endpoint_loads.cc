#include "advise/endpoint_loads.h"

#include <algorithm>
#include <numeric>

#include "whatif/load_uses.h"

namespace contrafact::advise {
namespace {

// What each drawn request used of it; empty: not known.
std::vector<int64_t> uses_of(const whatif::LoadTemplates& drawn, const ServiceLimit& limit) {
  if (limit.is_estimated) return {};  // of what nothing in the run stands for
  switch (limit.kind) {
    case ServiceLimit::Kind::none:
      return {};
    case ServiceLimit::Kind::cores: {
      std::vector<int64_t> ns;
      for (const whatif::RequestUse& use : whatif::request_uses(drawn)) ns.push_back(use.core_ns);
      return ns;
    }
    case ServiceLimit::Kind::pool:
    case ServiceLimit::Kind::thread:
    case ServiceLimit::Kind::permits:
      return whatif::pool_uses_ns(drawn, limit.id);
    case ServiceLimit::Kind::lock:
      return whatif::lock_uses_ns(drawn, limit.id);
  }
  return {};
}

EndpointAnswers at(const LoadPoint& point, uint32_t endpoint) {
  return endpoint < point.endpoints.size() ? point.endpoints[endpoint] : EndpointAnswers();
}

}  // namespace

std::vector<uint32_t> drawn_endpoints(const whatif::LoadTemplates& drawn, const model::Requests& requests) {
  std::vector<uint32_t> endpoints;
  for (const whatif::RequestTemplate& one : drawn.all()) endpoints.push_back(requests.all[one.request].endpoint);
  return endpoints;
}

std::vector<EndpointLoad> endpoint_loads(const whatif::LoadTemplates& drawn, const model::Requests& requests,
                                         const LoadPoint& recorded, const Saturation& saturation) {
  const std::vector<uint32_t> of = drawn_endpoints(drawn, requests);
  const std::vector<whatif::RequestUse> uses = whatif::request_uses(drawn);
  const std::vector<int64_t> limit_ns = uses_of(drawn, saturation.limit);
  const int64_t limit_sum_ns = std::accumulate(limit_ns.begin(), limit_ns.end(), int64_t{0});
  std::vector<std::vector<int64_t>> answers_ns(requests.endpoints.size());
  std::vector<int64_t> held_ns(requests.endpoints.size());
  std::vector<EndpointLoad> loads(requests.endpoints.size());
  for (size_t i = 0; i < of.size(); ++i) {
    EndpointLoad& load = loads[of[i]];
    const int64_t answer_ns = drawn.recorded_ns()[i];
    answers_ns[of[i]].push_back(answer_ns);
    load.core_ns += uses[i].core_ns;
    load.pause_ns += uses[i].pause_ns;
    load.wait_ns += std::max<int64_t>(0, answer_ns - uses[i].core_ns - uses[i].pause_ns);
    if (!limit_ns.empty()) held_ns[of[i]] += limit_ns[i];
  }
  for (uint32_t i = 0; i < loads.size(); ++i) {
    EndpointLoad& load = loads[i];
    load.endpoint = i;
    load.measured = answers_of(answers_ns[i]);
    load.requests = load.measured.answers;
    if (load.requests == 0) continue;
    load.share = load.requests / static_cast<double>(of.size());
    for (int64_t* ns : {&load.core_ns, &load.pause_ns, &load.wait_ns}) *ns /= load.requests;
    load.recorded = at(recorded, i);
    load.saturated = at(saturation.point, i);
    if (limit_sum_ns > 0) load.of_limit = static_cast<double>(held_ns[i]) / static_cast<double>(limit_sum_ns);
  }
  std::erase_if(loads, [](const EndpointLoad& load) { return load.requests == 0; });
  std::ranges::stable_sort(loads, std::ranges::greater(), &EndpointLoad::requests);
  return loads;
}

}  // namespace contrafact::advise
