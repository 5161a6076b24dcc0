// The files of one recording while it is made. The first process' is OUTPUT.recording, that of every further one
// OUTPUT.recording.PID: a further JVM finds the first name taken (format::FileSinkOptions); those of native processes
// are all written here (recorder/collector.h). Not thread-safe.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace contrafact::cli {

// Removes the files that a killed recording left. `recording` is OUTPUT.recording. The error says that a process is
// still writing.
base::Status clear_leftovers(const std::string& recording);

struct FurtherRecordings {
  std::vector<std::string> files;     // under the names that they have now
  std::vector<std::string> failures;  // one line for each that has kept its first name: why
};

// Gives the files of the further processes their names: run.cft.recording.4711 becomes run.4711.cft, for the output
// run.cft.
FurtherRecordings name_further_recordings(const std::string& recording, const std::string& output);

// The shell pattern of all renamed files, and of those of earlier recordings: run.[0-9]*.cft, for the output run.cft.
std::string pattern_of_further_recordings(const std::string& output);

}  // namespace contrafact::cli
