// The checks that `record` makes before it starts the program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace contrafact::cli {

// Room for a short recording: at 3 bytes an event, about five million events.
inline constexpr uint64_t kRecordingBytesMin = 16 << 20;

// Whether the agent will understand the configuration file (none if empty) and the patterns. The error says file, line
// and what is wrong.
base::Status check_trace_config(const std::string& path, const std::vector<std::string>& include,
                                const std::vector<std::string>& exclude);

// Whether these are patterns of classes that can be chosen: not of all classes there are, which would slow down the JVM
// itself. The error says which is none.
base::Status check_classes(const std::vector<std::string>& patterns);

}  // namespace contrafact::cli
