#include "analysis/ulc.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace contrafact::analysis {

using graph::PairKind;
using model::CriticalSection;
using model::EventKind;

uint64_t PairCounts::all() const {
  return std::accumulate(of.begin(), of.end(), uint64_t{0});
}
uint64_t PairCounts::unnecessary() const {
  uint64_t sum = 0;
  for (size_t kind = 0; kind < of.size(); ++kind) {
    if (graph::is_unnecessary(static_cast<PairKind>(kind))) sum += of[kind];
  }
  return sum;
}

namespace {

class UlcProfiler {
 public:
  explicit UlcProfiler(const SectionFacts& facts) : facts_(facts), conflicts_(facts.sets) {}

  UlcProfile run() {
    count_sections();
    for (const graph::SectionPair& pair : graph::adjacent_pairs(facts_.recorded)) add(pair);
    for (auto& [site, row] : sites_) profile_.sites.push_back(row);
    for (auto& [sites, row] : by_code_) profile_.by_code.push_back(row);
    finish(profile_.sites);
    finish(profile_.by_code);
    profile_.recorded_ns = graph::propagate(facts_.graph, facts_.recorded);
    const graph::SectionOrder needed =
        graph::needed_order(*facts_.trace, facts_.sections, facts_.sets, facts_.recorded);
    profile_.conflicts_ns = graph::propagate(facts_.graph, needed);
    const graph::SectionOrder none{.begin = std::vector<uint32_t>(facts_.sections.size() + 1, 0), .before = {}};
    profile_.no_locks_ns = graph::propagate(facts_.graph, none);
    return std::move(profile_);
  }

 private:
  void count_sections() {
    for (size_t s = 0; s < facts_.sections.size(); ++s) {
      const CriticalSection& section = facts_.sections[s];
      if (section.outcome != model::Outcome::normal) continue;
      if (!model::is_held(facts_.trace->locks[section.lock.index()].kind)) continue;
      ++profile_.sections;
      ++profile_.gaps[static_cast<size_t>(facts_.sets.gap_of(facts_.sets.of_section[s]))];
    }
  }

  void add(const graph::SectionPair& pair) {
    const PairKind kind = conflicts_.between(facts_.sets.of_section[pair.first], facts_.sets.of_section[pair.second]);
    const int64_t wait_ns = waited_ns(pair);
    const int64_t cost_ns = graph::is_unnecessary(kind) ? pair_cost_ns(pair, wait_ns) : 0;
    const uint32_t first_site = facts_.site_of[pair.first], second_site = facts_.site_of[pair.second];
    UlcSite& site = sites_[second_site];
    site.site = second_site;
    UlcSitePair& code = by_code_[{first_site, second_site}];
    code.first_site = first_site;
    code.second_site = second_site;
    for (PairCounts* counts : {&site.pairs, &code.pairs, &profile_.pairs}) ++counts->of[static_cast<size_t>(kind)];
    for (int64_t* sum_ns : {&site.wait_ns, &code.wait_ns}) *sum_ns += wait_ns;
    for (int64_t* sum_ns : {&site.cost_ns, &code.cost_ns, &profile_.cost_ns}) *sum_ns += cost_ns;
  }

  // How long the second section waited, while the first one held the lock and then until the second acquired it.
  int64_t waited_ns(const graph::SectionPair& pair) const {
    const CriticalSection& first = facts_.sections[pair.first];
    const CriticalSection& second = facts_.sections[pair.second];
    return std::max<int64_t>(0, second.acquire_ns - std::max(second.request_ns, first.acquire_ns));
  }

  // Equation 5.
  int64_t pair_cost_ns(const graph::SectionPair& pair, int64_t wait_ns) {
    if (wait_ns == 0) return 0;
    const int64_t tag2_ns = end_of_next_segment_ns(pair.first);
    const int64_t tag3_ns = end_of_next_segment_ns(pair.second);
    return std::max(tag2_ns, tag3_ns) - std::max(tag2_ns, tag3_ns - wait_ns);
  }

  // When the section's thread comes to its next lock event after it, or to its end.
  int64_t end_of_next_segment_ns(uint32_t section) const {
    const model::Trace& trace = *facts_.trace;
    const CriticalSection& from = facts_.sections[section];
    if (!from.release.valid()) return from.release_ns;
    const model::EventRange range = trace.thread_events(trace.thread_of(from.release));
    for (uint32_t i = from.release.value + 1; i < range.end; ++i) {
      if (trace.kind[i] >= EventKind::lock_acquire && trace.kind[i] <= EventKind::sync_broadcast) {
        return trace.time_ns[i];
      }
    }
    return trace.time_ns[range.end - 1];
  }

  // P is equation 6.
  template <typename Rows>
  void finish(Rows& rows) {
    for (auto& row : rows) {
      row.p = profile_.cost_ns > 0 ? static_cast<double>(row.cost_ns) / static_cast<double>(profile_.cost_ns) : 0;
    }
    std::stable_sort(rows.begin(), rows.end(), [](const auto& x, const auto& y) {
      if (x.cost_ns != y.cost_ns) return x.cost_ns > y.cost_ns;
      if (x.pairs.unnecessary() != y.pairs.unnecessary()) return x.pairs.unnecessary() > y.pairs.unnecessary();
      return x.pairs.all() > y.pairs.all();
    });
  }

  const SectionFacts& facts_;
  graph::SectionConflicts conflicts_;
  UlcProfile profile_;
  std::map<uint32_t, UlcSite> sites_;
  std::map<std::pair<uint32_t, uint32_t>, UlcSitePair> by_code_;
};

}  // namespace

UlcProfile ulc_profile(const SectionFacts& facts) {
  return UlcProfiler(facts).run();
}

}  // namespace contrafact::analysis
