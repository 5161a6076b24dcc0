// What `record` says about a finished recording.
#pragma once

#include <string>

#include "base/result.h"

namespace contrafact::cli {

// One to three lines for standard error: events, tasks, threads, size, and what was lost.
base::Result<std::string> summarise_recording(const std::string& path);

}  // namespace contrafact::cli
