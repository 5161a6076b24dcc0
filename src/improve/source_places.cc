#include "improve/source_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace contrafact::improve {

using model::ContextId;
using model::Trace;

namespace {

// Contexts come after their parents (model::verify), so each is found in one step from its parent's.
struct Found {
  ContextId whole;    // the first context of its place, whosever its innermost frame is
  ContextId program;  // the same of its innermost frame of the program; none: it has none
};

}  // namespace

SourcePlaces::SourcePlaces(const Trace& trace) : first_(trace.contexts.size()) {
  using Key = std::tuple<uint32_t, uint32_t, uint32_t>;  // the outer part, method, line
  std::map<Key, ContextId> known;
  std::vector<Found> found(trace.contexts.size());
  for (uint32_t i = 0; i < trace.contexts.size(); ++i) {
    const format::ContextRow& row = trace.contexts[i];
    const Found outer = row.parent.valid() ? found[row.parent.index()] : Found();
    if (row.method.valid() && trace.owner_name(row.method).empty()) {
      const Key key{outer.program.value, row.method.value, row.line};
      found[i].whole = found[i].program = known.try_emplace(key, ContextId(i)).first->second;
    } else if (outer.program.valid()) {
      const Key key{outer.whole.value, row.method.value, UINT32_MAX};
      found[i] = {known.try_emplace(key, ContextId(i)).first->second, outer.program};
    } else {
      found[i].whole = ContextId(i);
    }
    first_[i] = found[i].whole;
  }
}

std::string place_key(std::span<const FrameText> frames) {
  const bool of_program = std::ranges::any_of(frames, &FrameText::is_program);
  std::string key;
  bool innermost = true;
  for (const FrameText& frame : frames) {
    if (of_program && !frame.is_program && !innermost) continue;
    innermost &= !frame.is_program;
    const bool with_line = frame.is_program || !of_program;
    key += fmt::format("{}.{}:{}\n", frame.class_name, frame.method, with_line ? frame.line : 0);
  }
  return key;
}

}  // namespace contrafact::improve
