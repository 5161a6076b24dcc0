#include "cli/trace_input.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "model/awake_turns.h"
#include "model/code_owners.h"
#include "model/load.h"
#include "symbols/resolve.h"
#include "table/value_text.h"

namespace contrafact::cli {

namespace {

std::optional<model::Trace> load(const std::string& path, const Session& session, const model::LoadOptions& options,
                                 const std::vector<std::string>& program_patterns) {
  protect_input(path);
  Progress progress(session, "loading " + path);
  base::Result<model::Trace> trace = model::load_any(path, options);
  progress.done();
  if (!trace) {
    const std::string interrupted = path + ".recording";
    const bool hints = access(path.c_str(), F_OK) != 0 && access(interrupted.c_str(), F_OK) == 0;
    fail(kExitInput,
         trace.error().message + (hints ? fmt::format("; its recording was interrupted: see '{}'", interrupted) : ""));
    return std::nullopt;
  }
  symbols::resolve(*trace);
  model::find_owners(*trace, program_patterns);
  for (const std::string& line : loss_lines(*trace)) note(session, path + ": " + line);
  return *std::move(trace);
}

// A line for each kind of thing in the run that the agent did not record.
// The values of all facts whose keys begin so: "A and B".
std::string names_in_facts(const model::Trace& trace, std::string_view prefix) {
  std::string names;
  for (const model::Fact& fact : trace.facts) {
    if (fact.key.starts_with(prefix)) names += (names.empty() ? "" : " and ") + fact.value;
  }
  return names;
}

std::vector<std::string> unseen_lines(const model::Trace& trace) {
  std::vector<std::string> lines;
  if (const std::string unseen = unseen_schedulers(trace); !unseen.empty()) lines.push_back(unseen_line(unseen));
  if (const std::string_view unrecorded = trace.fact("semaphores.untold"); !unrecorded.empty())
    lines.push_back(fmt::format("the program used too many semaphores: {} of them were not recorded", unrecorded));
  if (const std::string transports = names_in_facts(trace, kUnseenTransportFact); !transports.empty())
    lines.push_back("what goes over the connections of " + transports + " is not recorded: the agent cannot see it");
  return lines;
}

std::string awake_text(const model::Trace& trace, int64_t until_ns) {
  const auto kept_ns = static_cast<double>(std::max<int64_t>(0, until_ns - trace.begin_ns()));
  return fmt::format(
      "idle cores were kept awake for the first {:.0f} % of the recording only: what they cost requests is estimated "
      "for "
      "the rest",
      100 * kept_ns / static_cast<double>(std::max<int64_t>(1, trace.end_ns() - trace.begin_ns())));
}

}  // namespace

std::optional<model::Trace> load_trace(const std::string& path, const Session& session,
                                       const model::LoadOptions& options) {
  return load(path, session, options, {});
}

std::optional<model::Trace> load_trace(const std::string& path, const Session& session,
                                       const std::vector<std::string>& program_patterns,
                                       const model::LoadOptions& options) {
  return load(path, session, options, program_patterns);
}

void add_app_option(OptionList& list, std::vector<std::string>& program_patterns) {
  list.add_option("--app", program_patterns,
                  "Classes or packages that are the program's own code, as com.acme or *.Job; all else is not; "
                  "repeatable")
      .value_name("PATTERN")
      .repeatable();
}

std::string_view name_of(model::Origin origin) {
  switch (origin) {
    case model::Origin::measured:
      return "measured";
    case model::Origin::estimated:
      return "estimated";
    case model::Origin::simulated:
      return "simulated";
  }
  return "?";
}

std::string unseen_schedulers(const model::Trace& trace) {
  return names_in_facts(trace, kUnseenSchedulerFact);
}

std::string unseen_line(const std::string& schedulers) {
  return "the work of " + schedulers + " is not among the tasks: the agent cannot see it";
}

std::vector<std::string> loss_lines(const model::Trace& trace) {
  const model::Loss& loss = trace.loss;
  std::vector<std::string> lines = unseen_lines(trace);
  if (const model::AwakeTurns awake(trace); awake.any() && awake.until_ns() < trace.end_ns())
    lines.push_back(awake_text(trace, awake.until_ns()));
  if (loss.events_dropped != 0) {
    lines.push_back(
        fmt::format("{} dropped, of {}: the recorder could not write them or not keep up; if so, record "
                    "with more --memory",
                    table::counted_text(loss.events_dropped, "event was", "events were"),
                    table::count_text(static_cast<int64_t>(loss.events_dropped + trace.event_count()))));
  }
  // Whoever loaded the trace noted what it found damaged or missing.
  if (!loss.notes.empty()) {
    lines.insert(lines.end(), loss.notes.begin(), loss.notes.end());
    return lines;
  }
  if (loss.blocks_damaged != 0) {
    lines.push_back(fmt::format("{} left out ({})",
                                table::counted_text(loss.blocks_damaged, "damaged block was", "damaged blocks were"),
                                table::bytes_text(static_cast<double>(loss.bytes_skipped))));
  }
  if (loss.cut_off) {
    lines.push_back("the file ends early: the program was killed, or the copy is incomplete; what was written is used");
  }
  return lines;
}

table::Json loss_json(const model::Trace& trace) {
  std::vector<std::string> notes = trace.loss.notes;
  for (std::string& line : unseen_lines(trace)) notes.push_back(std::move(line));
  return {{"events_dropped", trace.loss.events_dropped},
          {"blocks_damaged", trace.loss.blocks_damaged},
          {"bytes_skipped", trace.loss.bytes_skipped},
          {"cut_off", trace.loss.cut_off},
          {"notes", notes}};
}

table::Json trace_json_header(const std::string& path, const model::Trace& trace) {
  return {{"path", path}, {"origin", std::string(name_of(trace.origin))}, {"loss", loss_json(trace)}};
}

std::string no_tasks_reason(const model::Trace& trace) {
  if (trace.event_count() == 0) return "the trace holds no events: the program ended before the agent saw any thread";
  const std::string unseen = unseen_schedulers(trace);
  if (!unseen.empty()) return "no tasks were recorded: " + unseen_line(unseen);
  return "no tasks were recorded: the program gave nothing to an executor, a fork-join pool or a future that the agent "
         "knows";
}

}  // namespace contrafact::cli
