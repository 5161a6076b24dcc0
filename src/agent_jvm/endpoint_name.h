// Names of what requests ask for, made of an HTTP method and a path. A path as a client sent it has parts that vary from
// request to request, and may say who somebody is: those become {}. What is left is short and plain ASCII.
//
// Pure; thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace contrafact::agent_jvm {

enum class PathKind : bool {
  sent,    // by a client
  pattern  // a program's or a framework's: kept, but for its query
};

// More of a path than this is not looked at.
inline constexpr size_t kPathBytesLooked = 1024;

// "GET /orders/{}/items". Without a method the path alone; a method that HTTP does not know is "?".
// Of a sent path: without the query, the fragment and what follows ';' in a segment; {} for a segment of more than 32 characters,
// with three digits or more, with eight hexadecimal digits that are not all letters, or with anything but letters, digits and
// `.`, `_`, `-`, `~`; at most eight segments, then `...`.
std::string endpoint_name(std::string_view method, std::string_view path, PathKind kind);

}  // namespace contrafact::agent_jvm
