#include "model/section_flows.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace contrafact::model {
namespace {

using format::FlowKind;

struct Found {
  uint32_t into;
  SectionFlows::Flow flow;
};

void set_flows(std::vector<Found>& found, size_t sections, SectionFlows& out) {
  const auto key = [](const Found& each) { return std::tuple(each.into, each.flow.source, each.flow.kind); };
  std::ranges::sort(found, {}, key);
  const auto twice = std::ranges::unique(found, {}, key);
  found.erase(twice.begin(), twice.end());
  out.begin.assign(sections + 1, 0);
  out.flows.clear();
  out.flows.reserve(found.size());
  for (const Found& each : found) {
    ++out.begin[each.into + 1];
    out.flows.push_back(each.flow);
  }
  for (size_t s = 0; s < sections; ++s) out.begin[s + 1] += out.begin[s];
}

bool is_hold(const Trace& trace, const CriticalSection& section) {
  return section.outcome == Outcome::normal && is_held(trace.locks[section.lock.index()].kind);
}

class FlowCollector {
 public:
  FlowCollector(const Trace& trace, std::span<const CriticalSection> sections)
      : trace_(trace),
        sections_(sections),
        is_whole_(!trace.loss.cut_off && trace.loss.blocks_damaged == 0 && trace.loss.events_dropped == 0) {}

  SectionFlows run() {
    out_.taint.assign(sections_.size(), SectionFlows::kNone);
    out_.known.assign(sections_.size(), false);
    partly_.assign(sections_.size(), false);
    find_taints();
    for (uint32_t t = 0; t < trace_.threads.size(); ++t) scan(ThreadId(t));
    for (uint32_t s = 0; s < sections_.size(); ++s) out_.known[s] = out_.known[s] && !partly_[s];
    set_flows(found_, sections_.size(), out_);
    return std::move(out_);
  }

 private:
  void find_taints() {
    std::unordered_map<uint32_t, uint32_t> begins;  // sections by event
    for (uint32_t s = 0; s < sections_.size(); ++s) {
      if (is_hold(trace_, sections_[s])) begins.emplace(sections_[s].acquire.value, s);
    }
    for (uint32_t t = 0; t < trace_.threads.size(); ++t) {
      const EventRange range = trace_.thread_events(ThreadId(t));
      uint32_t acquire = SectionFlows::kNone;
      for (uint32_t i = range.begin; i < range.end; ++i) {
        const EventKind kind = trace_.kind[i];
        if (is_acquisition(kind)) acquire = i;
        if (kind != EventKind::section_taint) continue;
        const auto section = begins.find(acquire);
        if (section != begins.end()) note_taint(section->second, trace_.a[i]);
        acquire = SectionFlows::kNone;  // one taint for each
      }
    }
    std::ranges::sort(by_taint_);
  }

  static bool is_acquisition(EventKind kind) {
    return kind == EventKind::lock_acquire || kind == EventKind::lock_acquire_shared ||
           kind == EventKind::lock_acquired || kind == EventKind::lock_acquired_shared;
  }

  void note_taint(uint32_t section, uint32_t taint) {
    if (taint == SectionFlows::kNone) return;
    out_.taint[section] = taint;
    out_.known[section] = is_whole_;
    by_taint_.emplace_back(taint, section);
  }

  // The section with that taint; of several, in a damaged file, the first.
  uint32_t section_of(uint32_t taint) const {
    const auto at = std::ranges::lower_bound(by_taint_, std::pair(taint, 0u));
    return at == by_taint_.end() || at->first != taint ? SectionFlows::kNone : at->second;
  }

  void scan(ThreadId thread) {
    const EventRange range = trace_.thread_events(thread);
    bool is_outside = true, is_lost = true;
    uint32_t into = SectionFlows::kNone;
    for (uint32_t i = range.begin; i < range.end; ++i) {
      switch (trace_.kind[i]) {
        case EventKind::flow_into:
          is_outside = trace_.a[i] == SectionFlows::kNone;
          into = is_outside ? SectionFlows::kNone : section_of(trace_.a[i]);
          is_lost = false;
          // Events may be missing elsewhere, but this section's are here.
          if (into != SectionFlows::kNone) out_.known[into] = true;
          break;
        case EventKind::gap:
          if (into != SectionFlows::kNone) partly_[into] = true;
          into = SectionFlows::kNone;
          is_lost = true;
          break;
        case EventKind::flow_from:
          if (!is_lost) add(thread, i, is_outside, into);
          break;
        default:
          break;
      }
    }
  }

  void add(ThreadId thread, uint32_t event, bool is_outside, uint32_t into) {
    const uint32_t source = section_of(trace_.a[event]);
    const auto kind = static_cast<FlowKind>(trace_.b[event]);
    if (source == SectionFlows::kNone) {
      ++out_.unknown_sources;
      if (into != SectionFlows::kNone) partly_[into] = true;
    } else if (is_outside) {
      out_.outside.push_back({thread, trace_.time_ns[event], source, kind});
    } else if (into == SectionFlows::kNone) {
      ++out_.unknown_targets;
    } else if (source != into) {
      found_.push_back({into, {source, kind}});
    }
  }

  const Trace& trace_;
  const std::span<const CriticalSection> sections_;
  const bool is_whole_;
  SectionFlows out_;
  std::vector<std::pair<uint32_t, uint32_t>> by_taint_;  // taints and their sections, sorted
  std::vector<Found> found_;
  std::vector<bool> partly_;  // by section: some of its flows are not known
};

}  // namespace

bool SectionFlows::has(uint32_t section, uint32_t source, bool control) const {
  const std::span<const Flow> own = of(section);
  const auto first = std::ranges::lower_bound(own, source, {}, &Flow::source);
  return first != own.end() && first->source == source && (control || first->kind != FlowKind::control);
}

SectionFlows section_flows(const Trace& trace, std::span<const CriticalSection> sections) {
  return FlowCollector(trace, sections).run();
}

SectionFlows with_outside(const Trace& trace, std::span<const CriticalSection> sections, SectionFlows flows) {
  if (flows.outside.empty()) return flows;
  std::vector<std::vector<uint32_t>> of_thread(trace.threads.size());
  for (uint32_t s = 0; s < sections.size(); ++s) {
    if (is_hold(trace, sections[s])) of_thread[sections[s].thread.index()].push_back(s);
  }
  const auto begins = [&](uint32_t s) { return sections[s].acquire_ns; };
  for (std::vector<uint32_t>& own : of_thread) std::ranges::stable_sort(own, {}, begins);
  std::vector<Found> found;
  for (uint32_t s = 0; s < sections.size(); ++s) {
    for (const SectionFlows::Flow& flow : flows.of(s)) found.push_back({s, flow});
  }
  for (const SectionFlows::OutsideFlow& flow : std::exchange(flows.outside, {})) {
    const std::vector<uint32_t>& own = of_thread[flow.thread.index()];
    const auto next = std::ranges::upper_bound(own, flow.time_ns, {}, begins);
    const bool has_last = next != own.begin() && sections[flow.source].release_ns <= begins(*std::prev(next));
    // What a thread's own section handed to it orders nothing.
    const bool is_own = sections[flow.source].thread == flow.thread;
    if (!has_last && (is_own || next == own.end())) continue;
    const uint32_t into = has_last ? *std::prev(next) : *next;
    if (into != flow.source) found.push_back({into, {flow.source, flow.kind}});
  }
  set_flows(found, sections.size(), flows);
  return flows;
}

bool has_flows(const Trace& trace) {
  return std::ranges::find(trace.kind, EventKind::section_taint) != trace.kind.end();
}

}  // namespace contrafact::model
