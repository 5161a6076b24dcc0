#include "model/join.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>

#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/trace_input.h"
#include "model/load.h"
#include "table/value_text.h"

namespace contrafact::cli {
namespace {

struct Options {
  std::vector<std::string> paths;
  std::string output;
};

// None after the error has been printed. Names of native code are found when the joined trace is read.
std::optional<std::vector<model::JoinedRecording>> load_all(const Options& options, const Session& session) {
  std::vector<model::JoinedRecording> recordings;
  for (const std::string& path : options.paths) {
    protect_input(path);
    Progress progress(session, "loading " + path);
    base::Result<model::Trace> trace = model::load_any(path);
    progress.done();
    if (!trace) {
      fail(kExitInput, trace.error().message);
      return std::nullopt;
    }
    for (const std::string& line : loss_lines(*trace)) note(session, path + ": " + line);
    recordings.push_back({path, *std::move(trace)});
  }
  return recordings;
}

// "gateway (4711, 9 threads)"
std::string process_text(const model::Trace& trace, size_t number) {
  const model::Process& process = trace.processes[number];
  const uint32_t begin = number == 0 ? 0 : trace.processes[number - 1].threads_end;
  return fmt::format("{} ({}, {})", process.name, process.pid,
                     table::counted_text(process.threads_end - begin, "thread", "threads"));
}

void tell_joined(const model::Trace& trace, const Session& session) {
  constexpr size_t kNamed = 5;
  std::string text = table::counted_text(trace.processes.size(), "process", "processes") + ": ";
  for (size_t i = 0; i < std::min(trace.processes.size(), kNamed); ++i)
    text += (i > 0 ? ", " : "") + process_text(trace, i);
  if (trace.processes.size() > kNamed) text += fmt::format(" and {} more", trace.processes.size() - kNamed);
  tell(session, text);
  if (const std::string_view quota = trace.fact("cpu.quota"); !quota.empty())
    note(session,
         fmt::format(
             "each of them had {} CPUs at most: that is taken for one limit of all together; where each has its own, "
             "as containers do, say how many cores there are with --cores N (load, advise)",
             quota));
  if (const size_t connections = model::connections_between_processes(trace); connections > 0)
    return tell(session, table::counted_text(connections, "connection", "connections") + " between them");
  note(session,
       "no connection between them was found: one has a process at both ends, was opened while both were recorded, and "
       "has ports; Unix sockets have none");
}

int run(const Options& options, const Session& session) {
  if (options.paths.size() < 2)
    return fail(kExitUsage, "one recording is there: join takes those of two or more processes");
  std::optional<std::vector<model::JoinedRecording>> recordings = load_all(options, session);
  if (!recordings) return kExitInput;
  const base::Result<model::Trace> joined = model::join(*std::move(recordings));
  if (!joined) return fail(kExitImpossible, joined.error().message);
  if (base::Status saved = save_trace(*joined, options.output); !saved) return fail(kExitOutput, saved.error().message);
  tell_joined(*joined, session);
  tell_written(session, options.output);
  return kExitOk;
}

Run declare(OptionList& list) {
  constexpr int kAnyNumber = 1 << 29;  // as the help's "..." needs
  auto options = std::make_shared<Options>();
  list.add_option("trace", options->paths, "Recordings of processes that ran at the same time on one machine")
      .value_name("FILE")
      .required()
      .number_of_values(1, kAnyNumber);
  list.add_option("-o,--output", options->output, "The trace to write; replaced if it exists")
      .value_name("FILE")
      .required();
  return [options](Session& session) { return run(*options, session); };
}

}  // namespace

const Command kJoinCommand{"join", "Make one trace of the recordings of processes that worked together",
                           "contrafact join -o all.cft run.cft run.4711.cft\n"
                           "contrafact join -o all.cft gateway.cft backend.cft\n"
                           "contrafact join -o all.cft run.cft run.[0-9]*.cft",
                           declare};

}  // namespace contrafact::cli
