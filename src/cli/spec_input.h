// The specs that a command is given by --apply.
#pragma once

#include <string>
#include <vector>

#include "improve/spec.h"

namespace contrafact::cli {

// The improvements of all files. Errors name the file.
base::Result<std::vector<improve::Candidate>> read_spec_files(const improve::SpecTrace& in,
                                                              const std::vector<std::string>& paths);
// The same for critical sections only: a spec that changes anything else is an error.
base::Result<std::vector<improve::Candidate>> read_lock_specs(const improve::SpecTrace& in,
                                                              const std::vector<std::string>& paths);

std::vector<whatif::Improvement> improvements_of(const std::vector<improve::Candidate>& candidates);

}  // namespace contrafact::cli
