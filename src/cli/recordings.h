// The recordings of one program that a command is given: one whose times count and, where there is another one, the
// recording with read and write sets that says what its critical sections touch.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/section_facts.h"
#include "cli/command.h"
#include "model/load.h"
#include "model/trace.h"
#include "table/json.h"

namespace contrafact::cli {

// As they stand on the command line, in any order.
struct RecordingPaths {
  std::string trace;
  std::string sets;  // may be empty
};

struct Recordings {
  std::string path;
  model::Trace trace;
  std::string sets_path;                 // empty: without `observed`
  std::optional<model::Trace> observed;  // recorded with sets

  bool has_sets() const { return observed || !trace.access_sets.empty(); }
};

// None after the error has been printed; the command then ends with kExitInput.
std::optional<Recordings> load_recordings(const RecordingPaths& paths, const Session& session,
                                          const std::vector<std::string>& program_patterns = {},
                                          const model::LoadOptions& options = {});

// For a command that takes one recording or two.
void add_recordings_arguments(OptionList& list, RecordingPaths& paths);

// Refers to `recordings`, which must not move afterwards.
analysis::SectionFacts section_facts(const Recordings& recordings);

// Which times count, and what recording the sets did to them: lines; empty where no sets were recorded.
std::string recordings_text(const Recordings& recordings, const analysis::SectionFacts& facts);
// {"path":, "found":, "missing":, "dilation":, "duration_ratio":}; null where the sections have the
// sets that they were recorded with.
table::Json counterparts_json(const Recordings& recordings, const analysis::SectionFacts& facts);

}  // namespace contrafact::cli
