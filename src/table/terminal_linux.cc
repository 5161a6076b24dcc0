#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "table/terminal.h"

namespace contrafact::table {
namespace {

constexpr size_t kWidthUnknown = 80;     // of a terminal
constexpr size_t kWidthElsewhere = 120;  // of a pipe or a file: whoever reads it sees it on some screen
constexpr size_t kWidthMinimum = 40;

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string_view value = variable(name);
    if (value.empty()) continue;
    return value.find("UTF-8") != std::string_view::npos || value.find("utf8") != std::string_view::npos;
  }
  return false;
}

// None where there is no terminal, and COLUMNS is not set.
std::optional<size_t> width_of(int fd, bool terminal) {
  if (int columns = std::atoi(std::string(variable("COLUMNS")).c_str()); columns > 0) {
    return std::max<size_t>(static_cast<size_t>(columns), kWidthMinimum);
  }
  if (!terminal) return std::nullopt;
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kWidthUnknown;
  return std::max<size_t>(size.ws_col, kWidthMinimum);
}

}  // namespace

TextStyle style_for(int fd, Colour colour) {
  TextStyle style;
  style.colour = colour == Colour::always;
  const bool terminal = ::isatty(fd) != 0;
  const std::optional<size_t> width = width_of(fd, terminal);
  style.width = width.value_or(kWidthElsewhere);
  style.prose = width.value_or(0);
  if (!terminal) return style;
  style.unicode = locale_is_utf8();
  if (colour == Colour::automatic) style.colour = variable("NO_COLOR").empty() && variable("TERM") != "dumb";
  style.links = variable("TERM") != "dumb";
  return style;
}

}  // namespace contrafact::table
