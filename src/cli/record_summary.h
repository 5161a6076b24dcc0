// The text that `record` prints about a finished recording.
#pragma once

#include <string>

#include "base/result.h"

namespace contrafact::cli {

// Whether the JVM ended before it was up: no event, no end, and no sign that the JVM was up. Such a recording is
// useless.
base::Result<bool> holds_nothing(const std::string& path);

// One to three lines for standard error: events, tasks, threads, size, and what was lost.
base::Result<std::string> summarise_recording(const std::string& path);

}  // namespace contrafact::cli
