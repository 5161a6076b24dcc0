// Schedule impact (FlowProf, section 6.1): how long threads would wait for locks, and the run take, if sections kept only
// a part of their recorded order:
//
//   locks      all of it: each section comes after the one before it of its lock
//   conflicts  sections whose accesses conflict; what is left once the locks are as fine as they can be
//   flows      sections of which one got information from the other; what is left whatever the data structure
//
// Estimated: each acquisition waits for the releases of those that it depends on and that came before, everything else
// takes its recorded time, and cores are no limit. A section of which it is not known what it touched, or what it got,
// keeps its place among its lock's. Waits are those of sections that overlap others (section_overlaps.h): no other
// section waits.
//
// Pure. Each relation costs one pass over the events; so does each lock that is looked at by itself.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "analysis/section_facts.h"
#include "analysis/ulc.h"
#include "model/section_flows.h"

namespace contrafact::analysis {

enum class Relation : uint8_t { locks, conflicts, flows };
inline constexpr size_t kRelations = 3;

struct RelationTimes {
  int64_t run_ns = 0;
  int64_t wait_ns = 0;
};
using ByRelation = std::array<RelationTimes, kRelations>;
inline const RelationTimes& times_of(const ByRelation& times, Relation relation) {
  return times[static_cast<size_t>(relation)];
}

struct LockImpact {
  model::LockId lock;
  uint64_t sections = 0;
  uint64_t overlapping = 0;
  uint64_t without_sets = 0;     // sections that keep their place for that under `conflicts`
  uint64_t without_flows = 0;    // and under `flows`
  ByRelation times;              // this lock's waits, and the run, with the order of this lock alone reduced
  PairCounts pairs;              // that overlapped
  uint64_t pairs_with_flow = 0;  // of these, the second got information from the first
};

struct SiteImpact {
  uint32_t site = 0;                          // of SectionFacts::sites
  std::array<int64_t, kRelations> wait_ns{};  // with the order of all locks reduced
};

struct ScheduleImpact {
  ByRelation all;                 // with the order of all locks reduced
  std::vector<LockImpact> locks;  // that threads waited for, the longest wait first
  std::vector<SiteImpact> sites;  // likewise
  uint64_t sections = 0, overlapping = 0, without_sets = 0, without_flows = 0;
  size_t not_priced = 0;  // locks beyond `locks_max`: waited for less than all others
};

struct ImpactOptions {
  bool control = false;   // flows by branches alone count
  size_t locks_max = 16;  // that are looked at by themselves
};

class ScheduleImpacts {
 public:
  // The arguments must outlive it. `flows` are of the sections of `facts`, model::with_outside.
  ScheduleImpacts(const SectionFacts& facts, const model::SectionFlows& flows, const ImpactOptions& options);

  ScheduleImpact impact() const;
  // The order that the relation demands of the `relaxed` locks; of all if that is empty. Others keep theirs.
  std::shared_ptr<const graph::SectionOrder> order(Relation relation, const std::vector<bool>& relaxed = {}) const;
  // Which locks: only this one.
  std::vector<bool> only(model::LockId lock) const;
  // What is waited for each lock under an order.
  std::vector<int64_t> wait_ns_by_lock(const graph::SectionOrder& order) const;

 private:
  const SectionFacts& facts_;
  const model::SectionFlows& flows_;
  const ImpactOptions options_;
};

}  // namespace contrafact::analysis
