#include <fmt/format.h>

#include "improve/kinds/kinds.h"
#include "improve/move_change.h"
#include "improve/spec_parts.h"

namespace contrafact::improve {

std::vector<Candidate> move_candidates(const model::Trace& trace) {
  std::vector<Candidate> candidates;
  for (const Kind* kind : all_kinds()) {
    if (kind->target() == whatif::Target::moves) static_cast<const MoveChange*>(kind)->find(trace, candidates);
  }
  return candidates;
}

Json move_entry(const SpecTrace& in, const whatif::Improvement& improvement) {
  Json json;
  json["optimisation"] = name_of(improvement.optimisation);
  move_change_of(improvement).write_place(improvement, in.trace, json);
  return json;
}

base::Result<Candidate> select_move(const SpecTrace& in, const Json& entry, const whatif::Optimisation* optimisation) {
  const auto& kind = static_cast<const MoveChange&>(*optimisation);
  std::vector<Candidate> candidates;
  kind.find(in.trace, candidates);
  for (Candidate& candidate : candidates) {
    if (kind.is_named(entry, candidate.improvement, in.trace)) return std::move(candidate);
  }
  return base::Error{fmt::format("{}: this recording has no such place", name_of(optimisation))};
}

}  // namespace contrafact::improve
