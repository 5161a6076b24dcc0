#include "analysis/schedule_impact.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/section_overlaps.h"
#include "base/saturating.h"
#include "graph/flow_order.h"

namespace contrafact::analysis {
namespace {

constexpr Relation kAll[] = {Relation::locks, Relation::conflicts, Relation::flows};

bool is_held_section(const SectionFacts& facts, uint32_t s) {
  return facts.sections[s].outcome == model::Outcome::normal &&
         model::is_held(facts.trace->locks[facts.sections[s].lock.index()].kind);
}

class ImpactCounter {
 public:
  ImpactCounter(const SectionFacts& facts, const model::SectionFlows& flows, const ImpactOptions& options)
      : facts_(facts), flows_(flows), options_(options) {}

  std::map<model::LockId, LockImpact> run() {
    count_sections();
    count_pairs();
    return std::move(locks_);
  }

 private:
  void count_sections() {
    for (uint32_t s = 0; s < facts_.sections.size(); ++s) {
      if (!is_held_section(facts_, s)) continue;
      LockImpact& lock = locks_[facts_.sections[s].lock];
      lock.lock = facts_.sections[s].lock;
      ++lock.sections;
      lock.without_sets += !facts_.sets.is_complete(facts_.sets.of_section[s]);
      lock.without_flows += !flows_.known[s];
    }
  }

  void count_pairs() {
    graph::SectionConflicts conflicts(facts_.sets);
    std::vector<bool> overlaps(facts_.sections.size());
    each_overlap(facts_, [&](const SectionOverlap& overlap) {
      overlaps[overlap.first] = overlaps[overlap.second] = true;
      LockImpact& lock = locks_[facts_.sections[overlap.second].lock];
      const auto kind =
          conflicts.between(facts_.sets.of_section[overlap.first], facts_.sets.of_section[overlap.second]);
      ++lock.pairs.of[static_cast<size_t>(kind)];
      lock.pairs_with_flow += flows_.has(overlap.second, overlap.first, options_.control);
    });
    for (uint32_t s = 0; s < overlaps.size(); ++s) {
      if (overlaps[s]) ++locks_[facts_.sections[s].lock].overlapping;
    }
  }

  const SectionFacts& facts_;
  const model::SectionFlows& flows_;
  const ImpactOptions& options_;
  std::map<model::LockId, LockImpact> locks_;
};

}  // namespace

ScheduleImpacts::ScheduleImpacts(const SectionFacts& facts, const model::SectionFlows& flows,
                                 const ImpactOptions& options)
    : facts_(facts), flows_(flows), options_(options) {}

std::vector<bool> ScheduleImpacts::only(model::LockId lock) const {
  std::vector<bool> relaxed(facts_.trace->locks.size());
  relaxed[lock.index()] = true;
  return relaxed;
}

std::shared_ptr<const graph::SectionOrder> ScheduleImpacts::order(Relation relation,
                                                                  const std::vector<bool>& relaxed) const {
  const auto shared = [](graph::SectionOrder made) {
    return std::make_shared<const graph::SectionOrder>(std::move(made));
  };
  switch (relation) {
    case Relation::conflicts:
      return shared(graph::needed_order(*facts_.trace, facts_.sections, facts_.sets, facts_.recorded, relaxed));
    case Relation::flows:
      return shared(graph::flow_order(*facts_.trace, facts_.sections, flows_, facts_.recorded,
                                      {.control = options_.control, .relax = relaxed}));
    case Relation::locks:
      break;
  }
  return shared(facts_.recorded);
}

std::vector<int64_t> ScheduleImpacts::wait_ns_by_lock(const graph::SectionOrder& order) const {
  const graph::SectionWaits waits = graph::propagate_waits(facts_.graph, order);
  std::vector<int64_t> by_lock(facts_.trace->locks.size());
  for (uint32_t s = 0; s < waits.wait_ns.size(); ++s) {
    int64_t& wait_ns = by_lock[facts_.sections[s].lock.index()];
    wait_ns = base::add_saturated(wait_ns, waits.wait_ns[s]);
  }
  return by_lock;
}

ScheduleImpact ScheduleImpacts::impact() const {
  ScheduleImpact impact;
  std::vector<SiteImpact> sites(facts_.sites.sites().size());
  std::vector<int64_t> lock_waits_ns(facts_.trace->locks.size());
  for (const Relation relation : kAll) {
    const size_t r = static_cast<size_t>(relation);
    const graph::SectionWaits waits = graph::propagate_waits(facts_.graph, *order(relation));
    impact.all[r].run_ns = waits.duration_ns;
    for (uint32_t s = 0; s < waits.wait_ns.size(); ++s) {
      impact.all[r].wait_ns = base::add_saturated(impact.all[r].wait_ns, waits.wait_ns[s]);
      int64_t& of_site = sites[facts_.site_of[s]].wait_ns[r];
      of_site = base::add_saturated(of_site, waits.wait_ns[s]);
      if (relation != Relation::locks) continue;
      int64_t& of_lock = lock_waits_ns[facts_.sections[s].lock.index()];
      of_lock = base::add_saturated(of_lock, waits.wait_ns[s]);
    }
  }
  for (uint32_t site = 0; site < sites.size(); ++site) {
    sites[site].site = site;
    if (sites[site].wait_ns[0] > 0) impact.sites.push_back(sites[site]);
  }
  std::ranges::stable_sort(impact.sites, std::greater(), [](const SiteImpact& site) { return site.wait_ns[0]; });
  for (auto& [lock, found] : ImpactCounter(facts_, flows_, options_).run()) {
    impact.sections += found.sections;
    impact.overlapping += found.overlapping;
    impact.without_sets += found.without_sets;
    impact.without_flows += found.without_flows;
    found.times[0] = {impact.all[0].run_ns, lock_waits_ns[lock.index()]};
    if (found.times[0].wait_ns > 0) impact.locks.push_back(found);
  }
  std::ranges::stable_sort(impact.locks, std::greater(), [](const LockImpact& lock) { return lock.times[0].wait_ns; });
  if (impact.locks.size() > options_.locks_max) {
    impact.not_priced = impact.locks.size() - options_.locks_max;
    impact.locks.resize(options_.locks_max);
  }
  for (LockImpact& lock : impact.locks) {
    for (const Relation relation : {Relation::conflicts, Relation::flows}) {
      const graph::SectionWaits waits = graph::propagate_waits(facts_.graph, *order(relation, only(lock.lock)));
      RelationTimes& times = lock.times[static_cast<size_t>(relation)];
      times.run_ns = waits.duration_ns;
      for (uint32_t s = 0; s < waits.wait_ns.size(); ++s) {
        if (facts_.sections[s].lock == lock.lock) times.wait_ns = base::add_saturated(times.wait_ns, waits.wait_ns[s]);
      }
    }
  }
  return impact;
}

}  // namespace contrafact::analysis
