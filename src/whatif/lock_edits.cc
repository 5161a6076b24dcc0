#include "whatif/lock_edits.h"

#include <fmt/format.h>

#include "whatif/edits/drop_lock.h"
#include "whatif/edits/make_atomic.h"
#include "whatif/edits/reader_writer_lock.h"
#include "whatif/edits/shared_look.h"
#include "whatif/edits/shorten_section.h"
#include "whatif/edits/split_lock.h"

namespace contrafact::whatif {
namespace {

using model::CriticalSection;
using model::EventKind;
using model::Trace;

// It begins with the end of a wait at a condition.
bool follows_wait(const Trace& trace, const CriticalSection& section) {
  const uint32_t acquire = section.acquire.value;
  return acquire > 0 && trace.kind[acquire - 1] == EventKind::sync_woken &&
         trace.time_ns[acquire - 1] == trace.time_ns[acquire];
}
// It ends in one.
bool ends_in_wait(const Trace& trace, const CriticalSection& section) {
  const uint32_t release = section.release.value;
  return section.release.valid() && release + 1 < trace.event_count() &&
         trace.kind[release + 1] == EventKind::sync_wait && trace.time_ns[release + 1] == trace.time_ns[release];
}

// What moves out on the other side leaves the wait its mutex.
bool takes_mutex_from_wait(const Trace& trace, const CriticalSection& section, const Improvement& change, size_t i) {
  const bool shortens = change.optimisation == Optimisation::shorten_section;
  return (follows_wait(trace, section) && !(shortens && change.head_ns[i] == 0)) ||
         (ends_in_wait(trace, section) && !(shortens && change.tail_ns[i] == 0));
}

std::string_view fault(const Trace& trace, std::span<const CriticalSection> sections, const Improvement& change,
                       const std::vector<SectionEdit>& edits) {
  const size_t count = change.sections.size();
  if (change.optimisation == Optimisation::split_lock &&
      (change.part.size() != count || (!change.also_part.empty() && change.also_part.size() != count))) {
    return "a section has no part";
  }
  if (change.optimisation == Optimisation::shared_look &&
      (change.part.size() != count || change.look_ns.size() != count ||
       (!change.head_ns.empty() && change.head_ns.size() != count))) {
    return "a section does not say whether it looks only";
  }
  if (change.optimisation == Optimisation::shorten_section &&
      (change.head_ns.size() != count || change.tail_ns.size() != count)) {
    return "a section has no length";
  }
  for (size_t i = 0; i < count; ++i) {
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
    switch (improvement.optimisation) {
      case Optimisation::drop_lock:
        drop_lock(trace, sections, improvement, edits);
        break;
      case Optimisation::reader_writer_lock:
        reader_writer_lock(trace, sections, improvement, edits);
        break;
      case Optimisation::shared_look:
        shared_look(trace, sections, improvement, edits);
        break;
      case Optimisation::split_lock:
        split_lock(trace, sections, improvement, edits);
        break;
      case Optimisation::shorten_section:
        shorten_section(trace, sections, improvement, edits);
        break;
      case Optimisation::make_atomic:
        make_atomic(trace, sections, improvement, edits);
        break;
      default:
        break;  // changes no section
    }
  }
  return edits;
}

}  // namespace contrafact::whatif
