// The meanings of the process's exit status; documented in docs/cli.md.
#pragma once

namespace contrafact::cli {

enum ExitCode : int {
  kExitOk = 0,
  kExitUsage = 1,       // the command line is wrong
  kExitInput = 2,       // a trace, spec or configuration cannot be read
  kExitOutput = 3,      // the result cannot be written
  kExitImpossible = 4,  // understood, but this input or machine does not allow it
  // `record` ends with the program's own status (128 + n if signal n ended it). Where it has none to pass on it uses
  // the statuses of env(1) and timeout(1).
  kExitRecordFailed = 125,
  kExitNotExecutable = 126,
  kExitNotFound = 127,
};

}  // namespace contrafact::cli
