// What the stream that output goes to can show. Reads the environment and asks the kernel; thread-safe as getenv is.
#pragma once

#include "table/render.h"

namespace contrafact::table {

enum class Colour : uint8_t { automatic, always, never };

// The style for a file descriptor: COLUMNS wide, or else as wide as the terminal, or 120 columns where there is none;
// there sentences are not wrapped.
// Plain for what is no terminal; on one, colour unless NO_COLOR is set or TERM is dumb, and Unicode if the locale is
// UTF-8.
TextStyle style_for(int fd, Colour colour = Colour::automatic);

}  // namespace contrafact::table
