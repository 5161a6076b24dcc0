// A recording of a service, made ready to be simulated under loads: what its requests are, how they come, and what is drawn
// of them. `load` and `advise` begin with it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "advise/service.h"
#include "analysis/arrivals.h"
#include "base/result.h"
#include "model/facts.h"
#include "model/requests.h"
#include "whatif/load.h"

namespace contrafact::advise {

// How a recording is read.
struct ServiceReading {
  bool by_task = false;           // requests are tasks that are handed to a pool from outside of tasks
  std::optional<bool> open = {};  // how requests come; none: as the recording shows
  size_t requests_min = 1;        // fewer say nothing
};

struct RecordedService {
  model::Requests requests;  // without those in which a JVM still compiles
  std::string unusable;      // why there is nothing to simulate; empty: there is, and all below is known
  std::optional<whatif::LoadSimulator> simulator;
  analysis::Arrivals arrivals;
  bool arrivals_given = false;      // other ones than the recording shows
  std::vector<uint32_t> endpoints;  // by drawn request
};

// `facts` must outlive it. Errors: the recording is damaged.
base::Result<RecordedService> recorded_service(const model::Facts& facts, const ServiceReading& reading);

// With the locks' bounds and the endpoints of the recording. `recorded`, which is usable, must outlive it and stay where it is.
base::Result<Service> service_of(const RecordedService& recorded, const model::Facts& facts, ServiceOptions options);

}  // namespace contrafact::advise
