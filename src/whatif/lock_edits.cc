#include "whatif/lock_edits.h"

#include <fmt/format.h>

namespace contrafact::whatif {
namespace {

using model::CriticalSection;
using model::EventKind;
using model::Trace;

// Whether the section begins with the end of a wait at a condition.
bool follows_wait(const Trace& trace, const CriticalSection& section) {
  const uint32_t acquire = section.acquire.value;
  return acquire > 0 && trace.kind[acquire - 1] == EventKind::sync_woken &&
         trace.time_ns[acquire - 1] == trace.time_ns[acquire];
}
// Whether the section ends in such a wait.
bool ends_in_wait(const Trace& trace, const CriticalSection& section) {
  const uint32_t release = section.release.value;
  return section.release.valid() && release + 1 < trace.event_count() &&
         trace.kind[release + 1] == EventKind::sync_wait && trace.time_ns[release + 1] == trace.time_ns[release];
}

// A wait keeps its mutex if the change does not move the section's end at the wait.
bool takes_mutex_from_wait(const Trace& trace, const CriticalSection& section, const Improvement& change, size_t i) {
  const Optimisation& optimisation = *change.optimisation;
  return (follows_wait(trace, section) && !optimisation.keeps_begin(change, i)) ||
         (ends_in_wait(trace, section) && !optimisation.keeps_end(change, i));
}

std::string_view fault(const Trace& trace, std::span<const CriticalSection> sections, const Improvement& change,
                       const std::vector<SectionEdit>& edits) {
  if (const std::string_view why = change.optimisation->fault(change); !why.empty()) return why;
  for (size_t i = 0; i < change.sections.size(); ++i) {
    const uint32_t s = change.sections[i];
    if (s >= sections.size()) return "a section does not exist";
    if (sections[s].outcome != model::Outcome::normal || !model::is_held(trace.locks[sections[s].lock.index()].kind)) {
      return "a section was never held";
    }
    if (edits[s].mode == SectionEdit::Mode::none) return "a section has no lock any more";
    if (takes_mutex_from_wait(trace, sections[s], change, i))
      return "a section is part of a wait at a condition, which needs its mutex";
  }
  return "";
}

}  // namespace

base::Result<std::vector<SectionEdit>> edits_of(const Trace& trace, std::span<const CriticalSection> sections,
                                                std::span<const Improvement> improvements) {
  std::vector<SectionEdit> edits = unedited(sections);
  for (const Improvement& improvement : improvements) {
    if (const std::string_view why = fault(trace, sections, improvement, edits); !why.empty()) {
      return base::Error{fmt::format("{}: {}", name_of(improvement.optimisation), why)};
    }
    improvement.optimisation->edit(trace, sections, improvement, edits);
  }
  return edits;
}

}  // namespace contrafact::whatif
