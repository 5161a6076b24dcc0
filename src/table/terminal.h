// What the stream that output goes to can show. Reads the environment and asks the kernel; thread-safe as getenv is.
#pragma once

#include "table/render.h"

namespace contrafact::table {

enum class Colour : uint8_t { automatic, always, never };

// The style for a file descriptor. Its width is COLUMNS, or else that of the terminal; without a terminal it is 120
// columns, and sentences are not wrapped. A terminal gets colour, unless NO_COLOR is set or TERM is dumb, and Unicode
// if the locale is UTF-8. Anything else gets plain text.
TextStyle style_for(int fd, Colour colour = Colour::automatic);

}  // namespace contrafact::table
