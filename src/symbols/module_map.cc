#include "symbols/module_map.h"

#include <charconv>

namespace contrafact::symbols {
namespace {

std::string_view next_word(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(text.size(), word.size() + 1));
  return word;
}

template <typename Number>
bool parse(std::string_view word, Number& out, int base) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), out, base);
  return error == std::errc() && end == word.data() + word.size();
}

}  // namespace

bool parse_module(std::string_view text, Module& module) {
  const bool numbers = parse(next_word(text), module.loaded_ns, 10) && parse(next_word(text), module.unloaded_ns, 10) &&
                       parse(next_word(text), module.bias, 16) && parse(next_word(text), module.begin, 16) &&
                       parse(next_word(text), module.end, 16);
  if (!numbers) return false;
  module.build_id = next_word(text);
  if (module.build_id == "-") module.build_id.clear();
  module.path = text;
  return module.begin < module.end && !module.path.empty();
}

ModuleMap::ModuleMap(const model::Trace& trace) {
  for (const model::Fact& fact : trace.facts) {
    Module module;
    if (fact.key.starts_with("module.") && parse_module(fact.value, module)) modules_.push_back(std::move(module));
  }
  std::vector<AddressRange> ranges;
  ranges.reserve(modules_.size());
  for (const Module& module : modules_) ranges.push_back({module.begin, module.end});
  code_ = AddressOwners(ranges);
}

std::string system_library(std::string_view path, std::string_view executable) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const size_t end = name.find(".so");
  const bool in_system = path.starts_with("/lib") || path.starts_with("/usr/lib") || path.starts_with("/usr/local/lib");
  if (end == std::string_view::npos || !in_system) return "";
  const std::string_view home = executable.substr(0, executable.rfind('/') + 1);
  return home.starts_with("/usr/lib") && path.starts_with(home) ? "" : std::string(name.substr(0, end));
}

bool is_runtime(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  for (std::string_view prefix :
       {"libc.so", "libc-", "libpthread", "ld-linux", "libstdc++", "libc++", "libgcc_s", "libcontrafact_native"}) {
    if (name.starts_with(prefix)) return true;
  }
  return false;
}

}  // namespace contrafact::symbols
