// An improvement worth estimating, with the facts that a person needs to make it; and tasks or locks that cannot be
// improved, with the reason. Plain data.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/section_sets.h"
#include "whatif/improvement.h"

namespace contrafact::improve {

struct Candidate {
  whatif::Improvement improvement;

  // Of tasks.
  model::PoolId pool;        // none if there are several
  uint32_t set = 0;          // number of the set that it improves: equal for the candidates of one set
  uint64_t path_hash = 0;    // hoist_branch: hash of the execution path that its tasks share
  std::string path;          // hoist_branch: that path in words, e.g. "spawn Feed.java:41; wait Feed.java:44"
  std::string other_path;    // the most frequent path among the set's other tasks, in words
  model::ContextId runs_at;  // inline_at_wait: the wait at which most of its tasks run

  // Of a pool of permits: where threads waited longest for one.
  model::ContextId waited_at;

  // Of critical sections.
  std::vector<uint32_t> sites;       // of SectionFacts::sites, where the source changes, the most used first
  std::vector<model::LockId> locks;  // ascending
  uint32_t parts = 0;                // split_lock: the number of parts; of several locks, the most
  uint64_t taking_two = 0;           // split_lock: sections that take the locks of two parts
  uint64_t taking_all = 0;           // split_lock: sections that take the locks of all parts
  bool moves = false;                // split_lock: something moves between the parts
  bool is_of_threads = false;        // split_lock: a part for each thread (divided_data.h)
  uint64_t dividing = 0;             // split_lock: sections that change data that all parts share, as a table's buckets
  uint64_t in_middle =
      0;  // shorten_section: sections from whose middle something moves out; shared_look: from between the looks
  uint64_t handing_on = 0;      // shorten_section: sections whose ends touch data that a later section hands on
  uint64_t making_durable = 0;  // shorten_section: sections whose ends make earlier writes durable
  bool exchanges =
      false;  // make_atomic: a new value follows from the old one otherwise than by an operation that commutes
  bool of_words = false;  // make_atomic: of several words
  // shorten_section: the end of the part that moves in front of most of these sections, and the begin of the part that
  // moves behind them. None: not known, or hardly anything moves there.
  std::optional<model::SectionSets::Cut> moves_until, moves_from;
  model::ContextId blocks_at;  // shorten_section: where the longest block in the middle is; none: no block
  // shorten_section: where the longest block is in the part that moves in front, and in that behind; none if blocks are
  // not most of it.
  model::ContextId blocks_in_front, blocks_behind;
  std::string guarded_at;            // where a lock is taken inside of them that also guards their data; empty: nowhere
  bool is_guard_made = false;        // that lock is one that the program seems to make itself (analysis/made_locks.h)
  uint64_t of_sections = 0;          // all sections of these sites under these locks
  std::optional<uint64_t> observed;  // of these: observed themselves, here or in the recording with the sets
  uint64_t unknown = 0;              // of all sections of these locks: sets not complete
};

// Why tasks or a lock have no candidate, in words for a person: "never started", "threads wait at a condition with it".
struct Ineligible {
  const whatif::Optimisation* optimisation = nullptr;
  model::ContextId context;  // of tasks: where they are handed out
  model::MethodId body;
  model::LockId lock;  // of critical sections
  std::string reason;
  uint64_t tasks = 0;
  std::optional<Candidate> redesign;  // of critical sections: a redesign that would help if allowed (divided_data.h)
};

struct Candidates {
  std::vector<Candidate> candidates;
  std::vector<Ineligible> ineligible;
};

}  // namespace contrafact::improve
