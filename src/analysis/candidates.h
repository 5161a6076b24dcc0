// The improvements worth estimating (Rehype, section 4.1): for each set of tasks that one place of the program spawns,
// convert-to-inline; for subsets of it whose execution paths differ from the rest, hoist-branch; for sets whose tasks
// spawn and wait for sub-tasks, convert-to-combinator. Sets that cannot be improved are listed too, with the reason.
//
// Pure function; linear in the events (hashing), millions of tasks in seconds.
//
// Invariants
//  1. `tasks` of a candidate is sorted, not empty, and all of one set: spawned (a dependent stage: created) with the
//  same
//     whole stack. Tasks that never ran or never ended are left out of it.
//  2. The hoist-branch candidates of one set are disjoint proper subsets of it.
//  3. The order of candidates, and everything in them, depends on the trace alone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/trace.h"

namespace contrafact::analysis {

enum class CandidateKind : uint8_t { convert_to_inline, hoist_branch, convert_to_combinator };
std::string_view name_of(CandidateKind kind);  // "convert-to-inline", ...

struct Candidate {
  CandidateKind kind = CandidateKind::convert_to_inline;
  model::ContextId context;  // where the tasks are spawned (dependent stages: created): the whole interned stack
  model::MethodId body;      // what they run; none where several
  model::PoolId pool;        // none where several
  uint32_t set = 0;          // number of the set that it improves: equal for the candidates of one set
  uint32_t set_size = 0;     // tasks in that set, this candidate's included
  std::vector<model::TaskId> tasks;
  uint64_t path_hash = 0;  // hoist_branch: of the execution path that its tasks share
  std::string path;        // hoist_branch: that path in words, e.g. "spawn Feed.java:41; wait Feed.java:44"
  std::string other_path;  // the most frequent path among the set's other tasks, in words
};

// Why a set of tasks, or part of it, has no candidate. Reasons are among those that `candidates` lists in its source,
// in words for a person: "never started", "runs of a thread", "delayed or periodic", "waited for with a time-out", ...
struct Ineligible {
  model::ContextId context;
  model::MethodId body;
  CandidateKind kind = CandidateKind::convert_to_inline;
  std::string reason;
  uint64_t tasks = 0;
};

struct CandidateOptions {
  size_t set_tasks_min = 1;     // sets with fewer tasks are left out
  size_t branches_max = 16;     // hoist-branch subsets per set, the largest first
  size_t path_events_max = 64;  // events of a path that `path` spells out
};

struct Candidates {
  std::vector<Candidate> candidates;  // sets in order of their total run time, longest first
  std::vector<Ineligible> ineligible;
};

Candidates candidates(const model::Trace& trace, const CandidateOptions& options = {});

}  // namespace contrafact::analysis
