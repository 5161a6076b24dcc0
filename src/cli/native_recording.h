// Runs a native program under the recorder. This process writes the traces of the program and of the processes that it
// starts, from memory shared with them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/child_process.h"
#include "recorder/collector.h"

namespace contrafact::cli {

struct NativeRun {
  std::string file;                    // what to execute
  std::vector<std::string> arguments;  // of the program, its name first
  std::vector<std::string> environment;
  std::string agent_options;  // the agent's options, without the address to report to; a part of its variable
  std::string recording;      // the trace; of another process: with ".PID" behind it
  uint64_t memory_bytes = 0;  // 0: the default
  bool children = false;      // processes that it starts are recorded, too
  bool kernel_clock = false;
  std::shared_ptr<const recorder::AwakeReport> awake;  // of recorder::AwakeCores, if that runs meanwhile
  bool command_arguments = true;                       // written into the trace
  std::vector<std::string> unseen;                     // runtimes whose tasks the agent does not see
};

struct NativeEnd {
  ChildEnd program;
  recorder::Collector::Finished recordings;
};

// Blocks until the program has ended. REQUIRES: no other threads.
base::Result<NativeEnd> run_native(const NativeRun& run, StartFailure* start_failure, HeldSignals* held);

}  // namespace contrafact::cli
