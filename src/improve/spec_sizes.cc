#include <fmt/format.h>

#include "improve/spec_parts.h"

namespace contrafact::improve {

Json size_entry(const SpecTrace& in, const whatif::Improvement& improvement) {
  Json json;
  json["optimisation"] = name_of(improvement.optimisation);
  if (improvement.pool.valid()) json["pool"] = in.trace.string(in.trace.pools[improvement.pool.index()].name);
  json["size"] = {{"before", improvement.size_before}, {"after", improvement.size_after}};
  return json;
}

base::Result<Candidate> select_size(const SpecTrace& in, const Json& entry, whatif::Optimisation optimisation) {
  Candidate candidate;
  candidate.improvement.optimisation = optimisation;
  const Json size = entry.value("size", Json::object());
  if (!size.is_object() || size.value("after", 0u) == 0) {
    return base::Error{fmt::format("{}: \"size\" with \"after\" is missing", name_of(optimisation))};
  }
  candidate.improvement.size_before = size.value("before", 0u);
  candidate.improvement.size_after = size.value("after", 0u);
  if (optimisation == whatif::Optimisation::cores) return candidate;
  const std::string name = entry.value("pool", "");
  for (uint32_t i = 0; i < in.trace.pools.size(); ++i) {
    if (in.trace.string(in.trace.pools[i].name) != name) continue;
    candidate.improvement.pool = candidate.pool = model::PoolId(i);
    return candidate;
  }
  return base::Error{fmt::format("{}: this recording has no pool '{}'", name_of(optimisation), name)};
}

}  // namespace contrafact::improve
