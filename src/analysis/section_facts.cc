#include "analysis/section_facts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <string_view>

#include "analysis/blocked_times.h"
#include "analysis/section_match.h"
#include "base/middle.h"

namespace contrafact::analysis {
namespace {

using model::SectionSets;

// How a section's time becomes that of another one: computing time by one factor, sleeping time by another, because
// observed code is slower and a write to a disk is not.
struct Pace {
  double computed = 1;
  double blocked = 1;
};

// Gives sections that have times of their own the sets of other sections.
class Borrower {
 public:
  Borrower(const SectionFacts& to, const SectionFacts& from)
      : to_(to), from_(from), within_(&to == &from), to_blocked_(*to.trace), from_blocked_(*from.trace) {
    sets_.sets = from.sets.sets;
    sets_.ranges = from.sets.ranges;
    sets_.cuts = from.sets.cuts;
    unobserved_ = static_cast<uint32_t>(sets_.sets.size());
    sets_.sets.push_back({format::SetGap::not_observed, {}});
  }

  SectionSets run() {
    const std::vector<uint32_t> counterpart = match_sections(to_, from_);
    order_.resize(to_.trace->locks.size());
    guards_.resize(to_.trace->locks.size());
    std::vector<bool> known(guards_.size());
    for (uint32_t s = 0; s < counterpart.size(); ++s) {
      if (counterpart[s] != kNoSection) {
        take(s, counterpart[s]);
        const size_t lock = to_.sections[s].lock.index(), there = from_.sections[counterpart[s]].lock.index();
        if (order_[lock].empty()) order_[lock] = from_.observed_order[there];
        if (!known[lock]) guards_[lock] = from_.inner_guards[there];
        known[lock] = true;
        continue;
      }
      counterparts_.missing += is_hold(s);
      within_ ? take(s, s) : take_nothing(s);
    }
    return std::move(sets_);
  }

  std::vector<model::ThreadId> touched_by() { return std::move(touched_by_); }
  std::vector<std::vector<ObservedSection>> observed_order() { return std::move(order_); }
  std::vector<InnerGuard> inner_guards() { return std::move(guards_); }

  Counterparts counterparts() {
    if (!dilations_.empty()) {
      counterparts_.dilation = base::median(std::span(dilations_));
    }
    return counterparts_;
  }

 private:
  bool is_hold(uint32_t s) const {
    const model::CriticalSection& section = to_.sections[s];
    return section.outcome == model::Outcome::normal && model::is_held(to_.trace->locks[section.lock.index()].kind);
  }

  void take_nothing(uint32_t s) {
    const model::CriticalSection& section = to_.sections[s];
    const auto part = static_cast<uint32_t>(sets_.parts.size());
    sets_.parts.push_back({.set = unobserved_, .length_ns = section.hold_ns()});
    sets_.of_section.push_back(unobserved_);
    touched_by_.push_back(section.thread);
    sets_.head.push_back({part, part + 1});
    sets_.tail.push_back({part, part + 1});
  }

  void take(uint32_t s, uint32_t counterpart) {
    const model::CriticalSection &section = to_.sections[s], &observed = from_.sections[counterpart];
    const Pace pace = pace_of(section, observed);
    sets_.of_section.push_back(from_.sets.of_section[counterpart]);
    touched_by_.push_back(from_.touched_by[counterpart]);
    const SectionSets::PartRange head = from_.sets.head[counterpart], tail = from_.sets.tail[counterpart];
    sets_.head.push_back(paced(head, observed.thread, observed.acquire_ns, pace));
    const int64_t tail_begin_ns = observed.release_ns - length_ns(tail);
    sets_.tail.push_back(head.begin == tail.begin ? sets_.head.back()
                                                  : paced(tail, observed.thread, tail_begin_ns, pace));
    if (within_ && s == counterpart) return;
    ++counterparts_.found;
    const bool is_slowed = from_.cpu_scales.empty() || from_.cpu_scales[counterpart] < 1;
    if (section.hold_ns() > 0 && is_slowed)
      dilations_.push_back(static_cast<double>(observed.hold_ns()) / static_cast<double>(section.hold_ns()));
  }

  static int64_t blocked_ns(const BlockedTimes& blocked, const model::CriticalSection& section) {
    return blocked.within(section.thread, section.acquire_ns, section.release_ns);
  }

