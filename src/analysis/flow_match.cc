#include "analysis/flow_match.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "analysis/section_match.h"

namespace contrafact::analysis {
namespace {

using model::SectionFlows;

// The sections of each lock and site, in the order of time.
class InOrder {
 public:
  explicit InOrder(const SectionFacts& facts) : facts_(facts) {
    for (uint32_t s = 0; s < facts.sections.size(); ++s) {
      const model::CriticalSection& section = facts.sections[s];
      if (section.outcome != model::Outcome::normal) continue;
      by_place_[{section.lock.value, facts.site_of[s]}].push_back(s);
    }
  }

  // How many sections of `place` began before `section`.
  size_t before(std::pair<uint32_t, uint32_t> place, uint32_t section) const {
    const auto found = by_place_.find(place);
    if (found == by_place_.end()) return 0;
    const auto at = std::ranges::lower_bound(found->second, facts_.sections[section].acquire_ns, {},
                                             [&](uint32_t s) { return facts_.sections[s].acquire_ns; });
    return static_cast<size_t>(at - found->second.begin());
  }

  // The `back`-th of `place` before `section`, or one a little further back that is of its thread if `is_own`, else of
  // another one.
  std::optional<uint32_t> counted(std::pair<uint32_t, uint32_t> place, uint32_t section, size_t back,
                                  bool is_own) const {
    constexpr size_t kFurther = 64;
    const size_t behind = before(place, section);
    for (size_t more = 0; more < kFurther && back + more <= behind; ++more) {
      const uint32_t found = by_place_.at(place)[behind - back - more];
      if ((facts_.sections[found].thread == facts_.sections[section].thread) == is_own) return found;
    }
    return std::nullopt;
  }

 private:
  const SectionFacts& facts_;
  std::map<std::pair<uint32_t, uint32_t>, std::vector<uint32_t>> by_place_;  // lock and site
};

class FlowMatcher {
 public:
  FlowMatcher(const SectionFacts& to, const SectionFacts& from)
      : to_(to),
        from_(from),
        within_(&to == &from),
        flows_(model::with_outside(*from.trace, from.sections, model::section_flows(*from.trace, from.sections))),
        to_order_(to),
        from_order_(from) {
    const Correspondence places = correspondence(to, from);
    for (uint32_t lock = 0; lock < places.locks.size(); ++lock) to_lock_.try_emplace(places.locks[lock], lock);
    for (uint32_t site = 0; site < places.sites.size(); ++site) to_site_.try_emplace(places.sites[site], site);
  }

  SectionFlows run() {
    if (within_ && std::ranges::all_of(flows_.known, [](bool known) { return known; })) return std::move(flows_);
    const std::vector<uint32_t> counterpart = match_sections(to_, from_, flows_.known);
    out_.unknown_sources = flows_.unknown_sources;
    out_.unknown_targets = flows_.unknown_targets;
    out_.begin.push_back(0);
    for (uint32_t s = 0; s < to_.sections.size(); ++s) {
      const uint32_t other = counterpart[s];
      out_.taint.push_back(other == kNoSection ? SectionFlows::kNone : flows_.taint[other]);
      out_.known.push_back(other != kNoSection);
      if (other != kNoSection) take(s, other);
      out_.begin.push_back(static_cast<uint32_t>(out_.flows.size()));
    }
    return std::move(out_);
  }

 private:
  void take(uint32_t s, uint32_t other) {
    const auto first = static_cast<ptrdiff_t>(out_.flows.size());
    for (const SectionFlows::Flow& flow : flows_.of(other)) {
      const auto source = within_ && s == other ? flow.source : source_of(s, other, flow.source);
      if (source && *source != s) out_.flows.push_back({*source, flow.kind});
    }
    const auto key = [](const SectionFlows::Flow& flow) { return std::pair(flow.source, flow.kind); };
    std::sort(out_.flows.begin() + first, out_.flows.end(),
              [&](const auto& x, const auto& y) { return key(x) < key(y); });
    out_.flows.erase(std::unique(out_.flows.begin() + first, out_.flows.end()), out_.flows.end());
  }

  std::optional<uint32_t> source_of(uint32_t s, uint32_t other, uint32_t source) const {
    const model::CriticalSection &from = from_.sections[source], &into = from_.sections[other];
    const std::pair place(from.lock.value, from_.site_of[source]);
    const size_t behind = from_order_.before(place, other), at = from_order_.before(place, source);
    const auto site = to_site_.find(place.second);
    const auto lock = to_lock_.find(place.first);
    if (at >= behind || site == to_site_.end() || lock == to_lock_.end()) return std::nullopt;
    const uint32_t of_lock = from.lock == into.lock ? to_.sections[s].lock.value : lock->second;
    return to_order_.counted({of_lock, site->second}, s, behind - at, from.thread == into.thread);
  }

  const SectionFacts& to_;
  const SectionFacts& from_;
  const bool within_;   // one recording
  SectionFlows flows_;  // of `from`
  const InOrder to_order_, from_order_;
  std::map<uint32_t, uint32_t> to_lock_, to_site_;  // by those of `from`
  SectionFlows out_;
};

}  // namespace

model::SectionFlows matched_flows(const SectionFacts& to, const SectionFacts& tracked) {
  return FlowMatcher(to, tracked).run();
}

}  // namespace contrafact::analysis
