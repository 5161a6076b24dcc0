// The changes that `contrafact replay` makes: by improvement specs, and to critical sections by --edit.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/recordings.h"
#include "whatif/simulate.h"

namespace contrafact::cli {

struct ReplayEdits {
  std::vector<std::string> rules;  // as given to --edit
  std::vector<std::string> specs;  // files, as given to --apply
  bool any() const { return !rules.empty() || !specs.empty(); }
};

// The variant that the rules of --edit alone make.
base::Result<whatif::Variant> variant_of_rules(const std::vector<std::string>& texts, const model::Trace& trace,
                                               const whatif::Simulator& simulator);

// The changes of the specs, then those of --edit. Errors name the option or the file.
base::Result<whatif::Variant> variant_for(const ReplayEdits& edits, const Recordings& recordings,
                                          const whatif::Simulator& simulator);

// The part of the threads' time that was spent on recording.
struct RecorderShare {
  double measured = 0;   // sets by their windows, events by the recorder's timing of itself (`recording.ns.KIND`)
  double estimated = 0;  // events of kinds that it did not time, by the cost of a lock's on another machine
  double all() const { return measured + estimated; }
};

// None if every section or every access was observed: the cost of that depends on the code.
std::optional<RecorderShare> recorder_share(const Recordings& recordings, int64_t recorded_ns);

}  // namespace contrafact::cli
