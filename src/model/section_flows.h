// Information flow between the critical sections of a trace: which sections' runs each section got information from
// (FlowProf, section 5). Recorded with `--flow`.
//
// Pure function. Linear in the events but for one sort of the taints, and of each section's flows. Memory: some words
// for each section and each flow; equal flows into one section are one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/critical_sections.h"

namespace contrafact::model {

struct SectionFlows {
  static constexpr uint32_t kNone = UINT32_MAX;

  struct Flow {
    uint32_t source = kNone;  // a section
    format::FlowKind kind = format::FlowKind::direct;
    bool operator==(const Flow&) const = default;
  };
  // Into code that was in no section then.
  struct OutsideFlow {
    ThreadId thread;
    int64_t time_ns = 0;
    uint32_t source = kNone;  // a section
    format::FlowKind kind = format::FlowKind::indirect;
  };

  std::vector<uint32_t> taint;  // by section; kNone: its run was not tracked
  std::vector<bool> known;      // by section: it was tracked, all its sources are in the trace, and no event is missing
  std::vector<uint32_t> begin;  // by section, one more: its flows in `flows`
  std::vector<Flow> flows;      // from other sections; each section's by source, then kind
  std::vector<OutsideFlow> outside;
  uint64_t unknown_sources = 0;  // flows from a run whose section is not in the trace
  uint64_t unknown_targets = 0;  // flows into such a run

  std::span<const Flow> of(uint32_t section) const {
    return std::span(flows).subspan(begin[section], begin[section + 1] - begin[section]);
  }
  // Whether `section` got anything from `source`; what a branch alone depended on counts only with `control`. A search.
  bool has(uint32_t section, uint32_t source, bool control) const;
};

// `sections` are critical_sections(trace). What a section hands to itself is left out. Nested sections without a taint
// of their own are not tracked.
SectionFlows section_flows(const Trace& trace, std::span<const CriticalSection> sections);

// The same with the flows into code outside counted for sections, `outside` empty: for the reading thread's last section
// before, if it began after the source's end, because by what that handed out the thread came to read there; else for
// the thread's next section, if there is one.
SectionFlows with_outside(const Trace& trace, std::span<const CriticalSection> sections, SectionFlows flows);

// Whether any section of the trace was tracked.
bool has_flows(const Trace& trace);

}  // namespace contrafact::model
