// Loading a trace for a command: one line on standard error where it cannot be read, notes where something is missing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "model/load.h"
#include "model/trace.h"
#include "table/json.h"

namespace contrafact::cli {

// None after the error has been printed; the command then ends with kExitInput. Losses are printed as notes.
std::optional<model::Trace> load_trace(const std::string& path, const Session& session,
                                       const model::LoadOptions& options = {});
// The same where the user may say which code is the program's own.
std::optional<model::Trace> load_trace(const std::string& path, const Session& session,
                                       const std::vector<std::string>& program_patterns,
                                       const model::LoadOptions& options = {});

// --app PATTERN, for a command that prints places.
void add_app_option(OptionList& list, std::vector<std::string>& program_patterns);

// "measured", "estimated", "simulated".
std::string_view name_of(model::Origin origin);

// Facts "scheduler.unseen.N", written by the agent: a library whose tasks it cannot see. "" if there was none.
inline constexpr std::string_view kUnseenSchedulerFact = "scheduler.unseen.";
std::string unseen_schedulers(const model::Trace& trace);
// The line that reports them.
std::string unseen_line(const std::string& schedulers);
// Facts "transport.unseen.N": a library whose connections it cannot see.
inline constexpr std::string_view kUnseenTransportFact = "transport.unseen.";

// One line for each thing that is missing from the trace; empty if it is whole.
std::vector<std::string> loss_lines(const model::Trace& trace);
table::Json loss_json(const model::Trace& trace);

// {"path":, "origin":, "loss":} of a trace that a document reports on.
table::Json trace_json_header(const std::string& path, const model::Trace& trace);

// Why a trace has no tasks: nothing recorded, or all of it damaged.
std::string no_tasks_reason(const model::Trace& trace);

}  // namespace contrafact::cli
