// The agent's options: one string, `key=value` separated by commas, values percent-encoded; lists by semicolons.
//
//   output=run.cft,memory=67108864,config=trace.conf,include=shop.*;web.Api,exclude=*.toString,depth=64,strict=1
//
// Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "online/processing_options.h"

namespace contrafact::agent_jvm {

struct Options {
  std::string output = "run.cft";
  uint64_t memory_bytes_max = uint64_t{64} << 20;
  std::string config;                // path of a tracing configuration
  std::vector<std::string> include;  // function events: see trace_config.h
  std::vector<std::string> exclude;
  std::vector<std::string> classes;  // whose critical sections are recorded
  std::string sets;   // "always" or WINDOW/PERIOD in nanoseconds: with what they read and write; empty: without
  bool flow = false;  // with sets: and which sections information came from
  uint32_t context_depth_max = 64;  // frames of a context, the innermost
  bool keep = false;                // a file that exists stays: the recording goes to OUTPUT.PID
  bool strict = false;              // refuse to run a program that cannot be recorded
  bool cpu_switches = true;
  bool warm = false;    // the virtual machine was told to compile soon
  std::string awake;    // where `record`, which keeps idle cores awake, reports that (recorder/awake_report.h)
  bool command = true;  // the program's arguments are written into the trace
  bool compare_contexts = false;  // take each context the exact way too, and count differences (facts of the trace)

  // The analysis mode.
  std::string analysis;          // built-in name or path of a plug-in; empty: a trace is recorded
  std::string analysis_options;  // for its create()
  online::ProcessingOptions processing;
};

// Errors name the option.
base::Result<Options> parse_options(std::string_view text);

}  // namespace contrafact::agent_jvm
