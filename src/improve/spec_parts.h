// The parts of a spec's reader and writer: one for tasks, one for critical sections, one for pools and machines.
// Private to this folder: whoever includes it pays for the JSON library's header.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "improve/spec.h"

namespace contrafact::improve {

using Json = nlohmann::ordered_json;

// The members of an entry that select tasks.
Json task_selection(const SpecTrace& in, const whatif::Improvement& improvement);
// Whole entries, one function for each kind of candidate.
Json task_entry(const SpecTrace& in, const whatif::Improvement& improvement);
Json section_entry(const SpecTrace& in, const SpecEntry& entry);
Json size_entry(const SpecTrace& in, const whatif::Improvement& improvement);

// Selectors find what an entry of their kind names. They throw the JSON library's exceptions where a member has another
// type than they ask for.
class TaskSelector {
 public:
  explicit TaskSelector(const graph::TraceDag& dag);
  ~TaskSelector();
  base::Result<Candidate> select(const Json& entry, whatif::Optimisation optimisation);

 private:
  class Rows;
  std::unique_ptr<Rows> rows_;
};

class SectionSelector {
 public:
  explicit SectionSelector(const analysis::SectionFacts& facts);
  base::Result<Candidate> select(const Json& entry, whatif::Optimisation optimisation);

 private:
  const analysis::SectionFacts& facts_;
  std::vector<Candidate> left_;  // not selected yet
};

base::Result<Candidate> select_size(const SpecTrace& in, const Json& entry, whatif::Optimisation optimisation);

}  // namespace contrafact::improve
