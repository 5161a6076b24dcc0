#include "analysis/places.h"

#include <fmt/format.h>

#include <charconv>
#include <cstddef>
#include <string_view>
#include <system_error>
#include <unordered_map>

#include "model/processes.h"

namespace contrafact::analysis {
namespace {

// The field that holds each pool, "shop.Feed.POOL"; "" where none is known.
std::vector<std::string_view> pool_fields(const model::Trace& trace) {
  std::vector<std::string_view> fields(trace.pools.size());
  for (const auto& [key, value] : trace.facts) {
    std::string_view rest = key;
    if (!rest.starts_with("pool.field.") && !rest.starts_with("pool.member.")) continue;
    rest.remove_prefix(rest.rfind('.') + 1);
    size_t pool = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), pool);
    if (error == std::errc() && end == rest.data() + rest.size() && pool < fields.size()) fields[pool] = value;
  }
  return fields;
}

// The text behind the last `separator`; the whole text where there is none.
std::string_view after_last(std::string_view text, char separator) {
  return text.substr(text.rfind(separator) + 1);
}

// `Feed.POOL (pool-1-thread-)` of "java.util.concurrent.ThreadPoolExecutor pool-1-thread-" held by "shop.Feed.POOL":
// the recorded name is the class and the threads' prefix, or the class alone.
std::string name_in_source(std::string_view recorded, std::string_view field) {
  const size_t dot = field.rfind('.');
  if (dot == std::string_view::npos) return std::string(recorded);
  const size_t space = recorded.find(' ');
  const std::string_view shown =
      space == std::string_view::npos ? after_last(recorded, '.') : recorded.substr(space + 1);
  return fmt::format("{}{} ({})", after_last(field.substr(0, dot), '.'), field.substr(dot), shown);
}

}  // namespace

model::ContextId place_of(const model::Trace& trace, model::ContextId context, std::span<const model::TaskId> tasks) {
  if (tasks.empty() || trace.has_program_frame(context)) return context;
  const model::ContextId made = trace.tasks[tasks.front().index()].create_context;
  return trace.has_program_frame(made) ? made : context;
}

std::string pool_name(const model::Trace& trace, model::PoolId pool) {
  return pool.valid() ? pool_names(trace)[pool.index()] : "-";
}

model::ContextId pool_maker(const model::Trace& trace, model::PoolId pool) {
  if (!pool.valid()) return {};
  const std::string_view text = trace.fact(fmt::format("pool.made.{}", pool.value));
  uint32_t context = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), context);
  const bool is_one = !text.empty() && error == std::errc() && end == text.data() + text.size();
  return is_one && context < trace.contexts.size() ? model::ContextId(context) : model::ContextId();
}

std::vector<std::string> pool_names(const model::Trace& trace) {
  const std::vector<std::string_view> fields = pool_fields(trace);
  std::vector<std::string> names;
  std::unordered_map<std::string, size_t> seen;
  for (size_t i = 0; i < trace.pools.size(); ++i) {
    std::string name = model::with_process(trace, model::process_of(trace, model::PoolId(static_cast<uint32_t>(i))),
                                           name_in_source(trace.string(trace.pools[i].name), fields[i]));
    const size_t same_before = seen[name]++;
    names.push_back(same_before == 0 ? std::move(name) : fmt::format("{} #{}", name, same_before + 1));
  }
  return names;
}

}  // namespace contrafact::analysis
