// The recordings of one program that a command is given: one whose times count; if given, a recording with read and
// write sets, which says what its critical sections touch; and further ones, which show how the program differs from
// run to run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/section_facts.h"
#include "cli/command.h"
#include "model/load.h"
#include "model/memory_names.h"
#include "model/section_flows.h"
#include "model/trace.h"
#include "table/json.h"

namespace contrafact::cli {

// As they stand on the command line, in any order.
struct RecordingPaths {
  std::vector<std::string> files;
  bool several = false;  // whether more than one may be without sets
  bool flows = false;    // whether one more may be with information flow
};

struct Recording {
  std::string path;
  model::Trace trace;
};

struct Recordings {
  std::string path;
  model::Trace trace;                    // of several without sets, that of median length
  std::string sets_path;                 // empty: without `observed`
  std::optional<model::Trace> observed;  // recorded with sets
  std::string flow_path;                 // empty: without `tracked`
  std::optional<model::Trace> tracked;   // recorded with information flow, if it is none of the two above
  std::vector<Recording> others;         // without sets, as they stand on the command line

  bool has_sets() const { return observed || !trace.access_sets.empty(); }
};

// None after the error has been printed; the command then ends with kExitInput.
std::optional<Recordings> load_recordings(const RecordingPaths& paths, const Session& session,
                                          const std::vector<std::string>& program_patterns = {},
                                          const model::LoadOptions& options = {});

// For a command that takes one recording without sets, and one with.
void add_recording_arguments(OptionList& list, RecordingPaths& paths);
// For one that takes a third one, with information flow, too.
void add_flow_recording_arguments(OptionList& list, RecordingPaths& paths);
// For one that takes any number without sets, and one with.
void add_recordings_arguments(OptionList& list, RecordingPaths& paths);

// The sections of one of the recordings, whose `facts` must outlive the result.
analysis::SectionFacts section_facts(const Recordings& recordings, const model::Facts& facts);

// The recording that says what sections hand each other: one more, or one of the two; whether any of them does is
// model::has_flows of it.
const model::Trace& tracked_recording(const Recordings& recordings);
// What the sections of `facts`, which are section_facts(recordings, ...), were handed.
model::SectionFlows section_flows(const Recordings& recordings, const analysis::SectionFacts& facts);
// Names for the memory in the sets.
model::MemoryNames memory_names(const Recordings& recordings);

// Which times count, how recording the sets changed them, and where too little was observed: lines; empty if no sets
// were recorded.
std::string recordings_text(const Recordings& recordings, const analysis::SectionFacts& facts);
// Other programs' use of the cores is reported from this share on: less disturbs a run no more than repeated runs
// differ anyway.
inline constexpr double kForeignShareNoted = 0.05;
// A line that warns of it; empty below that share, and where the recording does not show it.
std::string foreign_text(const model::Trace& trace);
// {"path":, "found":, "missing":, "dilation":, "duration_ratio":}; null where the sections have the
// sets that they were recorded with.
table::Json counterparts_json(const Recordings& recordings, const analysis::SectionFacts& facts);

}  // namespace contrafact::cli
