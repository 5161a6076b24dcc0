#include "cli/record_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/glob.h"

namespace contrafact::cli {

namespace {

base::Status check_pattern(std::string_view pattern) {
  if (!pattern.empty() && pattern.find_first_of(" \t\r\n/,;") == std::string_view::npos) return {};
  return base::Error{
      fmt::format("'{}' is no pattern; write packages, classes and methods with dots: shop.api.*", pattern)};
}

std::string_view trimmed(std::string_view text) {
  size_t begin = text.find_first_not_of(" \t\r"), end = text.find_last_not_of(" \t\r");
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin, end - begin + 1);
}

// "method=1" or "path=2.getUri"
bool is_endpoint_part(std::string_view word) {
  for (const std::string_view name : {"method=", "path="}) {
    if (word.starts_with(name) && word.size() > name.size()) {
      const char first = word[name.size()];
      return first >= '1' && first <= '9';
    }
  }
  return false;
}

// Behind `endpoint`: a pattern, and what names the endpoint.
base::Status check_endpoint(std::string_view words) {
  words = trimmed(words);
  const std::string_view pattern = words.substr(0, words.find_first_of(" \t"));
  if (base::Status good = check_pattern(pattern); !good) return good;
  for (words = trimmed(words.substr(pattern.size())); !words.empty();) {
    const std::string_view word = words.substr(0, words.find_first_of(" \t"));
    if (!is_endpoint_part(word))
      return base::Error{fmt::format("'{}' does not name an endpoint; write method=1 or path=2.getUri", word)};
    words = trimmed(words.substr(word.size()));
  }
  return {};
}

bool is_member_name(std::string_view text) {
  return !text.empty() && text.find_first_of(".*=/;()[] ") == std::string_view::npos;
}

// "acquire,tryAcquire"; nothing: that is none.
std::vector<std::string_view> method_names(std::string_view text) {
  std::vector<std::string_view> names;
  for (size_t from = 0; from <= text.size();) {
    const std::string_view name = text.substr(from, text.find(',', from) - from);
    if (!is_member_name(name)) return {};
    names.push_back(name);
    from += name.size() + 1;
  }
  return names;
}

// "8", not 0, or the name of a field or a getter.
bool is_pool_size(std::string_view text) {
  const bool is_number = !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  if (is_number) return text[0] != '0' && text.size() <= 9;
  return is_member_name(text) && (text[0] < '0' || text[0] > '9');
}

// Behind `resource`: a class, and what takes from its objects and gives back.
base::Status check_resource(std::string_view words) {
  words = trimmed(words);
  const std::string_view pattern = words.substr(0, words.find_first_of(" \t"));
  if (base::Status good = check_pattern(pattern); !good) return good;
  std::vector<std::string_view> takes, gives;
  for (words = trimmed(words.substr(pattern.size())); !words.empty();) {
    const std::string_view word = words.substr(0, words.find_first_of(" \t"));
    std::vector<std::string_view>* methods = word.starts_with("take=")   ? &takes
                                             : word.starts_with("give=") ? &gives
                                                                         : nullptr;
    if (methods) *methods = method_names(word.substr(5));
    if (methods ? methods->empty() : !word.starts_with("size=") || !is_pool_size(word.substr(5)))
      return base::Error{fmt::format("'{}' is not part of a resource; write take=METHOD, give=METHOD or size=N", word)};
    words = trimmed(words.substr(word.size()));
  }
  if (takes.empty() || gives.empty())
    return base::Error{fmt::format("'{}' needs its methods that take and give: resource {} take=METHOD give=METHOD",
                                   pattern, pattern)};
  const auto both = std::ranges::find_first_of(takes, gives);
  return both == takes.end() ? base::Status() : base::Error{fmt::format("'{}' cannot both take and give", *both)};
}

// A line of a trace configuration: `include PATTERN`, `exclude PATTERN`, `endpoint PATTERN ...`, `resource CLASS ...`, or
// nothing but a comment.
base::Status check_line(std::string_view line) {
  line = trimmed(line.substr(0, line.find('#')));
  if (line.empty()) return {};
  std::string_view word = line.substr(0, line.find_first_of(" \t"));
  if (word == "endpoint") return check_endpoint(line.substr(word.size()));
  if (word == "resource") return check_resource(line.substr(word.size()));
  if (word != "include" && word != "exclude") {
    return base::Error{fmt::format("'{}' is neither include, exclude, endpoint nor resource with a pattern", line)};
  }
  return check_pattern(trimmed(line.substr(word.size())));
}

}  // namespace

base::Status check_classes(const std::vector<std::string>& patterns) {
  // What every program runs all the time, and our probes with it.
  constexpr std::string_view kTooWide[] = {"java.lang.String", "java.util.HashMap", "jdk.internal.misc.Unsafe"};
  for (const std::string& pattern : patterns) {
    if (base::Status good = check_pattern(pattern); !good) return good;
    const auto chosen =
        std::ranges::find_if(kTooWide, [&](std::string_view name) { return base::matches_glob(pattern, name); });
    if (chosen == std::end(kTooWide)) continue;
    return base::Error{fmt::format(
        "--classes '{}' takes classes that everything stands on, such as {}; choose the program's packages: 'shop.*'",
        pattern, *chosen)};
  }
  return {};
}

base::Status check_trace_config(const std::string& path, const std::vector<std::string>& include,
                                const std::vector<std::string>& exclude) {
  for (const auto* patterns : {&include, &exclude}) {
    for (const std::string& pattern : *patterns) {
      if (base::Status good = check_pattern(pattern); !good) return good;
    }
  }
  if (path.empty()) return {};
  base::Result<std::string> text = base::read_text_file(path);
  if (!text) return text.error();
  size_t number = 0;
  for (std::string_view rest = *text; !rest.empty();) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    ++number;
    if (base::Status good = check_line(line); !good) {
      return base::Error{fmt::format("{}: line {}: {}", path, number, good.error().message)};
    }
  }
  return {};
}

}  // namespace contrafact::cli
