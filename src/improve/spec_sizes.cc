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
  if (!size.is_object() || !size.contains("after")) {
    return base::Error{fmt::format("{}: \"size\" with \"after\" is missing", name_of(optimisation))};
  }
  constexpr uint64_t kSizeMax = 1'000'000;
  const Json& after = size["after"];
  if (!after.is_number_unsigned() || after.get<uint64_t>() == 0 || after.get<uint64_t>() > kSizeMax) {
    return base::Error{fmt::format("{}: \"after\" is no whole number from 1 to {}", name_of(optimisation), kSizeMax)};
  }
  candidate.improvement.size_before = size.value("before", 0u);
  candidate.improvement.size_after = after.get<uint32_t>();
  if (optimisation == whatif::Optimisation::cores) return candidate;
  const std::string name = entry.value("pool", "");
  for (uint32_t i = 0; i < in.trace.pools.size(); ++i) {
    if (in.trace.string(in.trace.pools[i].name) != name) continue;
    if (candidate.pool.valid()) {
      return base::Error{fmt::format("{}: this recording has several pools '{}'", name_of(optimisation), name)};
    }
    candidate.improvement.pool = candidate.pool = model::PoolId(i);
  }
  if (candidate.pool.valid()) return candidate;
  return base::Error{fmt::format("{}: this recording has no pool '{}'", name_of(optimisation), name)};
}

}  // namespace contrafact::improve
