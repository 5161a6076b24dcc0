// SectionChange: a kind of change of critical sections.
#pragma once

#include <vector>

#include "base/check.h"
#include "improve/kind.h"

namespace contrafact::improve {

class LockSearch;

class SectionChange : public Kind {
 public:
  // Looks for candidates at the locks that are searched, or adds the reason why there are none.
  virtual void find(LockSearch& search) const = 0;
  // The kind's turn among the kinds that look at a lock: of equally good candidates, the one of the earlier turn stays
  // in front.
  int turn() const { return turn_; }

  // How to make it, one sentence each, after the directions for all kinds.
  virtual void add_directions(const Candidate& /*candidate*/, std::vector<std::string>& /*notes*/) const {}

 protected:
  constexpr SectionChange(std::string_view name, Effort effort, int steps, int turn)
      : Kind(name, whatif::Target::sections, whatif::Treatment::keep, effort, steps), turn_(turn) {}

 private:
  const int turn_;
};

// REQUIRES: as kind_of, and of sections.
inline const SectionChange& section_change_of(const whatif::Improvement& improvement) {
  CHECK(target_of(improvement.optimisation) == whatif::Target::sections);
  return static_cast<const SectionChange&>(*improvement.optimisation);
}

// "3 sections"
inline std::string sections_text(uint64_t count) {
  return std::to_string(count) + (count == 1 ? " section" : " sections");
}

}  // namespace contrafact::improve
