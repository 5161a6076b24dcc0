// The pricing of a gain: each method runs the program as recorded and with its critical sections changed, each several
// times. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "table/table.h"

namespace contrafact::cli {

extern const table::Schema kReplaySchema;
extern const table::Schema kReplayPartsSchema;

// One method's runs. The first of a pair is the recorded program's, the second the changed one's.
struct MethodRuns {
  std::string method;  // "simulated, free order", "replayed, RLSC"
  std::string origin;  // "re-timed", "simulated", "replayed"
  std::vector<int64_t> before_ns, after_ns;
  std::vector<double> gains;  // simulated: of each pair, with the missed waiting (advise/missed_waits.h)
  double missed = 0;          // simulated: of the recorded duration, waiting that the runs before lack; the median
  std::string impossible;     // why it was not done
  double foreign_share = 0;   // replayed: share of the cores' time that other programs used; the mean
};

struct MethodRow {
  std::string method, origin;
  int64_t before_ns = 0;  // medians
  std::optional<int64_t> after_ns;
  double error = 0;   // of the unchanged run, against the recorded one
  double missed = 0;  // as MethodRuns's
  double spread = 0;  // of the unchanged runs: longest minus shortest, as a share of the median
  std::optional<double> gain;
  std::string verdict;
};

// REQUIRES: runs.impossible is empty, and there is a run before.
MethodRow row_of(const MethodRuns& runs, int64_t recorded_ns);

}  // namespace contrafact::cli
