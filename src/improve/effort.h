// How much work it is to make an improvement in the source, as far as its kind tells. Pure.
#pragma once

#include <string_view>

#include "improve/candidate.h"

namespace contrafact::improve {

enum class Effort : uint8_t { setting, one_line, one_function, redesign, hardware };

constexpr Effort effort_of(whatif::Optimisation optimisation) {
  using whatif::Optimisation;
  switch (optimisation) {
    case Optimisation::pool_size:
      return Effort::setting;
    case Optimisation::convert_to_inline:
    case Optimisation::drop_lock:
      return Effort::one_line;
    case Optimisation::inline_at_wait:
    case Optimisation::hoist_branch:
    case Optimisation::shorten_section:
    case Optimisation::reader_writer_lock:
    case Optimisation::shared_look:
      return Effort::one_function;
    case Optimisation::convert_to_combinator:
    case Optimisation::split_lock:
    case Optimisation::make_atomic:
      return Effort::redesign;
    case Optimisation::cores:
      return Effort::hardware;
  }
  return Effort::redesign;
}

// A lock that only some sections of its place can do without needs a test of which, where it is dropped.
inline Effort effort_of(const Candidate& candidate) {
  const whatif::Improvement& improvement = candidate.improvement;
  const bool is_part = improvement.optimisation == whatif::Optimisation::drop_lock &&
                       improvement.sections.size() < candidate.of_sections;
  return is_part ? Effort::one_function : effort_of(improvement.optimisation);
}

// In words, as a table has room for.
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

// Finer: of two improvements as good as each other, that of fewer steps is the simpler change.
constexpr int steps_of(whatif::Optimisation optimisation) {
  using whatif::Optimisation;
  switch (optimisation) {
    case Optimisation::pool_size:
    case Optimisation::drop_lock:
      return 0;
    case Optimisation::convert_to_inline:
    case Optimisation::shorten_section:
      return 1;
    case Optimisation::inline_at_wait:
    case Optimisation::hoist_branch:
    case Optimisation::reader_writer_lock:
      return 2;
    case Optimisation::shared_look:
    case Optimisation::split_lock:
    case Optimisation::convert_to_combinator:
      return 3;
    case Optimisation::make_atomic:
      return 4;
    case Optimisation::cores:
      return 5;
  }
  return 5;
}

}  // namespace contrafact::improve
