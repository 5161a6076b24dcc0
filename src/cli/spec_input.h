// The specs that a command is given by --apply.
#pragma once

#include <string>
#include <vector>

#include "improve/spec.h"

namespace contrafact::cli {

// The improvements of all files. Errors name the file.
base::Result<std::vector<improve::Candidate>> read_spec_files(const improve::SpecTrace& in,
                                                              const std::vector<std::string>& paths);

}  // namespace contrafact::cli
