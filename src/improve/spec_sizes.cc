#include <fmt/format.h>

#include "improve/spec_parts.h"
#include "model/processes.h"

namespace contrafact::improve {

namespace {

// The number of the pool among those with its name: from 0 on, in the order in which they were made.
uint32_t number_of(const model::Trace& trace, model::PoolId pool) {
  uint32_t number = 0;
  for (uint32_t i = 0; i < pool.index(); ++i) {
    number += model::pool_label(trace, model::PoolId(i)) == model::pool_label(trace, pool);
  }
  return number;
}

}  // namespace

Json size_entry(const SpecTrace& in, const whatif::Improvement& improvement) {
  Json json;
  json["optimisation"] = name_of(improvement.optimisation);
  if (!improvement.threads.empty()) json[improvement.is_resource ? "resource" : "threads"] = improvement.threads;
  if (improvement.pool.valid()) {
    json["pool"] = model::pool_label(in.trace, improvement.pool);
    json["number"] = number_of(in.trace, improvement.pool);
  }
  json["size"] = {{"before", improvement.size_before}, {"after", improvement.size_after}};
  return json;
}

base::Result<uint32_t> size_after(const Json& entry, const whatif::Optimisation* optimisation, uint32_t size_min) {
  const Json size = entry.value("size", Json::object());
  if (!size.is_object() || !size.contains("after")) {
    return base::Error{fmt::format("{}: \"size\" with \"after\" is missing", name_of(optimisation))};
  }
  constexpr uint64_t kSizeMax = 1'000'000;
  const Json& after = size["after"];
  if (!after.is_number_unsigned() || after.get<uint64_t>() < size_min || after.get<uint64_t>() > kSizeMax) {
    return base::Error{
        fmt::format("{}: \"after\" is no whole number from {} to {}", name_of(optimisation), size_min, kSizeMax)};
  }
  return after.get<uint32_t>();
}

base::Result<Candidate> select_size(const SpecTrace& in, const Json& entry, const whatif::Optimisation* optimisation) {
  Candidate candidate;
  candidate.improvement.optimisation = optimisation;
  const base::Result<uint32_t> after = size_after(entry, optimisation, 1);
  if (!after) return after.error();
  candidate.improvement.size_before = entry["size"].value("before", 0u);
  candidate.improvement.size_after = *after;
  if (target_of(optimisation) == whatif::Target::machine) return candidate;
  for (const char* const own : {"threads", "resource"}) {
    if (!entry.contains(own)) continue;
    candidate.improvement.threads = entry.value(own, "");
    candidate.improvement.is_resource = std::string_view(own) == "resource";
    return candidate;
  }
  const std::string name = entry.value("pool", "");
  const uint32_t number = entry.value("number", 0u);
  for (uint32_t i = 0; i < in.trace.pools.size(); ++i) {
    const model::PoolId pool(i);
    if (model::pool_label(in.trace, pool) != name || number_of(in.trace, pool) != number) continue;
    candidate.improvement.pool = candidate.pool = pool;
    return candidate;
  }
  return base::Error{fmt::format("{}: this recording has no pool '{}'", name_of(optimisation), name)};
}

}  // namespace contrafact::improve
