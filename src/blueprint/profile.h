// Profile: what the blueprint analysis wrote (src/online/blueprint_analysis.cc), as it is in its file
// (docs/blueprint.md).
//
// Plain data. Invariants, checked by read_profile: calls refer to methods that are there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace contrafact::blueprint {

struct Method {
  std::string class_name;  // with dots; empty for code outside of what was profiled
  std::string name;
  std::string descriptor;
  std::string file;
  uint32_t line = 0;
  uint64_t objects = 0;
  uint64_t bytes = 0;

  bool outside() const { return class_name.empty(); }
};

struct Call {
  uint32_t caller = 0;  // places in `methods`
  uint32_t callee = 0;
  uint64_t count = 0;
};

struct Profile {
  std::vector<Method> methods;
  std::vector<Call> calls;
  uint64_t events = 0;
  uint64_t lost = 0;     // events
  uint64_t refused = 0;  // methods without probes
  uint64_t unseen_sites = 0;
};

// Errors say what is wrong with the text and where.
base::Result<Profile> read_profile(std::string_view text);

}  // namespace contrafact::blueprint
