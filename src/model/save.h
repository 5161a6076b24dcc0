// A Trace as a file in the binary form (docs/format.md), so that estimated and simulated runs can be looked at like
// recorded ones. What `Loss` says travels as facts.
#pragma once

#include <string>

#include "base/result.h"
#include "model/trace.h"

namespace contrafact::model {

// The file appears under its name only when it is complete. Errors name the path.
base::Status save(const Trace& trace, const std::string& path);

}  // namespace contrafact::model
