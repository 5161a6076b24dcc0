// What native threads do to each other through objects in memory, made ready for the simulation: which event takes or
// gives up which critical section, who waits for which signal, which waits make one round of a barrier.
//
//  - Locks: sections (model/critical_sections.h), simulated as locks.
//  - Conditions and onces: a wait ends by the signal that ended it in the recording (model/sync_wakes.h): what the program
//    tests under its mutex is not in the trace. So that a queue's consumer does not overtake its producer, the mutexes
//    that are given up while waiting at a condition keep their recorded order, whatever the order of others.
//  - Barriers: rounds of the recorded members; whoever comes last lets the others go.
//  - Semaphores: counters; their first value is the least that explains the recording.
//
// Pure function of the trace; read-only afterwards. Cost: that of critical_sections and sync_wakes, and a sort of the
// context switches.
#pragma once

#include <span>
#include <vector>

#include "model/critical_sections.h"
#include "model/trace.h"

namespace contrafact::whatif {

// Recorded times of one kind of hand-over, sorted. Where a core was free at the time of the cause: what is waiting for a
// core, the simulation adds by itself.
struct LatencySamples {
  std::vector<int64_t> sorted_ns;
  int64_t at(double share) const {
    if (sorted_ns.empty()) return 0;
    return sorted_ns[static_cast<size_t>(share * static_cast<double>(sorted_ns.size() - 1))];
  }
  int64_t median_ns() const { return at(0.5); }
};

struct TokenFire {
  uint32_t event;  // sync_signal or sync_broadcast
  uint32_t token;
};

struct SyncFacts {
  static constexpr uint32_t kNone = UINT32_MAX;

  std::vector<model::CriticalSection> sections;
  std::vector<uint32_t> section_of_event;  // of the event that acquires, ends the wait, or releases; else kNone
  std::vector<uint32_t> token_of_section;  // of waits at conditions and onces; kNone: nobody known woke it
  std::vector<TokenFire> fires;            // sorted by event
  std::vector<uint32_t> round_of_section;  // of waits at barriers
  std::vector<uint32_t> round_sizes;
  std::vector<uint32_t> semaphore_counts;  // by lock: at the beginning
  std::vector<bool> keeps_order;           // by lock: used with a condition
  LatencySamples lock_latency, token_latency;
  int64_t slice_ns = 0;  // how long a thread ran when it was preempted, in the middle; 0: nobody was

  bool empty() const { return sections.empty(); }
  uint32_t section_at(uint32_t event) const {
    return section_of_event.empty() ? kNone : section_of_event[event];
  }
  std::span<const TokenFire> fires_at(uint32_t event) const;
};

// Tokens are numbered from `first_token` on.
SyncFacts gather_sync_facts(const model::Trace& trace, uint32_t cores, uint32_t first_token);

}  // namespace contrafact::whatif
