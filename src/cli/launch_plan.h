// How a program is started so that its JVM loads the agent: through its arguments where the program is a Java launcher,
// through JAVA_TOOL_OPTIONS where it is a script or anything else that may start one. Pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/installation.h"
#include "online/processing_options.h"

namespace contrafact::cli {

struct AgentOptions {
  std::string output;                // absolute path of the file that the agent writes
  uint64_t memory_bytes = 0;         // 0: the agent's default
  std::string config;                // absolute path of a trace configuration; empty for none
  std::vector<std::string> include;  // patterns
  std::vector<std::string> exclude;
  std::vector<std::string> classes;  // JVM: patterns of those whose critical sections are recorded
  std::string analysis;          // runs with the program, instead of a trace: its name or absolute path; empty: none
  std::string analysis_options;  // for it
  online::ProcessingOptions processing;
  std::string accesses;                // native: as `sets`, but for every access of every thread
  std::string sets;                    // "always" or WINDOW/PERIOD in nanoseconds; empty: no read and write sets
  bool flow = false;                   // of a JVM, with sets
  std::vector<std::string> preloaded;  // native: what is preloaded with the agent
  bool sets_translate = true;          // native: false: only accesses that an instrumented program reports
  bool command = true;                 // JVM: the program's arguments are written into the trace
  bool warm = false;                   // JVM: its flags make it compile soon (kWarmFlags)
  std::string awake;                   // JVM: AwakeReport::path() of what keeps idle cores awake; empty: nothing
  std::vector<std::string> vm_flags;   // of the JVM itself, without spaces
};

// Methods are compiled for good after a tenth of the usual numbers of calls and rounds, and looked at as much oftener. When they are
// compiled for the first time stays: sooner (CompileThresholdScaling), so many more are that one core did not get round to the hot ones
// for minutes.
inline constexpr std::array<std::string_view, 6> kWarmFlags = {
    "-XX:Tier4InvocationThreshold=500", "-XX:Tier4MinInvocationThreshold=60", "-XX:Tier4CompileThreshold=1500",
    "-XX:Tier4BackEdgeThreshold=4000",  "-XX:Tier3InvokeNotifyFreqLog=7",     "-XX:Tier3BackedgeNotifyFreqLog=10"};

// The changes of the start of the program.
struct LaunchPlan {
  std::vector<std::string> arguments;    // the whole new argv
  std::string java_tool_options;         // value of that variable; empty: left as it is
  std::vector<std::string> environment;  // NAME=VALUE, beside it
  std::string agent_options;             // native: ",KEY=VALUE..." of the agent's variable, but for where to report to
};

// "output=...,memory=...": percent-encoded, so that neither the agent's parser nor a shell-like splitter stumbles.
std::string agent_option_string(const AgentOptions& options);

// Inserts the agent right after the launcher's name.
LaunchPlan plan_java(const std::vector<std::string>& program, const Installation& installation,
                     const AgentOptions& options);

// Leaves the arguments, and puts the agent behind the variable's old value. The error names a path that the variable
// cannot carry.
base::Result<LaunchPlan> plan_other(const std::vector<std::string>& program, const Installation& installation,
                                    const AgentOptions& options, std::string_view java_tool_options);

// Leaves the arguments, and has the loader preload the native agent before the libraries that LD_PRELOAD already named.
base::Result<LaunchPlan> plan_native(const std::vector<std::string>& program, const Installation& installation,
                                     const AgentOptions& options, bool children, std::string_view ld_preload);

}  // namespace contrafact::cli
