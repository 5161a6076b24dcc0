// Lock profile: which threads wait for which, where and how long, for each lock and for each call site of it.
//
// A contended acquisition waited for the owners of the lock: the threads that held it meanwhile. Its wait is divided,
// by time, among the sections of other threads that lie in it. The part that no section covers is the way from a
// release to the next acquisition: the system's wake-up.
//
// The critical path is the chain of work and hand-overs that the run's end waited for (graph/sync_graph.h). A lock is
// on it while the thread that the path runs through holds the lock, and while the path waits for it; an instant counts
// for each lock held then.
//
// A JVM's locks: of those that are not of chosen classes only the waits are recorded, and who held the lock then
// (model/lock_waits.h). Their rows have no acquisitions without a wait and no holds. The locks of one class, and of one
// field where that is known, are one row.
//
// Pure function. Cost: the model's critical sections, two sorts, and for each contended acquisition the sections within
// its wait. Memory: a row for each lock and site, and the sections of one lock at a time.
#pragma once

#include <string>
#include <vector>

#include "analysis/duration_stats.h"
#include "analysis/lock_sites.h"
#include "model/facts.h"
#include "model/lock_waits.h"

namespace contrafact::analysis {

using model::LockId;

struct LockUse {
  bool waits_only = false;    // acquisitions without a wait, and releases, were not recorded
  uint32_t acquisitions = 0;  // that succeeded; for conditions and barriers: waits that ended well
  uint32_t contended = 0;     // of these, after a wait
  uint32_t failed = 0;        // tries that found it held, waits that ended by timeout or otherwise
  uint32_t shared = 0;        // of the acquisitions, a reader's
  DurationStats wait;         // of the contended and of the failed waits
  DurationStats hold;         // of the acquisitions; none where nothing is held
  int64_t hold_cpu_ns = 0;    // of the holds, on a core; 0 where that is not known
  int64_t owner_wait_ns = 0;  // of the wait, the part in which a section of another thread was seen
  int64_t chained_ns = 0;     // of that, the part in which the owner itself waited for a lock
  int64_t critical_ns = 0;    // of the critical path: while it was held there, or being handed over
};

struct LockRowStats {
  LockId lock;             // of several instances the first
  uint32_t instances = 1;  // locks that this row is of
  LockUse use;
  double held_share = 0;      // of the run, during which a thread held it
  double wait_share = 0;      // of the threads' time together, spent waiting for it
  double critical_share = 0;  // of the critical path
  uint32_t threads = 0;       // that used it
  bool is_lock = false;       // it is held, or serves as a lock (lock_likeness.h)
};

struct LockSiteStats {
  LockId lock;
  uint32_t site = 0;  // index into LockProfile::sites
  LockUse use;
  // The site whose holders it waited for longest, and its share of the wait; UINT32_MAX if it never waited for one.
  // Without a holder: the site whose signals ended most of the wait.
  uint32_t owner_site = UINT32_MAX;
  double owner_share = 0;
  double wait_share = 0;
  double critical_share = 0;
};

struct LockProfileOptions {
  size_t rows_max = SIZE_MAX;  // of locks, and of sites: the first ones
  bool locks_only = false;     // leaves out objects that only serve waiting: conditions, barriers, semaphores, futexes
};

struct LockProfile {
  std::vector<LockSite> sites;
  std::vector<LockRowStats> locks;             // the longest wait first, then by acquisitions
  std::vector<LockSiteStats> lock_sites;       // in the same order
  size_t lock_count = 0, lock_site_count = 0;  // with those beyond rows_max
  size_t wait_count = 0;                       // of a JVM's locks
  std::vector<model::LockWait> longest_waits;  // of a JVM's locks, the longest first
  size_t left_out = 0;                         // by LockProfileOptions::locks_only, and the waits there
  int64_t left_out_wait_ns = 0;
  int64_t run_ns = 0;
  int64_t critical_ns = 0;  // length of the critical path
  bool path_known = false;  // it is: of a native program, whose waits have no other causes than locks and the like
  int64_t threads_ns = 0;   // lifetimes of all threads together
  bool cpu_known = false;   // the kernel reported when threads left their cores
};

LockProfile lock_profile(const model::Facts& facts, const LockProfileOptions& options = {});

// "mutex 3", or the name of the variable.
std::string lock_name(const model::Trace& trace, LockId lock);

}  // namespace contrafact::analysis
