#include "agent_jvm/trace_config.h"

#include <algorithm>

#include "base/glob.h"

namespace contrafact::agent_jvm {
namespace {

// The probes themselves call these on every event: a probe there would call itself. The same holds for classes that
// load before the injected ones can.
constexpr std::string_view kNever[] = {
    "java.lang.Contrafact*", "java.lang.Object",    "java.lang.System",        "java.lang.Thread",
    "java.lang.ref.*",       "jdk.internal.misc.*", "java.lang.VirtualThread", "java.lang.Math",
};

bool is_never_chosen(std::string_view class_name) {
  return std::ranges::any_of(kNever, [&](std::string_view never) { return base::matches_glob(never, class_name); });
}

bool any_matches(const std::vector<std::string>& patterns, std::string_view class_name, std::string_view qualified) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    return base::matches_glob(pattern, class_name) || base::matches_glob(pattern, qualified);
  });
}

std::string_view trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

}  // namespace

base::Status TraceConfig::add_lines(std::string_view text) {
  for (size_t line_number = 1; !text.empty(); ++line_number) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    line = trim(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const size_t space = line.find_first_of(" \t");
    const std::string_view verb = line.substr(0, space);
    const std::string_view pattern = space == std::string_view::npos ? std::string_view() : trim(line.substr(space));
    if (pattern.empty() || pattern.find_first_of(" \t") != std::string_view::npos ||
        (verb != "include" && verb != "exclude")) {
      return base::Error{"line " + std::to_string(line_number) +
                         ": expected 'include PATTERN' or 'exclude PATTERN', got '" + std::string(line) + "'"};
    }
    verb == "include" ? add_include(std::string(pattern)) : add_exclude(std::string(pattern));
  }
  return {};
}

bool TraceConfig::may_choose_from(std::string_view class_name) const {
  return !is_never_chosen(class_name) && may_match(class_name);
}

bool TraceConfig::chooses_class(std::string_view class_name) const {
  return !include_.empty() && !is_never_chosen(class_name) && any_matches(include_, class_name, class_name);
}

bool TraceConfig::may_match(std::string_view class_name) const {
  // What is before a pattern's first star must agree with the class's name, as far as both go.
  std::string qualified(class_name);
  qualified += '.';
  return std::any_of(include_.begin(), include_.end(), [&](const std::string& pattern) {
    const std::string_view fixed = std::string_view(pattern).substr(0, pattern.find('*'));
    const size_t common = std::min(fixed.size(), qualified.size());
    return base::matches_glob(pattern, class_name) ||
           fixed.substr(0, common) == std::string_view(qualified).substr(0, common);
  });
}

bool TraceConfig::chooses(std::string_view class_name, std::string_view method) const {
  std::string qualified(class_name);
  qualified.append(".").append(method);
  return any_matches(include_, class_name, qualified) && !any_matches(exclude_, class_name, qualified);
}

}  // namespace contrafact::agent_jvm
