// Programs, recorded or changed, under growing loads: the curves of a service. All simulated (service.h).
//
// Open requests come as often as shares say of what the program, and the best one, can answer, as far as it keeps up. Clients that
// think are 1, 2, 4, ...: until the program answers as much as clients that do not think get from it, or twice as many of them get
// no more; at least until twice as many as were recorded, and as saturate the best program without thinking. All programs get as many.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "advise/endpoint_loads.h"
#include "advise/service.h"

namespace contrafact::advise {

// One program under its loads.
struct ProgramLoads {
  std::string program;  // "recorded", "changed"
  Saturation saturation = {};
  LoadPoint recorded = {};  // the recorded load, simulated
  std::vector<LoadPoint> curve = {};
  std::vector<EndpointLoad> endpoints = {};
};

// Adds the programs' curves. `variants`: what they are, in the same order; their saturations are known.
base::Status add_curves(const Service& service, std::span<const whatif::Variant> variants,
                        std::span<ProgramLoads> programs);

}  // namespace contrafact::advise
