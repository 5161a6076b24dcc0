#include <fmt/format.h>

#include "improve/grain_change.h"
#include "improve/spec_parts.h"

namespace contrafact::improve {

namespace {

// The line of the program that hands the class's tasks out; null where no frame of it is known.
Json grain_place(const model::Trace& trace, model::ContextId place) {
  const model::ContextId frame = trace.program_frame(place);
  if (!frame.valid()) return nullptr;
  Json json = method_json(trace, trace.contexts[frame.index()].method);
  json["line"] = trace.contexts[frame.index()].line;
  return json;
}

}  // namespace

Json grain_entry(const SpecTrace& in, const whatif::Improvement& improvement) {
  Json json;
  json["optimisation"] = name_of(improvement.optimisation);
  json["tasks"] = {{"count", improvement.tasks.size()}, {"of", improvement.context_tasks}};
  json["body"] = method_json(in.trace, improvement.body);
  json["place"] = grain_place(in.trace, improvement.spawn_context);
  json["size"] = {{"before", improvement.size_before}, {"after", improvement.size_after}};
  return json;
}

base::Result<Candidate> select_grain(const SpecTrace& in, const Json& entry, const whatif::Optimisation* optimisation) {
  Candidate candidate;
  const bool may_be_none = optimisation->treatment() == whatif::Treatment::inline_at_spawn;
  const base::Result<uint32_t> size = size_after(entry, optimisation, may_be_none ? 0 : 1);
  if (!size) return size.error();
  if (!entry.contains("body")) return base::Error{fmt::format("{}: \"body\" is missing", name_of(optimisation))};
  const std::string body = body_key(entry["body"]);
  const Json place = entry.value("place", Json());
  const model::Facts facts(in.trace);
  for (const TaskGrain& grain : task_grains(facts)) {
    if (body_key(method_json(in.trace, grain.body)) != body) continue;
    if (grain.levels.empty() && grain_place(in.trace, grain.place) != place) continue;
    const auto& kind = static_cast<const GrainChange&>(*optimisation);
    candidate.improvement = kind.made(grain, *size);
    if (candidate.improvement.tasks.empty()) {
      return base::Error{fmt::format("{}: no task of this recording is changed (its recursion is {} levels deep)",
                                     name_of(optimisation), grain.deepest)};
    }
    return candidate;
  }
  return base::Error{fmt::format("{}: this recording hands out no such task there", name_of(optimisation))};
}

}  // namespace contrafact::improve
