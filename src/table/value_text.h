// Values as a person reads them: three significant digits, a fitting unit, nothing that could upset a terminal.
// Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "table/table.h"

namespace contrafact::table {

// "1.23 ms", "-", "12.1 -> 4" (an arrow and an ellipsis if `unicode`).
std::string cell_text(const Cell& cell, const Column& column, bool unicode);

std::string duration_text(double ns);    // "0 ns", "12.3 us", "4.56 s", "61 min"
std::string bytes_text(double bytes);    // "512 B", "3.4 MB" (powers of ten)
std::string number_text(double number);  // three significant digits, never in exponent form below 1e15
std::string count_text(int64_t count);   // "1 234 567"
// "1 wait", "12 345 waits"
std::string counted_text(uint64_t count, std::string_view one, std::string_view several);
std::string percent_text(double ratio);  // 0.123 -> "12.3 %"

// Control characters, line breaks and broken UTF-8 (thread and file names come from the recorded program) become '?'.
std::string printable(std::string_view text, bool unicode);

// Columns that the text takes on a terminal. REQUIRES: `text` is printable.
size_t display_width(std::string_view text);

// At most `width` columns, cut in the middle: "org.exam…Handler". Width below 3 cuts at the end.
std::string elide_middle(std::string_view text, size_t width, bool unicode);

// A qualified name, "java.util.HashMap.put(Object)" or "a::b::f<a::c>", in `width`: without its first parts, and cut in
// the middle only where the last one alone is too wide.
std::string elide_name(std::string_view text, size_t width, bool unicode);

// A place in the source, "at shop.Feed.load(Feed.java:41)" or "load (src/feed.cc:41)", in `width`: as far as needed, it
// loses its packages or folders, then the class, then a template's arguments, then a part of the function's name, then
// all but the file and line. These are cut only if they are too wide as well.
std::string elide_location(std::string_view text, size_t width, bool unicode);

// The width below which a cell of such a type loses more than packages, namespaces and folders.
size_t readable_width(std::string_view text, Type type);

// Several places, "f (a.cc:1), g (b.cc:2), and 3 more", in `width`: only the first, and how many more there are.
std::string elide_places(std::string_view text, size_t width, bool unicode);

}  // namespace contrafact::table
