// The changes that `contrafact replay` makes: to critical sections, by --edit or by improvement specs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/recordings.h"
#include "whatif/section_edit.h"
#include "whatif/simulate.h"

namespace contrafact::cli {

struct ReplayEdits {
  std::vector<std::string> rules;  // as given to --edit
  std::vector<std::string> specs;  // files, as given to --apply
  bool any() const { return !rules.empty() || !specs.empty(); }
};

// Of --edit alone.
base::Result<std::vector<whatif::SectionEdit>> edits_of_rules(const std::vector<std::string>& texts,
                                                              const model::Trace& trace,
                                                              const whatif::Simulator& simulator);

// Parallel to the simulator's sections; empty: nothing changes. Errors name the option or the file. Specs may change
// critical sections only, because only threads and locks are replayed.
base::Result<std::vector<whatif::SectionEdit>> edits_for(const ReplayEdits& edits, const Recordings& recordings,
                                                         const whatif::Simulator& simulator);

// The part of the threads' time that was spent on recording: measured as far as sets were recorded in windows, and
// estimated for the probes from their cost on a machine of the kind that they were measured on. None where it is not
// known: every section or every access was observed, and the cost of that depends on the code.
std::optional<double> recorder_share(const Recordings& recordings, int64_t recorded_ns);

}  // namespace contrafact::cli
