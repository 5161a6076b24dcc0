// Kind: an optimisation with all that belongs to it. src/improve/kinds has one file for each kind. Only that file says
//
//   its name, and what it does to a variant, or why it cannot     whatif::Optimisation
//   how much work it is, and its words                            Kind
//   where it is worth pricing, and its members of a spec          TaskChange (task_change.h),
//                                                                 SectionChange (section_change.h)
//
// kinds/kinds.h lists them. A kind is immutable and made at compile time.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "improve/candidate.h"
#include "improve/effort.h"
#include "model/trace.h"

namespace contrafact::improve {

class Kind : public whatif::Optimisation {
 public:
  // The work of making the candidate in the source.
  virtual Effort effort(const Candidate& /*candidate*/) const { return effort_; }
  // Finer than the effort: of two equally good improvements, the one with fewer steps is the simpler change.
  int steps() const { return steps_; }

  // The candidate's name in a table: "split-lock into 4".
  virtual std::string title(const Candidate& /*candidate*/) const { return std::string(name()); }
  // The part of a title beyond the name, for the table's legend: "(into how many)"; empty: none.
  virtual std::string_view legend() const { return ""; }
  // Facts to know before making the candidate, one sentence each.
  virtual void add_notes(const model::Trace& /*trace*/, const Candidate& /*candidate*/,
                         std::vector<std::string>& /*notes*/) const {}

 protected:
  constexpr Kind(std::string_view name, whatif::Target target, whatif::Treatment treatment, Effort effort, int steps)
      : Optimisation(name, target, treatment), effort_(effort), steps_(steps) {}

 private:
  const Effort effort_;
  const int steps_;
};

// REQUIRES: the optimisation is one of kinds/kinds.h, as all are but those of the engines' tests.
inline const Kind& kind_of(const whatif::Improvement& improvement) {
  return static_cast<const Kind&>(*improvement.optimisation);
}

}  // namespace contrafact::improve
