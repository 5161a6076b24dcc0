// PerfPlay's step 3: the run replayed twice, in the recorded order of its critical sections, and with only the part of
// that order that conflicts need; and the results by code site.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/recordings.h"
#include "cli/replay_rows.h"
#include "cli/schedule_file.h"
#include "replay/enforce/process.h"
#include "replay/plan/section_turns.h"
#include "table/table.h"
#include "whatif/simulate.h"

namespace contrafact::cli {

extern const table::Schema kReplaySitesSchema;

struct ConflictSite {
  std::string label;
  uint64_t pairs = 0;
  uint64_t unnecessary = 0;
};

struct ConflictReplays {
  Plans plans;
  replay::TurnCounts recorded, needed;
  uint64_t unknown = 0;  // sections whose sets are not known completely
  std::vector<ConflictSite> sites;
  MethodRuns retimed;  // the same two runs, computed instead of replayed
};

// Errors: a fact that neither recording contains.
base::Result<ConflictReplays> plan_conflict_replays(const Recordings& recordings, const whatif::Simulator& simulator);

// How long each site's sections waited in both replays. `recorded` and `needed`: runs in turns, equally many.
table::Table replay_sites_table(const ConflictReplays& replays, const std::vector<replay::ProcessRun>& recorded,
                                const std::vector<replay::ProcessRun>& needed);

// A line on the sections that were ordered.
std::string conflicts_text(const ConflictReplays& replays);

}  // namespace contrafact::cli
