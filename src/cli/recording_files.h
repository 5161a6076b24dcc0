// The files of one recording while it is made. The first process' is OUTPUT.recording, that of every further one
// OUTPUT.recording.PID: a JVM finds the first taken (format::FileSinkOptions), of native processes all are written
// here (recorder/collector.h). Not thread-safe.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace contrafact::cli {

// Removes what a killed recording left. `recording` is OUTPUT.recording. The error says that somebody is still writing.
base::Status clear_leftovers(const std::string& recording);

// Gives the files of the further processes their names: run.cft.recording.4711 becomes run.4711.cft, for the output
// run.cft. Returns the new names; a file that cannot be renamed is in it with its first name.
std::vector<std::string> name_further_recordings(const std::string& recording, const std::string& output);

}  // namespace contrafact::cli
