#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>

#include "base/counted.h"
#include "base/file.h"
#include "cli/child_process.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/jdk.h"
#include "cli/launch_plan.h"
#include "cli/option_values.h"
#include "cli/output.h"
#include "cli/program_file.h"
#include "cli/record_checks.h"
#include "cli/recording_files.h"
#include "online/plugin.h"
#include "table/value_text.h"

namespace contrafact::cli {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kResultBytesMin = 1 << 20;

// Methods that allocate and that the compilers would otherwise replace by code of their own, without our probes.
constexpr const char* kVmFlags[] = {"-XX:+UnlockDiagnosticVMOptions", "-XX:DisableIntrinsic=_copyOf,_copyOfRange",
                                    "-XX:-OptimizeStringConcat", "-XX:-EliminateAutoBox",
                                    "-XX:-UseMultiplyToLenIntrinsic"};

struct Options {
  std::string output = "profile.json";
  std::string analysis = "blueprint";
  std::string analysis_options;
  online::ProcessingOptions processing;
  std::vector<std::string> include;
  std::vector<std::string> exclude;
  bool force = false;
};

// All that is known before the program starts.
struct Preparation {
  std::string file;        // what to execute
  std::optional<Jdk> jdk;  // none: not a Java launcher
  LaunchPlan plan;
  std::string status;  // where the agent reports how the run went
};

base::Result<LaunchPlan> plan_for(const Options& options, const Session& session, const std::optional<Jdk>& jdk) {
  base::Result<Installation> installation = find_jvm_installation(session.self);
  if (!installation) return installation.error();
  AgentOptions agent;
  agent.output = fs::absolute(options.output).string();
  agent.memory_bytes = options.processing.memory_bytes_max;
  agent.include = options.include;
  agent.exclude = options.exclude;
  agent.analysis = online::is_plugin(options.analysis) ? fs::absolute(options.analysis).string() : options.analysis;
  agent.analysis_options = options.analysis_options;
  agent.processing = options.processing;
  agent.vm_flags.assign(std::begin(kVmFlags), std::end(kVmFlags));
  if (jdk) return plan_java(session.program, *installation, agent);
  const char* before = std::getenv("JAVA_TOOL_OPTIONS");
  return plan_other(session.program, *installation, agent, before == nullptr ? "" : before);
}

// Checks that need only the options, and not the program. 0, or the status to end with after one line has been printed.
int check(const Options& options) {
  if (base::Status good = online::check(options.processing); !good) return fail(kExitUsage, good.error().message);
  if (base::Status good = check_trace_config("", options.include, options.exclude); !good) {
    return fail(kExitInput, good.error().message);
  }
  auto analysis = online::find_analysis(options.analysis, options.processing);
  if (!analysis) return fail(kExitInput, analysis.error().message);
  if (base::Status writable = check_writable(options.output, kResultBytesMin); !writable) {
    return fail(kExitOutput, writable.error().message);
  }
  return 0;
}

int prepare(const Options& options, const Session& session, Preparation& preparation) {
  const std::string& name = session.program.front();
  std::optional<std::string> file = find_on_path(name);
  if (!file) {
    const bool exists = fs::exists(name) && name.find('/') != std::string::npos;
    return exists ? fail(kExitNotExecutable, fmt::format("cannot run '{}': {}", name, why_not_executable(name)))
                  : fail(kExitNotFound, fmt::format("there is no program '{}'", name));
  }
  preparation.file = *file;
  preparation.jdk = jdk_of_launcher(*file);
  if (preparation.jdk && !options.force) {
    if (base::Status supported = check_supported(*preparation.jdk); !supported) {
      return fail(kExitRecordFailed, supported.error().message);
    }
  }
  if (int failed = check(options); failed != 0) return failed;
  preparation.status = fs::absolute(options.output).string() + ".profiling";
  if (base::Status free = clear_leftovers(preparation.status); !free) {
    return fail(kExitRecordFailed, free.error().message);
  }
  base::Result<LaunchPlan> plan = plan_for(options, session, preparation.jdk);
  if (!plan) return fail(kExitRecordFailed, plan.error().message);
  preparation.plan = *std::move(plan);
  return 0;
}

std::map<std::string, std::string> status_lines(const std::string& path) {
  std::map<std::string, std::string> values;
  base::Result<std::string> text = base::read_text_file(path);
  if (!text) return values;
  for (size_t begin = 0; begin < text->size();) {
    const size_t end = std::min(text->find('\n', begin), text->size());
    const std::string line = text->substr(begin, end - begin);
    if (const size_t equals = line.find('='); equals != std::string::npos) {
      values.try_emplace(line.substr(0, equals), line.substr(equals + 1));  // of several refusals the first
    }
    begin = end + 1;
  }
  return values;
}

uint64_t number(const std::map<std::string, std::string>& status, const char* key) {
  auto found = status.find(key);
  return found == status.end() ? 0 : std::strtoull(found->second.c_str(), nullptr, 10);
}

std::string summary(const Options& options, const std::map<std::string, std::string>& status) {
  std::string text =
      fmt::format("contrafact: {} of {} went into '{}'", base::counted(number(status, "events"), "event", "events"),
                  base::counted(number(status, "methods"), "method", "methods"), options.analysis);
  std::error_code ignored;
  if (fs::exists(options.output, ignored)) text += fmt::format("; its result is in {}", options.output);
  text += '\n';
  if (const uint64_t lost = number(status, "lost")) {
    text += fmt::format("contrafact: note: {} lost for want of memory; give more with --memory\n",
                        table::counted_text(lost, "event was", "events were"));
  }
  if (const uint64_t refused = number(status, "refused")) {
    text += fmt::format("contrafact: note: {} not counted, for want of probes, e.g. {}\n",
                        table::counted_text(refused, "method was", "methods were"),
                        table::printable(status.at("refusal"), true));
  }
  if (const uint64_t unseen = number(status, "unseen_sites")) {
    text += fmt::format("contrafact: note: objects made in {} of classes older than Java 5 were not counted\n",
                        table::counted_text(unseen, "place", "places"));
  }
  if (options.analysis == "blueprint") {
    text += fmt::format("contrafact: to see it: contrafact blueprint {} -o blueprint.html\n", options.output);
  }
  if (options.analysis == "contexts") {
    text += fmt::format("contrafact: to see it: contrafact contexts {}\n", options.output);
  }
  return text;
}

// The status is the program's, unless only we failed.
int conclude(const Options& options, const Session& session, const Preparation& preparation, const ChildEnd& end) {
  const std::string how = end.signal != 0
                              ? fmt::format("was ended by signal {} ({})", end.signal, strsignal(end.signal))
                              : fmt::format("ended with status {}", end.exit_status);
  const int own_failure = end.exit_status == 0 ? static_cast<int>(kExitRecordFailed) : end.exit_status;
  std::error_code failed;
  if (!fs::exists(preparation.status, failed)) {
    const std::string why = preparation.jdk
                                ? "the JVM did not load the agent, or refused it; see what it printed"
                                : fmt::format("'{}' started no JVM that loaded the agent", session.program.front());
    return fail(own_failure, fmt::format("nothing was profiled: {}; the program {}", why, how));
  }
  const std::map<std::string, std::string> status = status_lines(preparation.status);
  fs::remove(preparation.status, failed);
  if (!status.contains("done")) {
    return fail(own_failure, fmt::format("the analysis has no result: the program {} before it could write one", how));
  }
  if (status.contains("error")) return own_failure;  // the agent has said why
  if (session.quiet) return end.exit_status;
  if (end.exit_status != 0) say(fmt::format("contrafact: the program {}", how));
  say_lines(summary(options, status));
  return end.exit_status;
}

int run(const Options& options, const Session& session) {
  if (session.program.empty()) {
    return fail(kExitUsage,
                "no program given; put it behind --: contrafact profile -o profile.json -- java -jar service.jar");
  }
  Preparation preparation;
  if (int failed = prepare(options, session, preparation); failed != 0) return failed;
  std::vector<std::string> environment;
  if (!preparation.jdk) {
    environment.push_back("JAVA_TOOL_OPTIONS=" + preparation.plan.java_tool_options);
    note(session, fmt::format("'{}' is no Java launcher: each JVM that it starts is asked through JAVA_TOOL_OPTIONS to "
                              "load the agent; the first is profiled",
                              session.program.front()));
  }
  StartFailure failure{};
  base::Result<ChildEnd> end = run_child(preparation.file, preparation.plan.arguments, environment, &failure);
  if (!end) return fail(failure.error_number == ENOENT ? kExitNotFound : kExitNotExecutable, end.error().message);
  return conclude(options, session, preparation, *end);
}

Run declare(OptionList& list) {
  auto options = std::make_shared<Options>();
  list.add_option("-o,--output", options->output, "Where the analysis writes its result")
      .value_name("FILE")
      .show_default();
  list.add_option("--analysis", options->analysis,
                  "What to run: blueprint, contexts, or the path of a plug-in: ./my_analysis.so (docs/analyses.md)")
      .value_name("NAME|FILE")
      .show_default();
  list.add_option("--analysis-options", options->analysis_options, "A text that is handed to the analysis")
      .value_name("OPTIONS");
  list.add_option("--include", options->include, "Profile matching methods only, e.g. 'shop.*'; repeatable")
      .value_name("PATTERN")
      .repeatable();
  list.add_option("--exclude", options->exclude, "Do not profile these; repeatable").value_name("PATTERN").repeatable();
  online::ProcessingOptions& processing = options->processing;
  list.add_option(
          "--processor", processing.processor,
          "Who processes full buffers: sync (the thread that filled it), pool, adaptive (idle cores); or direct: no "
          "buffers, each event is counted at once (blueprint only, for comparison)")
      .value_name("WORD")
      .show_default();
  list.add_option(
          "--coalescing", [&processing](const std::string& value) { processing.coalescing = value == "on"; },
          "Whether a buffer's events are gathered in private data first, or each goes into what the threads share")
      .check(one_of({"on", "off"}))
      .show_default("on");
  list.add_option("--consumers", processing.consumers, "Threads of pool and adaptive; 0: one for each core")
      .check(whole_number(0))
      .show_default();
  list.add_option("--capacity", processing.capacity, "Events that a buffer holds")
      .check(whole_number(0))
      .show_default();
  list.add_option("--queue", processing.queue, "Buffers that may wait for a consumer: pool and adaptive")
      .check(whole_number(0))
      .show_default();
  list.add_option("--memory", processing.memory_bytes_max, "Most memory for buffers in the program, e.g. 256M")
      .value_name("SIZE")
      .check(size_value());
  list.add_flag("--force", options->force, "Try it on a Java release that is not supported");
  return [options](Session& session) { return run(*options, session); };
}

}  // namespace

const Command kProfileCommand{"profile", "Run a JVM program with an analysis in it, fed with calls and allocations",
                              "contrafact profile -o profile.json -- java -jar service.jar\n"
                              "contrafact profile --include 'shop.*' -- java -cp app.jar shop.Main\n"
                              "contrafact profile --analysis ./my_analysis.so -o calls.csv -- java -jar service.jar",
                              declare, "-- PROGRAM [ARGUMENTS]"};

}  // namespace contrafact::cli
