// The improvements of tasks worth estimating (Rehype, section 4.1): the proposals of each kind of change of tasks (a
// file of kinds/) for each set of tasks that one place of the program spawns. Sets that cannot be improved are listed
// too, with the reason.
//
// Pure function; linear in the events (hashing), millions of tasks in seconds.
//
// Invariants
//  1. The tasks of a candidate are sorted, not empty, and all of one set: spawned (a dependent stage: created) at one
//     place of the source (source_places.h). Tasks that never ran or never ended are left out of it.
//  2. The hoist-branch candidates of one set are disjoint proper subsets of it.
//  3. The order of candidates, and everything in them, depends on the trace alone.
#pragma once

#include <span>
#include <vector>

#include "improve/candidate.h"
#include "model/facts.h"

namespace contrafact::improve {

struct CandidateOptions {
  size_t set_tasks_min = 1;     // sets with fewer tasks are left out
  size_t branches_max = 16;     // hoist-branch subsets per set, the largest first
  size_t path_events_max = 64;  // events of a path that `path` spells out
};

// Sets in order of their total run time, longest first.
Candidates task_candidates(const model::Facts& facts, const CandidateOptions& options = {});

}  // namespace contrafact::improve
