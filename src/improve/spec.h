// Improvement specs: improvements as JSON, for people, for patch writers, and for applying them to another recording of
// the same program. docs/improvement-spec.md documents the schema. One document may hold improvements of any kinds.
//
// Code is selected by properties that do not change between runs. Tasks: the frames of their spawn's dynamic context as
// text, the body, and for a hoisted branch the conditions on their execution paths. Critical sections: the innermost
// frame of the code that asks for their lock; the sections of that code in another recording, and the memory that they
// touch there, are found anew. Pools: their names.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/ulc.h"
#include "base/result.h"
#include "graph/trace_dag.h"
#include "improve/candidate.h"
#include "whatif/estimate.h"

namespace contrafact::improve {

inline constexpr std::string_view kSpecSchema = "contrafact-improvement-1";

// The recording that specs are of, or are applied to.
struct SpecTrace {
  const model::Trace& trace;
  const graph::TraceDag* dag = nullptr;              // null: no improvement of tasks can be named
  const analysis::SectionFacts* sections = nullptr;  // null: none of critical sections
};

struct SpecEntry {
  const Candidate& candidate;
  std::string_view verdict = "";  // the verdict on its gain in this recording; empty: not stated
};

// Indented JSON with one object for each improvement. Deterministic.
std::string write_spec(const SpecTrace& in, std::span<const SpecEntry> entries);

// The improvements of several specs, with the tasks and sections that they select in this recording. No two of them
// select one candidate for critical sections. Errors say what is wrong with which spec, or which of its improvements
// selects nothing here.
struct SpecText {
  std::string name;  // for errors: the file's
  std::string json;
};
base::Result<std::vector<Candidate>> read_specs(const SpecTrace& in, std::span<const SpecText> specs);

// The part of a spec that selects a candidate in another recording of the program, without the members that only people
// read.
std::string write_selection(const SpecTrace& in, const Candidate& candidate);
// The candidate that each selection selects in this recording, one by one. An error for each that selects nothing.
std::vector<base::Result<Candidate>> select_each(const SpecTrace& in, std::span<const std::string> selections);
// Equal for the same kind of change at the same place in two recordings of a program; sizes may differ.
std::string place_key(const SpecTrace& in, const Candidate& candidate);

// Whether a spec of these improvements of tasks, written and read again, can be applied to the trace that they are of.
// `applied`: the improvements themselves are known to be applicable, so only a spec that selects other tasks is
// estimated.
base::Status check_task_specs(const whatif::Estimator& estimator, std::span<const Candidate> candidates,
                              bool applied = false);

// Text that is equal for equal innermost frames of two recordings, "update (table.cc:12)"; where there is no line, the
// address in the file.
std::string frame_key(const model::Trace& trace, model::ContextId id);

// File name of the program that was recorded, of a JVM its main class; empty if the trace does not say.
std::string program_of(const model::Trace& trace);

// What distinguishes `branch` from the other tasks of its context: a condition, or several, that hold for all of
// `branch` and for none of the others. Empty if their execution paths do not differ.
std::vector<whatif::PathCondition> branch_conditions(const graph::TraceDag& dag,
                                                     const std::vector<model::TaskId>& branch,
                                                     const std::vector<model::TaskId>& others);

}  // namespace contrafact::improve
