// What native threads do to each other through objects in memory, made ready for the simulation: which event begins or
// ends which critical section, which thread waits for which signal, which waits make one round of a barrier.
//
//  - Locks: sections (model/critical_sections.h), simulated as locks.
//  - Conditions: signals are counted (sim_credits.h).
//  - Onces: a wait ends by the signal that ended it in the recording (model/sync_wakes.h).
//  - Barriers: rounds of the recorded members; the last to arrive lets the others go.
//  - Semaphores: counters; their first value is the least that explains the recording.
//
// Pure function of the trace; read-only afterwards. Cost: a sort of the context switches.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "model/facts.h"
#include "model/trace.h"
#include "whatif/sim_core_queue.h"
#include "whatif/sim_credits.h"
#include "whatif/sim_lingers.h"
#include "whatif/sim_tries.h"
#include "whatif/sim_wake_cost.h"
#include "whatif/sim_wake_placement.h"

namespace contrafact::whatif {

// Recorded times of one kind of hand-over, sorted. Only those where a core was free at the time of the cause: the
// simulation adds waits for a core by itself.
struct LatencySamples {
  std::vector<int64_t> sorted_ns;
  int64_t at(double share) const {
    if (sorted_ns.empty()) return 0;
    return sorted_ns[static_cast<size_t>(share * static_cast<double>(sorted_ns.size() - 1))];
  }
  int64_t median_ns() const { return at(0.5); }
};

struct TokenFire {
  uint32_t event;  // sync_broadcast
  uint32_t token;
};

struct SyncFacts {
  static constexpr uint32_t kNone = UINT32_MAX;

  std::span<const model::CriticalSection> sections;
  std::vector<uint32_t> section_of_event;  // of the event that acquires, ends the wait, or releases; else kNone
  Credits credits;                         // of conditions
  std::vector<uint32_t> token_of_section;  // of waits at onces; kNone: the waker is not known
  std::vector<TokenFire> fires;            // sorted by event
  std::vector<uint32_t> round_of_section;  // of waits at barriers
  std::vector<uint32_t> round_sizes;
  std::vector<uint32_t> semaphore_counts;  // by lock: at the beginning
  LatencySamples lock_latency, token_latency;
  LatencySamples mutex_way;  // from being woken to trying a mutex, which another thread may hold by then
  // The same times in recorded order, where the kernel's switches show them; else empty. While one thread acquires a
  // mutex again and again, the ways of the threads that come in vain are much alike. Drawn without regard to their
  // order, the ways would find the mutex free far more often.
  std::vector<int64_t> mutex_ways_ns;
  WakeCost wake_cost;
  Lingers lingers;
  std::vector<Tries> tries;  // by lock; empty where threads do not try before they sleep
  WakePlacement wake_placement;
  LatencySamples thread_latency;  // from the creation of a thread to its first event
  LatencySamples join_latency;    // from the end of a thread to the return from the wait for it
  CoreQueue queue;
  std::unordered_map<uint32_t, int64_t> usual_block_ns;  // by context
  static constexpr int64_t kSliceLeastNs = 500'000;      // shorter runs were no whole turns
  // How long a thread ran before its turn was over: the median, at least kSliceLeastNs; 0: no turn ended.
  int64_t slice_ns = 0;

  uint32_t section_at(uint32_t event) const { return section_of_event.empty() ? kNone : section_of_event[event]; }
  std::span<const TokenFire> fires_at(uint32_t event) const;
  // By how much a block of `block_ns` is longer than is usual at this place; at least 0.
  int64_t longer_than_usual_ns(uint32_t place, int64_t block_ns) const;
  // How long a thread that was off its core in [out_ns, in_ns) would have been off it, had a core been free when it
  // could go on. The time that it may have waited for a core is subtracted, but at most `longer_ns`: the time by which
  // its block was longer than usual, less what was already subtracted from other gaps of that block.
  int64_t off_core_ns(int64_t longer_ns, int64_t out_ns, int64_t in_ns) const;
};

// Tokens are numbered from `first_token` on. The result refers to `facts`.
SyncFacts gather_sync_facts(const model::Facts& facts, uint32_t cores, uint32_t first_token);
SyncFacts gather_sync_facts(const model::Trace& trace, uint32_t cores, uint32_t first_token) = delete;

}  // namespace contrafact::whatif
