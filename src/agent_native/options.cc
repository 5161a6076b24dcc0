#include "agent_native/options.h"

#include <algorithm>
#include <charconv>

#include "base/percent.h"

namespace contrafact::agent_native {
namespace {

template <typename Number>
bool parse_number(std::string_view text, Number& out) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

bool parse_flag(std::string_view text, bool& out) {
  out = text == "1";
  return text == "0" || text == "1";
}

// always, or WINDOW/PERIOD in nanoseconds.
bool parse_sets(Options& options, std::string_view value) {
  options.sets = true;
  if (value == "always") return true;
  const size_t slash = value.find('/');
  return slash != std::string_view::npos && parse_number(value.substr(0, slash), options.sets_window_ns) &&
         parse_number(value.substr(slash + 1), options.sets_period_ns) && options.sets_window_ns > 0 &&
         options.sets_period_ns >= options.sets_window_ns;
}

bool set(Options& options, std::string_view key, std::string_view value) {
  if (key == "control") {
    options.control = base::percent_decode(value);
    return !options.control.empty();
  }
  if (key == "preloaded") {
    options.preloaded = base::percent_decode(value);
    return !options.preloaded.empty();
  }
  if (key == "children") return parse_flag(value, options.children);
  if (key == "later") return parse_flag(value, options.later);
  if (key == "restricted") return parse_flag(value, options.restricted);
  if (key == "sets") return parse_sets(options, value);
  if (key == "accesses") return options.accesses = parse_sets(options, value);
  if (key == "sets_translate") return parse_flag(value, options.sets_translate);
  return false;
}

}  // namespace

base::Result<Options> parse_options(std::string_view text) {
  Options options;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    const size_t equals = item.find('=');
    const bool known =
        equals != std::string_view::npos && set(options, item.substr(0, equals), item.substr(equals + 1));
    if (!known) return base::Error{std::string(kOptionsVariable) + ": '" + std::string(item) + "' is no option"};
  }
  if (options.control.empty()) return base::Error{std::string(kOptionsVariable) + ": no recorder to report to"};
  return options;
}

std::string without_library(std::string_view preload, std::string_view library) {
  std::string out(preload.size(), 0);
  out.resize(copy_without(out.data(), preload, library));
  return out;
}

size_t copy_without(char* to, std::string_view preload, std::string_view library) {
  size_t used = 0;
  while (!preload.empty()) {
    const std::string_view item = preload.substr(0, preload.find_first_of(": "));
    preload.remove_prefix(std::min(preload.size(), item.size() + 1));
    if (item.empty() || item == library) continue;
    if (used > 0) to[used++] = ':';
    used += item.copy(to + used, item.size());
  }
  return used;
}

}  // namespace contrafact::agent_native