  // The parts of `observed` make up the length of `section`. Where only `section` slept, nobody knows in which part.
  Pace pace_of(const model::CriticalSection& section, const model::CriticalSection& observed) const {
    const auto ratio = [](int64_t ns, int64_t of_ns) {
      return of_ns > 0 ? static_cast<double>(ns) / static_cast<double>(of_ns) : 1;
    };
    const int64_t slept_ns = blocked_ns(to_blocked_, section), observed_slept_ns = blocked_ns(from_blocked_, observed);
    const int64_t computed_ns = observed.hold_ns() - observed_slept_ns;
    if (observed_slept_ns == 0 || computed_ns == 0) {
      const double all = ratio(section.hold_ns(), observed.hold_ns());
      return {all, all};
    }
    return {ratio(section.hold_ns() - slept_ns, computed_ns), ratio(slept_ns, observed_slept_ns)};
  }

  int64_t length_ns(SectionSets::PartRange range) const {
    int64_t sum_ns = 0;
    for (const SectionSets::Part& part : from_.sets.parts_of(range)) sum_ns += part.length_ns;
    return sum_ns;
  }

  // The parts, which begin at `begin_ns` of the observed recording.
  SectionSets::PartRange paced(SectionSets::PartRange range, model::ThreadId thread, int64_t begin_ns, Pace pace) {
    const auto begin = static_cast<uint32_t>(sets_.parts.size());
    for (const SectionSets::Part& part : from_.sets.parts_of(range)) {
      const int64_t end_ns = begin_ns + part.length_ns, slept_ns = from_blocked_.within(thread, begin_ns, end_ns);
      const double length_ns =
          static_cast<double>(part.length_ns - slept_ns) * pace.computed + static_cast<double>(slept_ns) * pace.blocked;
      sets_.parts.push_back({part.set, part.end, std::llround(length_ns)});
      begin_ns = end_ns;
    }
    return {begin, static_cast<uint32_t>(sets_.parts.size())};
  }

