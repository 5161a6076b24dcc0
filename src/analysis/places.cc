#include "analysis/places.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <unordered_map>

namespace contrafact::analysis {
namespace {

std::string numbered(std::string_view name, size_t same_before) {
  return same_before == 0 ? std::string(name) : fmt::format("{} #{}", name, same_before + 1);
}

}  // namespace

model::ContextId place_of(const model::Trace& trace, model::ContextId context, std::span<const model::TaskId> tasks) {
  if (tasks.empty() || trace.has_program_frame(context)) return context;
  const model::ContextId made = trace.tasks[tasks.front().index()].create_context;
  return trace.has_program_frame(made) ? made : context;
}

std::string pool_name(const model::Trace& trace, model::PoolId pool) {
  if (!pool.valid()) return "-";
  const std::string_view name = trace.string(trace.pools[pool.index()].name);
  const auto before = std::span(trace.pools).first(pool.index());
  const auto is_same = [&](const format::PoolRow& other) { return trace.string(other.name) == name; };
  return numbered(name, static_cast<size_t>(std::ranges::count_if(before, is_same)));
}

std::vector<std::string> pool_names(const model::Trace& trace) {
  std::vector<std::string> names;
  std::unordered_map<std::string_view, size_t> seen;
  for (const format::PoolRow& pool : trace.pools) {
    const std::string_view name = trace.string(pool.name);
    names.push_back(numbered(name, seen[name]++));
  }
  return names;
}

}  // namespace contrafact::analysis
