#include "cli/native_recording.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstring>

#include "base/percent.h"
#include "cli/command.h"
#include "cli/trace_input.h"

namespace contrafact::cli {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

std::string reason_of(const ChildEnd& end) {
  if (end.signal == 0) return "exit";
  return fmt::format("the program was ended by signal {} ({})", end.signal, strsignal(end.signal));
}

}  // namespace

base::Result<NativeEnd> run_native(const NativeRun& run, StartFailure* start_failure, HeldSignals* held) {
  recorder::Collector::Options options{.output_path = run.recording, .command = joined(run.arguments)};
  if (run.memory_bytes != 0) options.memory_bytes_max = run.memory_bytes;
  options.children = run.children;
  options.kernel_clock = run.kernel_clock;
  if (!run.command_arguments) {
    options.command_arguments = false;
    options.command = run.file.substr(run.file.rfind('/') + 1);
  }
  options.facts = {{"agent", "native"}};
  options.awake = run.awake;
  for (size_t i = 0; i < run.unseen.size(); ++i)
    options.facts.push_back({std::string(kUnseenSchedulerFact) + std::to_string(i), run.unseen[i]});
  options.diagnostics = [](std::string_view line) { say(fmt::format("contrafact: {}", line)); };
  auto collector = recorder::Collector::start(std::move(options));
  if (!collector) return collector.error();
  std::vector<std::string> environment = run.environment;
  environment.push_back(fmt::format("CONTRAFACT_NATIVE=control={}{}",
                                    base::percent_encode((*collector)->control_path()), run.agent_options));
  base::Result<ChildEnd> end = run_child(run.file, run.arguments, environment, start_failure, held);
  NativeEnd out;
  if (end) out.program = *end;
  out.recordings = (*collector)->finish(out.program.pid, end ? reason_of(out.program) : "the program did not start");
  if (!out.recordings.began) ::unlink(run.recording.c_str());  // it holds nothing
  if (!end) return end.error();
  return out;
}

}  // namespace contrafact::cli
