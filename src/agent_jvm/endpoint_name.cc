#include "agent_jvm/endpoint_name.h"

#include <algorithm>

namespace contrafact::agent_jvm {
namespace {

constexpr std::string_view kMethods[] = {"GET",    "POST",    "PUT",       "DELETE", "HEAD", "OPTIONS", "PATCH",
                                         "TRACE",  "CONNECT", "PROPFIND",  "COPY",   "MOVE", "LOCK",    "UNLOCK",
                                         "REPORT", "SEARCH",  "PROPPATCH", "MKCOL",  "QUERY"};
constexpr std::string_view kVaries = "{}";
constexpr size_t kSegmentBytesMax = 32;
constexpr size_t kSegmentsMax = 8;
constexpr size_t kPatternBytesMax = 128;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_hexadecimal(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool may_stay(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '_' || c == '-' ||
         c == '~';
}

bool varies(std::string_view segment) {
  constexpr int kDigitsMin = 3;
  constexpr size_t kHexadecimalMin = 8;
  const auto digits = std::ranges::count_if(segment, is_digit);
  return segment.size() > kSegmentBytesMax || !std::ranges::all_of(segment, may_stay) || digits >= kDigitsMin ||
         (digits > 0 && static_cast<size_t>(digits) == segment.size()) ||
         (digits > 0 && segment.size() >= kHexadecimalMin && std::ranges::all_of(segment, is_hexadecimal));
}

std::string of_sent(std::string_view path) {
  // "http://host/path", as proxies are asked.
  if (const size_t scheme = path.find("://"); scheme != std::string_view::npos && path.find('/') == scheme + 1) {
    const size_t begin = path.find('/', scheme + 3);
    path = begin == std::string_view::npos ? std::string_view("/") : path.substr(begin);
  }
  std::string name;
  size_t segments = 0;
  while (!path.empty()) {
    path.remove_prefix(path.front() == '/');
    const size_t end = std::min(path.find('/'), path.size());
    std::string_view segment = path.substr(0, end);
    path.remove_prefix(end);
    segment = segment.substr(0, segment.find(';'));
    if (segments++ == kSegmentsMax) return name + "/...";
    name += '/';
    name += varies(segment) ? kVaries : segment;
  }
  return name.empty() ? "/" : name;
}

std::string of_pattern(std::string_view path) {
  std::string name(path.substr(0, kPatternBytesMax));
  for (char& c : name) {
    if (c < ' ' || c > '~') c = '?';
  }
  return name.empty() ? "/" : name;
}

}  // namespace

std::string endpoint_name(std::string_view method, std::string_view path, PathKind kind) {
  path = path.substr(0, kPathBytesLooked);
  path = path.substr(0, path.find_first_of("?#"));
  std::string name;
  if (!method.empty()) {
    name = std::ranges::find(kMethods, method) == std::end(kMethods) ? "?" : method;
    name += ' ';
  }
  return name + (kind == PathKind::sent ? of_sent(path) : of_pattern(path));
}

}  // namespace contrafact::agent_jvm
