// How much work it is to make an improvement in the source, as far as its kind determines it.
#pragma once

#include <cstdint>
#include <string_view>

namespace contrafact::improve {

enum class Effort : uint8_t { setting, one_line, one_function, redesign, hardware };

// In words, short enough for a table.
constexpr std::string_view name_of(Effort effort) {
  switch (effort) {
    case Effort::setting:
      return "a setting";
    case Effort::one_line:
      return "one line";
    case Effort::one_function:
      return "one function";
    case Effort::redesign:
      return "a redesign";
    case Effort::hardware:
      return "hardware";
  }
  return "?";
}

}  // namespace contrafact::improve
