// Optimisation: a kind of change, as the engines ask for it. The engines know no kind by its name: src/improve/kinds
// has a file for each, and a list of them. They know only what can become of a task (Treatment), of a critical section
// (section_edit.h), and of the number of workers and cores.
//
// An optimisation is one object, identified by its address. It is immutable and made at compile time. There is no
// virtual destructor, because no code deletes one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "model/critical_sections.h"
#include "whatif/section_edit.h"

namespace contrafact::whatif {

struct Improvement;
struct Variant;

// What an optimisation changes: which members of an Improvement it uses.
// `grain`: tasks, of which there are to be fewer and larger ones, or more and smaller ones. `moves`: when a task does
// something, a wait or the giving back of a permit.
enum class Target : uint8_t { tasks, sections, pool, machine, grain, moves };

// What becomes of a task.
enum class Treatment : uint8_t {
  keep,
  inline_at_spawn,  // its body runs on its spawner's thread, at its spawn
  inline_at_wait,   // its body runs on its spawner's thread, where that first waits for it
  combinator,       // it gives its thread back at each wait; the rest runs when the awaited task completes
  merge,            // it and its neighbours become one (task_groups.h); never in Variant::treatments
  split,            // it becomes several (task_parts.h); never in Variant::treatments
};

class Optimisation {
 public:
  // `treatment`: of the tasks that it changes.
  constexpr Optimisation(std::string_view name, Target target, Treatment treatment = Treatment::keep)
      : name_(name), target_(target), treatment_(treatment) {}
  Optimisation(const Optimisation&) = delete;
  Optimisation& operator=(const Optimisation&) = delete;

  constexpr std::string_view name() const { return name_; }
  constexpr Target target() const { return target_; }
  constexpr Treatment treatment() const { return treatment_; }

  // Why an improvement of this kind makes no sense, whatever tasks or sections it changes; empty: it does.
  virtual std::string_view fault(const Improvement& /*improvement*/) const { return ""; }

  // What becomes of the improvement's sections. REQUIRES: `edits` is parallel to `sections`, and the improvement's
  // sections can be edited (lock_edits.cc).
  virtual void edit(const model::Trace& /*trace*/, std::span<const model::CriticalSection> /*sections*/,
                    const Improvement& /*improvement*/, std::vector<SectionEdit>& /*edits*/) const {}
  // Target::moves: adds to the variant what comes earlier or later.
  virtual void move(const model::Trace& /*trace*/, const Improvement& /*improvement*/, Variant& /*variant*/) const {}
  // Whether the section at this position in the improvement still begins, or ends, where it did and with its lock. Then
  // a wait at a condition there keeps its mutex.
  virtual bool keeps_begin(const Improvement& /*improvement*/, size_t /*at*/) const { return false; }
  virtual bool keeps_end(const Improvement& /*improvement*/, size_t /*at*/) const { return false; }
  // True if the conflicting accesses of its sections happen elsewhere or otherwise: then recorded conflicts demand no
  // order.
  virtual bool moves_conflicts() const { return false; }

 private:
  const std::string_view name_;  // of the kind: in specs, in tables and in file names
  const Target target_;
  const Treatment treatment_;
};

inline std::string_view name_of(const Optimisation* optimisation) {
  return optimisation->name();
}
inline Target target_of(const Optimisation* optimisation) {
  return optimisation->target();
}

}  // namespace contrafact::whatif
