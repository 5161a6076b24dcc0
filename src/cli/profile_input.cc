#include "cli/profile_input.h"

#include "cli/trace_input.h"

namespace contrafact::cli {

report::RunProfile run_profile(std::string name, std::string source, const model::Trace& trace,
                               const analysis::ThreadUsage& usage) {
  report::RunProfile profile{.name = std::move(name),
                             .origin = std::string(name_of(trace.origin)),
                             .source = std::move(source),
                             .duration_ns = usage.window.duration_ns()};
  profile.steps.reserve(usage.steps.size());
  for (const analysis::UsageStep& step : usage.steps) {
    profile.steps.push_back({step.time_ns - usage.window.begin_ns, step.active, step.waiting, step.unoccupied});
  }
  return profile;
}

}  // namespace contrafact::cli
