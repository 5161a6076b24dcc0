// Turns thread use into the input of the profile page and picture.
#pragma once

#include <string>

#include "analysis/thread_usage.h"
#include "model/trace.h"
#include "report/profile.h"

namespace contrafact::cli {

report::RunProfile run_profile(std::string name, std::string source, const model::Trace& trace,
                               const analysis::ThreadUsage& usage);

}  // namespace contrafact::cli
