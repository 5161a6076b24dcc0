// What `contrafact record` tells the agent, through the environment: CONTRAFACT_NATIVE=KEY=VALUE,... with the values
// percent-encoded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace contrafact::agent_native {

inline constexpr char kOptionsVariable[] = "CONTRAFACT_NATIVE";

struct Options {
  std::string output;                              // the trace; of a child: with ".PID" behind it
  uint64_t memory_bytes_max = uint64_t{64} << 20;  // of all buffers together
  bool children = false;                           // record forked and spawned processes too
  bool cpu_switches = true;
  bool kernel_clock = false;   // times from the kernel even where the processor's counter could be read
  bool sets = false;           // gather the read and write sets of critical sections
  bool sets_translate = true;  // by translation; else only what the program tells of itself
  bool accesses = false;       // log every access of every thread, with `sets`
  int64_t sets_window_ns = 0;  // of what begins in the first sets_window_ns of each sets_period_ns; 0: of all
  int64_t sets_period_ns = 0;
  int32_t process = 0;  // the recorded process that goes on through exec; 0: this is the first
};

// The error names the key that is unknown or has no such value.
base::Result<Options> parse_options(std::string_view text);
std::string print_options(const Options& options);

// LD_PRELOAD's value without our own library; `library` is its path.
std::string without_library(std::string_view preload, std::string_view library);

}  // namespace contrafact::agent_native
