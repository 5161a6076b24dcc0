// Where results go: standard output, or a file that appears only when it is complete. Devices and pipes are written to,
// never replaced.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/trace.h"

namespace contrafact::cli {

// "-" is standard output. A closed pipe on standard output is no error: whoever read it had enough.
base::Status write_output(const std::string& path, std::string_view content);
base::Status print(std::string_view content);

// Saves a trace under a name that must be a file's: model::save would put a file in the place of a device.
base::Status save_trace(const model::Trace& trace, const std::string& path);

// A recording cannot be made again: no output takes the place of a file that the command has read. Main thread only.
void protect_input(const std::string& path);

// Whether a file can be created or replaced at `path`, found out by creating one beside it; its folder has at least
// `bytes_free_min` bytes free. The error says what is wrong and what to do.
base::Status check_writable(const std::string& path, uint64_t bytes_free_min);

}  // namespace contrafact::cli
