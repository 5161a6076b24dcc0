// Unnecessary lock contention (PerfPlay, section 3): pairs of critical sections of one lock that follow each other in
// different threads although their reads and writes do not demand it; and the cost of that.
//
// The cost of a pair (equation 5) is how much earlier the later of its two threads would reach the end of the code that
// follows the pair, if the second section had not waited for the first:
//
//     T1 ──[ first  ]──────── next lock event: tag2       cost = max(tag2, tag3) - max(tag2, tag3 - wait)
//     T2     ···wait···[ second ]── next lock event: tag3
//
// where `wait` is how long the second section waited while the first held the lock, and then until it acquired the
// lock. Costs are summed by the site that waited, and P (equation 6) is each site's part of the sum over all sites. It
// says where to look; the gain of a change is a prediction (whatif/lock_estimate.h), because waits overlap and follow
// from each other.
//
// Pure functions. Cost: linear in events and pairs; each pair of different sets is compared once.
#pragma once

#include <array>
#include <vector>

#include "analysis/section_facts.h"
#include "graph/section_conflicts.h"

namespace contrafact::analysis {

struct PairCounts {
  std::array<uint64_t, graph::kPairKinds> of{};
  uint64_t operator[](graph::PairKind kind) const { return of[static_cast<size_t>(kind)]; }
  uint64_t all() const;
  uint64_t unnecessary() const;
};

struct UlcSite {
  uint32_t site = 0;  // of SectionFacts::sites: where the second section of the pairs was asked for
  PairCounts pairs;
  int64_t wait_ns = 0;  // of the second sections, for the first ones, whatever their kind
  int64_t cost_ns = 0;  // of the unnecessary pairs
  double p = 0;         // of all sites' cost: equation 6
};

struct UlcSitePair {
  uint32_t first_site = 0;
  uint32_t second_site = 0;
  PairCounts pairs;
  int64_t wait_ns = 0;
  int64_t cost_ns = 0;
  double p = 0;
};

struct UlcProfile {
  std::vector<UlcSite> sites;        // the dearest first, then by pairs
  std::vector<UlcSitePair> by_code;  // in the same order
  PairCounts pairs;
  int64_t cost_ns = 0;
  uint64_t sections = 0;                                                      // those that were held
  std::array<uint64_t, static_cast<size_t>(format::kSetGapLast) + 1> gaps{};  // sections by the gap of their set
  // The length of the whole run, on as many cores as it takes: as recorded; with only the order between sections that
  // conflicts demand, conflicting ones in recorded order; and with no order between sections at all. None is a limit:
  // what waking threads cost the releases is in all of them, and a change that no thread waits for takes it away.
  int64_t recorded_ns = 0;
  int64_t conflicts_ns = 0;
  int64_t no_locks_ns = 0;
};

UlcProfile ulc_profile(const SectionFacts& facts);

}  // namespace contrafact::analysis
