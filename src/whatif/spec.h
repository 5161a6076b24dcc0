// Improvement specs: improvements as JSON, for people, for patch writers, and for applying them to another recording of
// the same program. docs/improvement-spec.md documents the schema.
//
// Tasks are selected by what does not change between runs: the frames of their spawn's dynamic context as text, the
// body, and for a hoisted branch the conditions on their execution paths.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/trace_dag.h"
#include "whatif/estimate.h"
#include "whatif/improvement.h"

namespace contrafact::whatif {

inline constexpr std::string_view kSpecSchema = "contrafact-improvement-1";

// Indented JSON with one object for each improvement. Deterministic.
std::string write_spec(const graph::TraceDag& dag, std::span<const Improvement> improvements);

// The improvements of a spec with the tasks that they select in `dag`'s trace. Errors say what is wrong with the spec,
// or which of its improvements selects no task here.
base::Result<std::vector<Improvement>> read_spec(const graph::TraceDag& dag, std::string_view json);

// Whether a spec of these improvements, written and read again, can be applied to the trace that they are of.
// `applied`: that they can themselves is known, so only a spec that selects other tasks is estimated.
base::Status check_spec(const Estimator& estimator, std::span<const Improvement> improvements, bool applied = false);

// What tells `branch` from the other tasks of its context: a condition, or several, that hold for all of `branch` and
// for none of the others. Empty if their execution paths do not differ.
std::vector<PathCondition> branch_conditions(const graph::TraceDag& dag, const std::vector<model::TaskId>& branch,
                                             const std::vector<model::TaskId>& others);

}  // namespace contrafact::whatif
