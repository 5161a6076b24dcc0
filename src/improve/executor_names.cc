#include "improve/executor_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "improve/expression_parts.h"

namespace contrafact::improve {
namespace {

// Whether a variable of this type of java.util.concurrent can hold such a pool.
bool may_hold(std::string_view type, format::PoolKind kind) {
  if (type == "Executor" || type == "ExecutorService") return true;
  switch (kind) {
    case format::PoolKind::fork_join:
      return type == "ForkJoinPool" || type == "AbstractExecutorService";
    case format::PoolKind::thread_pool:
      return type == "ThreadPoolExecutor" || type == "AbstractExecutorService";
    case format::PoolKind::scheduled_thread_pool:
      return type != "ForkJoinPool";
    case format::PoolKind::other:
      return type == "AbstractExecutorService";
    default:
      return false;
  }
}

// One entry of the fact `executors.CLASS`: "main 12-40 ExecutorService pool".
struct Variable {
  std::string_view method;
  uint32_t first_line = 0;
  uint32_t last_line = 0;
  std::string_view type;
  std::string_view name;
};

std::string_view next_word(std::string_view& text, char end) {
  const std::string_view word = text.substr(0, text.find(end));
  text.remove_prefix(std::min(text.size(), word.size() + 1));
  return word;
}

std::optional<uint32_t> number_of(std::string_view text) {
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

// Takes the first entry off the text. None: it is no entry, or the text was cut within it.
std::optional<Variable> take_variable(std::string_view& text) {
  const bool is_whole = text.find(';') != std::string_view::npos;
  std::string_view entry = next_word(text, ';');
  Variable variable;
  variable.method = next_word(entry, ' ');
  const auto first = number_of(next_word(entry, '-'));
  const auto last = number_of(next_word(entry, ' '));
  variable.type = next_word(entry, ' ');
  variable.name = entry;
  if (!is_whole || !first || !last || variable.name.empty()) return std::nullopt;
  variable.first_line = *first;
  variable.last_line = *last;
  return variable;
}

}  // namespace

std::string ExecutorNames::argument(model::PoolId pool, model::ContextId place) {
  if (pool.valid() && trace_.string(trace_.pools[pool.index()].name) == "ForkJoinPool.commonPool") return "";
  if (const std::string name = name_of(pool, place); !name.empty()) return ", " + name;
  const auto found = std::ranges::find(unnamed_, pool);
  const auto number = static_cast<size_t>(found - unnamed_.begin());
  if (found == unnamed_.end()) unnamed_.push_back(pool);
  return number == 0 ? ", executor" : fmt::format(", executor{}", number + 1);
}

// A member or a variable is not known to refer to the pool: it is the only one that the pool fits into. So it stands
// for one pool only.
std::string ExecutorNames::name_of(model::PoolId pool, model::ContextId place) {
  if (!pool.valid()) return "";
  if (std::string name = static_field(pool); !name.empty()) return name;
  std::vector<std::string> names = variables(pool, place);
  const std::string field = member(pool);
  if (!field.empty() && std::ranges::find(names, field) == names.end()) names.push_back(field);
  if (names.size() != 1) return "";
  const auto [taken, is_new] = guessed_.try_emplace(names.front(), pool);
  return taken->second == pool ? names.front() : "";
}

// Of "shop.Feed.POOL": "POOL" in shop.Feed and the classes within it, elsewhere "Feed.POOL".
std::string ExecutorNames::static_field(model::PoolId pool) const {
  const std::string_view field = trace_.fact(fmt::format("pool.field.{}", pool.value));
  const size_t dot = field.rfind('.');
  if (dot == std::string_view::npos) return std::string(field);
  const std::string_view holder = field.substr(0, dot);
  const std::string_view rest = user_.starts_with(holder) ? user_.substr(holder.size()) : ".";
  if (rest.empty() || rest.starts_with('$')) return std::string(field.substr(dot + 1));
  return simple_name(holder) + std::string(field.substr(dot));
}

// Of "shop.Feed.pool": "pool", but in shop.Feed alone: elsewhere one needs the object.
std::string ExecutorNames::member(model::PoolId pool) const {
  const std::string_view member = trace_.fact(fmt::format("pool.member.{}", pool.value));
  const size_t dot = member.rfind('.');
  return dot != std::string_view::npos && member.substr(0, dot) == user_ ? std::string(member.substr(dot + 1)) : "";
}

std::vector<std::string> ExecutorNames::variables(model::PoolId pool, model::ContextId place) const {
  std::vector<std::string> names;
  if (!place.valid()) return names;
  const format::ContextRow& at = trace_.contexts[place.index()];
  if (!at.method.valid()) return names;
  const format::MethodRow& method = trace_.methods[at.method.index()];
  std::string_view rest = trace_.fact(fmt::format("executors.{}", trace_.string(method.class_name)));
  while (!rest.empty()) {
    const auto variable = take_variable(rest);
    if (!variable || variable->method != trace_.string(method.name)) continue;
    if (at.line < variable->first_line || at.line > variable->last_line) continue;
    if (!may_hold(variable->type, trace_.pools[pool.index()].kind)) continue;
    if (std::ranges::find(names, variable->name) == names.end()) names.emplace_back(variable->name);
  }
  return names;
}

}  // namespace contrafact::improve
