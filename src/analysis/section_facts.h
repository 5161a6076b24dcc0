// The input of all analyses of critical sections, computed once from a trace: its sections, the memory that each of
// them read and wrote, the recorded order, and the code that asks for locks.
//
// The access sets of sections may come from another recording of the same program. To record them makes sections
// several times longer. So one recording says how long sections take, and another one what they touch. Each section
// gets the sets of its counterpart (section_match.h), and the lengths of its parts in proportion: separately for the
// time that it computes, and the time that it sleeps. The same happens within one recording: a section outside of the
// windows of `record --sets` gets the sets of a similar one inside, and a section inside gets the length of similar
// ones outside.
//
// Immutable after construction; may be shared between threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "analysis/constant_ranges.h"
#include "analysis/inner_guards.h"
#include "analysis/lock_sites.h"
#include "graph/section_order.h"
#include "graph/sync_graph.h"

namespace contrafact::analysis {

// How well the counterparts stand for the sections. All zero: each section has the sets that it was recorded with.
struct Counterparts {
  uint64_t found = 0;    // sections with the sets of a counterpart
  uint64_t missing = 0;  // sections without one: no section of their lock and code was observed
  // How many times as long as its section a counterpart takes: the median.
  std::optional<double> dilation;
};

inline constexpr uint32_t kNotObserved = UINT32_MAX;

struct ObservedSection {
  uint32_t set = kNotObserved;
  model::ThreadId thread;
};

// The arguments must outlive it.
struct SectionFacts {
  const model::Trace* trace = nullptr;
  std::shared_ptr<const model::Facts> own;  // null: the caller owns them
  std::span<const model::CriticalSection> sections;
  model::SectionSets sets;
  graph::SectionOrder recorded;
  graph::SyncGraph graph;
  LockSites sites;
  std::vector<uint32_t> site_of;  // by section
  // By section: the thread, of the recording that the sets come from, that made the accesses of its set. A thread's own
  // memory is the memory of that thread.
  std::vector<model::ThreadId> touched_by;
  Counterparts counterparts;
  // By site: sections that were observed themselves, here or in the other recording; and how many of these came right
  // behind another observed section of their lock.
  std::vector<uint64_t> observed, observed_pairs;
  // By lock: its sections in the order in which they were observed, here or in the other recording; kNotObserved where
  // sections that were not observed came between.
  std::vector<std::vector<ObservedSection>> observed_order;
  std::vector<InnerGuard> inner_guards;  // by lock, of the recording that the sets come from
  ConstantRanges constants;              // likewise of that recording
  // By section: how many times as long it would take on a core if it were not observed. Empty: as long as recorded.
  std::vector<float> cpu_scales;

  explicit SectionFacts(const model::Facts& facts);
  explicit SectionFacts(const model::Trace& trace);
  // Takes times from `facts`, and sets from `observed`. Both are recordings of one program.
  SectionFacts(const model::Facts& facts, const SectionFacts& observed);
  SectionFacts(const model::Trace& trace, const SectionFacts& observed);

 private:
  struct WithoutSets {};
  void count_observed();
  std::vector<std::vector<ObservedSection>> order_observed() const;
  SectionFacts(const model::Facts& facts, WithoutSets);
  explicit SectionFacts(std::shared_ptr<const model::Facts> facts);
  SectionFacts(std::shared_ptr<const model::Facts> facts, const SectionFacts& observed);
};

}  // namespace contrafact::analysis
