#include "agent_jvm/trace_config.h"

#include <algorithm>
#include <charconv>

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

// "2.getUri"
bool read_part(std::string_view text, EndpointPart& part) {
  const size_t dot = text.find('.');
  const std::string_view number = text.substr(0, dot);
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), part.argument);
  if (error != std::errc() || end != number.data() + number.size() || part.argument == 0) return false;
  if (dot != std::string_view::npos) part.getter = text.substr(dot + 1);
  return dot == std::string_view::npos || !part.getter.empty();
}

bool is_name(std::string_view text) {
  return !text.empty() && text.find_first_of(".*=/;()[] ") == std::string_view::npos;
}

// "acquire,tryAcquire"
bool read_names(std::string_view text, std::vector<std::string>& names) {
  for (bool more = true; more;) {
    const size_t comma = text.find(',');
    const std::string_view name = text.substr(0, comma);
    if (!is_name(name)) return false;
    names.emplace_back(name);
    more = comma != std::string_view::npos;
    if (more) text.remove_prefix(comma + 1);
  }
  return true;
}

// "8", "maxSize" or "getMaxSize"; a number is a count.
bool read_size(std::string_view text, std::string& size) {
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  if (!is_name(text) || (is_number ? number == 0 || number > INT32_MAX : text[0] >= '0' && text[0] <= '9'))
    return false;
  size = text;
  return true;
}

// What is before a pattern's first star agrees with the class's name, as far as both go.
bool may_match_in(std::string_view pattern, std::string_view class_name, std::string_view qualified) {
  const std::string_view fixed = pattern.substr(0, pattern.find('*'));
  const size_t common = std::min(fixed.size(), qualified.size());
  return base::matches_glob(pattern, class_name) || fixed.substr(0, common) == qualified.substr(0, common);
}

}  // namespace

base::Status TraceConfig::add_endpoint(std::string_view words) {
  EndpointRule rule;
  for (words = trim(words); !words.empty();) {
    const std::string_view word = words.substr(0, words.find_first_of(" \t"));
    words = trim(words.substr(word.size()));
    const bool is_good = rule.pattern.empty() ? (rule.pattern = word, true)
                         : word.starts_with("method=")
                             ? read_part(word.substr(7), rule.method)
                             : word.starts_with("path=") && read_part(word.substr(5), rule.path);
    if (!is_good)
      return base::Error{"expected 'method=N', 'path=N' or these with '.GETTER', got '" + std::string(word) + "'"};
  }
  if (rule.pattern.empty()) return base::Error{"expected 'endpoint PATTERN'"};
  if (rule.method.argument > 0 && rule.path.argument == 0)
    return base::Error{"an endpoint with method=N needs path=N, too"};
  endpoints_.push_back(std::move(rule));
  return {};
}

base::Status TraceConfig::add_resource(std::string_view words) {
  ResourceRule rule;
  for (words = trim(words); !words.empty();) {
    const std::string_view word = words.substr(0, words.find_first_of(" \t"));
    words = trim(words.substr(word.size()));
    const bool is_good =
        rule.pattern.empty()        ? word.find_first_of("=/,") == std::string_view::npos && (rule.pattern = word, true)
        : word.starts_with("take=") ? read_names(word.substr(5), rule.takes)
        : word.starts_with("give=") ? read_names(word.substr(5), rule.gives)
                                    : word.starts_with("size=") && read_size(word.substr(5), rule.size);
    if (!is_good)
      return base::Error{"expected 'CLASS take=METHOD,... give=METHOD,... [size=N, FIELD or GETTER]', got '" +
                         std::string(word) + "'"};
  }
  if (rule.takes.empty() || rule.gives.empty())
    return base::Error{"a resource needs a class, take=METHOD and give=METHOD"};
  for (const std::string& take : rule.takes) {
    if (std::ranges::find(rule.gives, take) != rule.gives.end())
      return base::Error{"'" + take + "' cannot both take and give"};
  }
  resources_.push_back(std::move(rule));
  return {};
}

std::optional<base::Status> TraceConfig::add_rule(std::string_view verb, std::string_view words) {
  if (verb == "endpoint") return add_endpoint(words);
  if (verb == "resource") return add_resource(words);
  return std::nullopt;
}

base::Status TraceConfig::add_lines(std::string_view text) {
  for (size_t line_number = 1; !text.empty(); ++line_number) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    line = trim(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const size_t space = line.find_first_of(" \t");
    const std::string_view verb = line.substr(0, space);
    if (const auto added = add_rule(verb, line.substr(verb.size()))) {
      if (!*added) return base::Error{"line " + std::to_string(line_number) + ": " + added->error().message};
      continue;
    }
    const std::string_view pattern = space == std::string_view::npos ? std::string_view() : trim(line.substr(space));
    if (pattern.empty() || pattern.find_first_of(" \t") != std::string_view::npos ||
        (verb != "include" && verb != "exclude")) {
      return base::Error{
          "line " + std::to_string(line_number) +
          ": expected 'include PATTERN', 'exclude PATTERN', 'endpoint PATTERN' or 'resource CLASS', got '" +
          std::string(line) + "'"};
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
  std::string qualified(class_name);
  qualified += '.';
  return std::any_of(include_.begin(), include_.end(),
                     [&](const std::string& pattern) { return may_match_in(pattern, class_name, qualified); });
}

bool TraceConfig::may_have_endpoint(std::string_view class_name) const {
  if (endpoints_.empty() || is_never_chosen(class_name)) return false;
  const std::string qualified = std::string(class_name) + '.';
  return std::ranges::any_of(
      endpoints_, [&](const EndpointRule& rule) { return may_match_in(rule.pattern, class_name, qualified); });
}

const EndpointRule* TraceConfig::endpoint(std::string_view class_name, std::string_view method) const {
  if (endpoints_.empty() || is_never_chosen(class_name) || method == "<clinit>") return nullptr;
  const std::string qualified = std::string(class_name) + '.' + std::string(method);
  const auto found = std::ranges::find_if(
      endpoints_, [&](const EndpointRule& rule) { return base::matches_glob(rule.pattern, qualified); });
  return found == endpoints_.end() ? nullptr : &*found;
}

const ResourceRule* TraceConfig::resource(std::string_view class_name) const {
  if (resources_.empty() || is_never_chosen(class_name)) return nullptr;
  const auto found = std::ranges::find_if(
      resources_, [&](const ResourceRule& rule) { return base::matches_glob(rule.pattern, class_name); });
  return found == resources_.end() ? nullptr : &*found;
}

bool TraceConfig::chooses(std::string_view class_name, std::string_view method) const {
  std::string qualified(class_name);
  qualified.append(".").append(method);
  return any_matches(include_, class_name, qualified) && !any_matches(exclude_, class_name, qualified);
}

}  // namespace contrafact::agent_jvm
