// MoveChange: a kind of change of when a task does something: waits for what it has handed out, gives a permit back.
//
// Such a change is found anew in each recording, so a spec names only its place.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "improve/kind.h"

namespace contrafact::improve {

struct SpecTrace;

class MoveChange : public Kind {
 public:
  // Adds the candidates of this kind, those that change most first.
  virtual void find(const model::Trace& trace, std::vector<Candidate>& candidates) const = 0;
  // The members of a spec that name the candidate's place, and whether an entry names it.
  virtual void write_place(const whatif::Improvement& improvement, const model::Trace& trace,
                           nlohmann::ordered_json& json) const = 0;
  virtual bool is_named(const nlohmann::ordered_json& json, const whatif::Improvement& improvement,
                        const model::Trace& trace) const = 0;

 protected:
  constexpr MoveChange(std::string_view name, Effort effort, int steps)
      : Kind(name, whatif::Target::moves, whatif::Treatment::keep, effort, steps) {}
};

// REQUIRES: as kind_of, and of moves.
inline const MoveChange& move_change_of(const whatif::Improvement& improvement) {
  return static_cast<const MoveChange&>(*improvement.optimisation);
}

// Of all kinds of moves.
std::vector<Candidate> move_candidates(const model::Trace& trace);

}  // namespace contrafact::improve
