#include "graph/flow_order.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace contrafact::graph {
namespace {

using format::FlowKind;
using model::CriticalSection;
using model::SectionFlows;
using model::Trace;

class FlowOrderBuilder {
 public:
  FlowOrderBuilder(const Trace& trace, std::span<const CriticalSection> sections, const SectionFlows& flows,
                   const SectionOrder& recorded, const FlowOrderOptions& options)
      : trace_(trace), sections_(sections), flows_(flows), recorded_(recorded), options_(options) {}

  SectionOrder run() {
    order_.begin.push_back(0);
    for (uint32_t begin = 0; begin < sections_.size();) {
      uint32_t end = begin;
      while (end < sections_.size() && sections_[end].lock == sections_[begin].lock) ++end;
      const size_t lock = sections_[begin].lock.index();
      options_.relax.empty() || options_.relax[lock] ? relax(begin, end) : keep(begin, end);
      begin = end;
    }
    return std::move(order_);
  }

 private:
  bool is_ordered(uint32_t s) const {
    const CriticalSection& section = sections_[s];
    return section.outcome == model::Outcome::normal && model::is_held(trace_.locks[section.lock.index()].kind);
  }
  bool counts(FlowKind kind) const { return kind != FlowKind::control || options_.control; }

  bool may_precede(uint32_t source, uint32_t into) const {
    return sections_[source].thread != sections_[into].thread &&
           sections_[source].release_ns <= sections_[into].acquire_ns;
  }

  void keep(uint32_t begin, uint32_t end) {
    for (uint32_t s = begin; s < end; ++s) {
      const auto before = recorded_.of(s);
      add({before.begin(), before.end()});
    }
  }

  // Between readers and sections that are not known, no chain of direct predecessors would keep the order.
  bool has_readers_and_unknown(uint32_t begin, uint32_t end) const {
    bool shared = false, unknown = false;
    for (uint32_t s = begin; s < end; ++s) {
      if (!is_ordered(s)) continue;
      shared |= sections_[s].shared;
      unknown |= !flows_.known[s];
    }
    return shared && unknown;
  }

  void relax(uint32_t begin, uint32_t end) {
    if (has_readers_and_unknown(begin, end)) return keep(begin, end);
    std::optional<uint32_t> unknown;          // the last section whose flows are not known
    std::map<uint32_t, uint32_t> last_since;  // by thread: its last section since then
    std::vector<uint32_t> before;
    for (uint32_t s = begin; s < end; ++s) {
      before.clear();
      if (is_ordered(s)) {
        const bool known = flows_.known[s];
        if (known || last_since.empty()) {
          if (unknown) before.push_back(*unknown);
        } else {
          for (const auto& [thread, last] : last_since) before.push_back(last);
        }
        if (known) add_sources(s, before);
        std::erase_if(before, [&](uint32_t other) {
          return sections_[other].thread == sections_[s].thread || (sections_[other].shared && sections_[s].shared);
        });
        if (known) {
          last_since[sections_[s].thread.value] = s;
        } else {
          last_since.clear();
          unknown = s;
        }
      }
      add(before);
    }
  }

  void add_sources(uint32_t s, std::vector<uint32_t>& before) const {
    for (const SectionFlows::Flow& flow : flows_.of(s)) {
      if (counts(flow.kind) && may_precede(flow.source, s)) before.push_back(flow.source);
    }
  }

  void add(std::vector<uint32_t> before) {
    std::ranges::sort(before);
    const auto twice = std::ranges::unique(before);
    before.erase(twice.begin(), twice.end());
    order_.before.insert(order_.before.end(), before.begin(), before.end());
    order_.begin.push_back(static_cast<uint32_t>(order_.before.size()));
  }

  const Trace& trace_;
  const std::span<const CriticalSection> sections_;
  const SectionFlows& flows_;
  const SectionOrder& recorded_;
  const FlowOrderOptions& options_;
  SectionOrder order_;
};

}  // namespace

SectionOrder flow_order(const Trace& trace, std::span<const CriticalSection> sections, const SectionFlows& flows,
                        const SectionOrder& recorded, const FlowOrderOptions& options) {
  return FlowOrderBuilder(trace, sections, flows, recorded, options).run();
}

}  // namespace contrafact::graph
