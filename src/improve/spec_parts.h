// The parts of a spec's reader and writer: one for tasks, one for critical sections, one for pools and
// machines, one for the grain of tasks, one for moves.
// Private to this folder: to include it costs the compile time of the JSON library's header.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>

#include "improve/path_keys.h"
#include "improve/spec.h"
#include "improve/spec_frames.h"
#include "improve/task_place.h"

namespace contrafact::improve {

// The members of an entry that select tasks.
Json task_selection(const SpecTrace& in, const whatif::Improvement& improvement);
// Whole entries, one function for each kind of candidate.
Json task_entry(const SpecTrace& in, const whatif::Improvement& improvement);
Json section_entry(const SpecTrace& in, const SpecEntry& entry);
Json size_entry(const SpecTrace& in, const whatif::Improvement& improvement);
Json move_entry(const SpecTrace& in, const whatif::Improvement& improvement);
Json grain_entry(const SpecTrace& in, const whatif::Improvement& improvement);

// Selectors find the candidate that an entry of their kind names. They throw the JSON library's exceptions where a
// member has another type than they ask for.
class TaskSelector {
 public:
  explicit TaskSelector(const graph::TraceDag& dag);
  base::Result<Candidate> select(const Json& entry, const whatif::Optimisation* optimisation);

  // For the kinds of changes that keep only some tasks of a place.
  const graph::TraceDag& dag() const { return dag_; }
  const model::Trace& trace() const { return trace_; }
  // Text that is equal for equal frames and methods, of this trace and of a spec.
  const std::string& key_of(model::ContextId context);
  const std::string& key_of(model::MethodId method);
  std::string frames_key(const Json& frames) const { return improve::frames_key(frames, program_); }
  const PathKeyIndex& paths();  // made when first asked for

 private:
  bool is_missing(model::TaskId task) const;
  std::vector<model::TaskId> tasks_of(const Json& frames, const std::string& body);

  const graph::TraceDag& dag_;
  const model::Trace& trace_;
  const ProgramClasses program_;
  const TaskPlaces places_;
  std::vector<std::string> frames_of_;  // by context
  std::map<std::string, std::vector<model::TaskId>> by_context_;
  std::unordered_map<uint32_t, std::string> body_keys_;  // by method
  std::optional<PathKeyIndex> paths_;
};

class SectionSelector {
 public:
  explicit SectionSelector(const analysis::SectionFacts& facts);
  base::Result<Candidate> select(const Json& entry, const whatif::Optimisation* optimisation);

 private:
  const analysis::SectionFacts& facts_;
  std::vector<Candidate> left_;  // not selected yet
};

// An entry's "size" with "after". Errors: it has none, or one below `size_min`.
base::Result<uint32_t> size_after(const Json& entry, const whatif::Optimisation* optimisation, uint32_t size_min);
base::Result<Candidate> select_grain(const SpecTrace& in, const Json& entry, const whatif::Optimisation* optimisation);
base::Result<Candidate> select_move(const SpecTrace& in, const Json& entry, const whatif::Optimisation* optimisation);
base::Result<Candidate> select_size(const SpecTrace& in, const Json& entry, const whatif::Optimisation* optimisation);

}  // namespace contrafact::improve
