#include "agent_native/options.h"

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
  if (key == "output") {
    options.output = base::percent_decode(value);
    return !options.output.empty();
  }
  if (key == "memory") return parse_number(value, options.memory_bytes_max);
  if (key == "children") return parse_flag(value, options.children);
  if (key == "cpu_switches") return parse_flag(value, options.cpu_switches);
  if (key == "clock") {
    options.kernel_clock = value == "kernel";
    return options.kernel_clock;
  }
  if (key == "sets") return parse_sets(options, value);
  if (key == "accesses") return options.accesses = parse_sets(options, value);
  if (key == "sets_translate") return parse_flag(value, options.sets_translate);
  if (key == "process") return parse_number(value, options.process);
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
  if (options.output.empty()) return base::Error{std::string(kOptionsVariable) + ": no output"};
  return options;
}

std::string print_options(const Options& options) {
  std::string text =
      "output=" + base::percent_encode(options.output) + ",memory=" + std::to_string(options.memory_bytes_max);
  if (options.children) text += ",children=1";
  if (!options.cpu_switches) text += ",cpu_switches=0";
  if (options.kernel_clock) text += ",clock=kernel";
  const std::string which = options.accesses ? ",accesses=" : ",sets=";
  if (options.sets && options.sets_period_ns == 0) text += which + "always";
  if (options.sets && options.sets_period_ns != 0) {
    text += which + std::to_string(options.sets_window_ns) + "/" + std::to_string(options.sets_period_ns);
  }
  if (!options.sets_translate) text += ",sets_translate=0";
  if (options.process != 0) text += ",process=" + std::to_string(options.process);
  return text;
}

std::string without_library(std::string_view preload, std::string_view library) {
  std::string out;
  while (!preload.empty()) {
    const std::string_view item = preload.substr(0, preload.find_first_of(": "));
    preload.remove_prefix(std::min(preload.size(), item.size() + 1));
    if (item.empty() || item == library) continue;
    if (!out.empty()) out += ':';
    out += item;
  }
  return out;
}

}  // namespace contrafact::agent_native
