// Text inside HTML or SVG.
#pragma once

#include <string>
#include <string_view>

namespace contrafact::table {

// Escaped for element content and attribute values; control characters made printable.
std::string escape_markup(std::string_view text);

}  // namespace contrafact::table
