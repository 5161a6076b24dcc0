// What `contrafact record` tells the agent, through the environment: CONTRAFACT_NATIVE=KEY=VALUE,... with the values
// percent-encoded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace contrafact::agent_native {

inline constexpr char kOptionsVariable[] = "CONTRAFACT_NATIVE";

// Beside an LD_PRELOAD that stays, so that in each case two entries go out of the environment (agent.cc).
inline constexpr char kPaddingEntry[] = "CONTRAFACT_PADDING=";

struct Options {
  std::string control;         // path of the recording's control page (recorder/process_page.h)
  std::string preloaded;       // paths of what is preloaded with the agent, with colons in between
  bool children = false;       // record forked and spawned processes too
  bool later = false;          // not the program that the recording was begun with
  bool restricted = false;     // the process became this program while its system calls were restricted
  bool sets = false;           // gather the read and write sets of critical sections
  bool sets_translate = true;  // by translation; else only what the program itself reports
  bool accesses = false;       // log every access of every thread, with `sets`
  int64_t sets_window_ns = 0;  // of what begins in the first sets_window_ns of each sets_period_ns; 0: of all
  int64_t sets_period_ns = 0;
};

// The error names the key that is unknown or has no such value.
base::Result<Options> parse_options(std::string_view text);

// LD_PRELOAD's value without our own library; `library` is its path.
std::string without_library(std::string_view preload, std::string_view library);
// The same, written to `to`, without a zero behind it; its length, which is at most the value's. Allocates nothing.
size_t copy_without(char* to, std::string_view preload, std::string_view library);

}  // namespace contrafact::agent_native
