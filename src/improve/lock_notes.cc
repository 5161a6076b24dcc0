#include "improve/lock_notes.h"

#include <fmt/format.h>

#include "improve/observation.h"
#include "improve/section_change.h"

namespace contrafact::improve {

std::vector<std::string> lock_notes(const model::Trace& trace, const Candidate& candidate) {
  const SectionChange& kind = section_change_of(candidate.improvement);
  std::vector<std::string> notes;
  if (std::string little = little_observed_note(candidate); !little.empty()) notes.push_back(std::move(little));
  if (candidate.unknown > 0) notes.push_back(sections_text(candidate.unknown) + " not known");
  kind.add_notes(trace, candidate, notes);
  if (!candidate.guarded_at.empty())
    notes.push_back(
        fmt::format("the shared data is guarded inside, too, by the lock of {}: keep the outer one where several such "
                    "calls have to "
                    "be one step",
                    candidate.guarded_at));
  if (candidate.is_guard_made)
    notes.push_back(fmt::format(
        "{} seems to make that lock of a mutex and a word: look whether it excludes others until it is released",
        candidate.guarded_at));
  kind.add_directions(candidate, notes);
  return notes;
}

}  // namespace contrafact::improve