  const SectionFacts& to_;
  const SectionFacts& from_;
  const bool within_;  // one recording
  const BlockedTimes to_blocked_, from_blocked_;
  SectionSets sets_;
  std::vector<model::ThreadId> touched_by_;
  std::vector<std::vector<ObservedSection>> order_;  // by lock
  std::vector<InnerGuard> guards_;                   // by lock
  uint32_t unobserved_ = 0;                          // a set
  Counterparts counterparts_;
  std::vector<double> dilations_;
};

double typical_ns(std::vector<int64_t>& holds_ns) {
  return base::mean(base::without_longest(std::span(holds_ns)));
}

// For sections in windows: how much shorter those of the same site are outside. `own`: the sets as they were recorded.
// Sites without enough sections of both kinds are left as they are.
std::vector<float> window_scales(const SectionFacts& facts, const SectionSets& own) {
  constexpr size_t kEnough = 5;
  struct Holds {
    std::vector<int64_t> inside_ns, outside_ns;
  };
  const auto is_outside = [&](uint32_t s) { return own.gap_of(own.of_section[s]) == format::SetGap::outside_window; };
  std::vector<Holds> of_site(facts.sites.sites().size());
  for (uint32_t s = 0; s < facts.sections.size(); ++s) {
    Holds& holds = of_site[facts.site_of[s]];
    (is_outside(s) ? holds.outside_ns : holds.inside_ns).push_back(facts.sections[s].hold_ns());
  }
  std::vector<float> scale_of_site;
  for (Holds& holds : of_site) {
    const bool enough = holds.inside_ns.size() >= kEnough && holds.outside_ns.size() >= kEnough;
    const double inside_ns = enough ? typical_ns(holds.inside_ns) : 0;
    scale_of_site.push_back(inside_ns > 0 ? static_cast<float>(std::min(1.0, typical_ns(holds.outside_ns) / inside_ns))
                                          : 1);
  }
  std::vector<float> scales;
  for (uint32_t s = 0; s < facts.sections.size(); ++s)
    scales.push_back(is_outside(s) ? 1 : scale_of_site[facts.site_of[s]]);
  return scales;
}

bool has_windows(const SectionSets& sets) {
  return std::ranges::any_of(sets.sets,
                             [](const model::AccessSet& set) { return set.gap == format::SetGap::outside_window; });
}

}  // namespace

SectionFacts::SectionFacts(const model::Facts& facts, WithoutSets)
    : trace(&facts.trace()),
      sections(facts.sections()),
      recorded(graph::recorded_order(facts.trace(), sections)),
      graph(graph::build_sync_graph(facts, recorded)),
      sites(facts.trace()) {
  site_of.reserve(sections.size());
  for (const model::CriticalSection& section : sections) site_of.push_back(sites.of(section.site));
}

SectionFacts::SectionFacts(std::shared_ptr<const model::Facts> facts) : SectionFacts(*facts) {
  own = std::move(facts);
}

SectionFacts::SectionFacts(const model::Trace& of) : SectionFacts(std::make_shared<const model::Facts>(of)) {}

SectionFacts::SectionFacts(std::shared_ptr<const model::Facts> facts, const SectionFacts& from)
    : SectionFacts(*facts, from) {
  own = std::move(facts);
}

SectionFacts::SectionFacts(const model::Trace& of, const SectionFacts& from)
    : SectionFacts(std::make_shared<const model::Facts>(of), from) {}

SectionFacts::SectionFacts(const model::Facts& facts) : SectionFacts(facts, WithoutSets()) {
  sets = model::section_sets(facts.trace(), sections);
  for (const model::CriticalSection& section : sections) touched_by.push_back(section.thread);
  count_observed();
  observed_order = order_observed();
  inner_guards = analysis::inner_guards(facts.trace(), sections, sets, sites, site_of);
  constants = constant_ranges(facts.trace());
  if (!has_windows(sets)) return;
  cpu_scales = window_scales(*this, sets);
  Borrower borrower(*this, *this);
  sets = borrower.run();
  touched_by = borrower.touched_by();
  counterparts = borrower.counterparts();
}

SectionFacts::SectionFacts(const model::Facts& facts, const SectionFacts& from) : SectionFacts(facts, WithoutSets()) {
  Borrower borrower(*this, from);
  sets = borrower.run();
  touched_by = borrower.touched_by();
  observed_order = borrower.observed_order();
  inner_guards = borrower.inner_guards();
  constants = from.constants;
  counterparts = borrower.counterparts();
  std::map<std::string_view, std::pair<uint64_t, uint64_t>> of_label;
  for (size_t site = 0; site < from.observed.size(); ++site)
    of_label[from.sites.sites()[site].label] = {from.observed[site], from.observed_pairs[site]};
  for (const LockSite& site : sites.sites()) {
    observed.push_back(of_label[site.label].first);
    observed_pairs.push_back(of_label[site.label].second);
  }
}

static bool is_hold(const model::Trace& trace, const model::CriticalSection& section) {
  return section.outcome == model::Outcome::normal && model::is_held(trace.locks[section.lock.index()].kind);
}

void SectionFacts::count_observed() {
  observed.assign(sites.sites().size(), 0);
  observed_pairs.assign(sites.sites().size(), 0);
  model::LockId lock;
  bool behind_observed = false;  // the one before, of the same lock
  for (uint32_t s = 0; s < sections.size(); ++s) {
    const bool is_observed = sets.is_complete(sets.of_section[s]);
    observed[site_of[s]] += is_observed;
    if (!is_hold(*trace, sections[s])) continue;
    observed_pairs[site_of[s]] += is_observed && behind_observed && sections[s].lock == lock;
    lock = sections[s].lock;
    behind_observed = is_observed;
  }
}

// Sections that did not hold their lock are left out.
std::vector<std::vector<ObservedSection>> SectionFacts::order_observed() const {
  std::vector<std::vector<ObservedSection>> order(trace->locks.size());
  for (uint32_t s = 0; s < sections.size(); ++s) {
    const model::LockId lock = sections[s].lock;
    if (!is_hold(*trace, sections[s])) continue;
    std::vector<ObservedSection>& of_lock = order[lock.index()];
    const uint32_t set = sets.is_complete(sets.of_section[s]) ? sets.of_section[s] : kNotObserved;
    if (set == kNotObserved && (of_lock.empty() || of_lock.back().set == kNotObserved)) continue;
    of_lock.push_back({set, sections[s].thread});
  }
  return order;
}

}  // namespace contrafact::analysis
