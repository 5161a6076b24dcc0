// What the analyses of critical sections start from, computed once from a trace: its sections, what each of them read
// and wrote, the recorded order, and the code that asks for locks.
//
// What sections touch may come from another recording of the same program. Recording it makes sections several times
// longer; so one recording says how long things take, and another one what they touch. Each section gets the sets of
// its counterpart (section_match.h), and the lengths of its parts in proportion: of what it computes, and of what it
// sleeps. Likewise within one recording: a section outside of the windows of `record --sets` gets the sets of a similar one
// inside, and a section inside gets the length of similar ones outside.
//
// Immutable after it was made; may be shared between threads.
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
  uint64_t missing = 0;  // sections that have none, for no section of their lock and code was observed
  // How many times as long as its section a counterpart takes: the median.
  std::optional<double> dilation;
};

inline constexpr uint32_t kNotObserved = UINT32_MAX;

struct ObservedSection {
  uint32_t set = kNotObserved;
  model::ThreadId thread;
};

// What it is given must outlive it.
struct SectionFacts {
  const model::Trace* trace = nullptr;
  std::shared_ptr<const model::Facts> own;  // null: the caller has them
  std::span<const model::CriticalSection> sections;
  model::SectionSets sets;
  graph::SectionOrder recorded;
  graph::SyncGraph graph;
  LockSites sites;
  std::vector<uint32_t> site_of;  // by section
  // By section: the thread, of the recording that the sets come from, that touched what they say. A thread's own memory
  // is that one's.
  std::vector<model::ThreadId> touched_by;
  Counterparts counterparts;
  // By site: sections that were observed themselves, here or in the other recording; and of these such as came right
  // behind another one of their lock that was.
  std::vector<uint64_t> observed, observed_pairs;
  // By lock: its sections in the order in which these were observed, here or in the other recording; kNotObserved where
  // others, which were not, were between.
  std::vector<std::vector<ObservedSection>> observed_order;
  std::vector<InnerGuard> inner_guards;  // by lock, of the recording that the sets come from
  ConstantRanges constants;              // likewise of that recording
  // By section: how many times as long it would take on a core if it were not observed. Empty: as long as recorded.
  std::vector<float> cpu_scales;

  explicit SectionFacts(const model::Facts& facts);
  explicit SectionFacts(const model::Trace& trace);
  // Times of `facts`, sets of `observed`. Both are recordings of one program.
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
