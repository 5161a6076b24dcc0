#include "improve/observation.h"

#include <fmt/format.h>

namespace contrafact::improve {

bool is_little_observed(const Candidate& candidate) {
  constexpr uint64_t kEnough = 60;  // 3/60 is one in twenty
  return candidate.observed && *candidate.observed < kEnough && 2 * *candidate.observed < candidate.of_sections;
}

std::string little_observed_note(const Candidate& candidate) {
  if (!is_little_observed(candidate)) return "";
  return fmt::format("only {} of {} sections {} observed, and others may differ: record longer, or with --sets=always",
                     *candidate.observed, candidate.of_sections, *candidate.observed == 1 ? "was" : "were");
}

}  // namespace contrafact::improve
