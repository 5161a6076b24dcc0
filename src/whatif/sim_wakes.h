// Which recorded wake ended which recorded block: the causes that the simulation keeps. Pure; O(n log n) in the wakes.
#pragma once

#include <vector>

#include "model/facts.h"

namespace contrafact::whatif {

struct Tokens {
  // For both events of a matched pair, the pair's number; UINT32_MAX elsewhere. Indexed by event; empty without wakes.
  std::vector<uint32_t> of_event;
  uint32_t count = 0;
  struct Way {
    int64_t wake_ns;  // or when the block began, if the wake was earlier
    int64_t end_ns;   // of the block
  };
  std::vector<Way> ways;  // by pair
  // One thread may wait for several wakes at one place within one task, for permits or at queues. Any of these wakes
  // may end any of these waits: the first to come ends the first wait. Such pairs form a group. `group`: by pair,
  // UINT32_MAX for none. `groups`: by group its pairs, in the order of the waits.
  std::vector<uint32_t> group;
  std::vector<std::vector<uint32_t>> groups;
};

// Matches only blocks that a wake must end (not sleeps, not input or output, not locks) with wakes by simulated
// threads. A block's cause is the latest wake since the thread's previous block, wait or idle time ended. Sends that
// ended waits for a socket of the program's own are wakes, too.
// `by_all`: wakes by all other threads, too.
Tokens match_wakes(const model::Facts& facts, bool by_all = false);

class Crowding;
// By pair: how long its hand-over took (sim_latency.h).
std::vector<int64_t> own_wake_latencies(const Tokens& tokens, const Crowding& crowding);

}  // namespace contrafact::whatif
