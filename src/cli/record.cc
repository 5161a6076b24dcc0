#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include "analysis/section_classes.h"
#include "cli/child_process.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/jdk.h"
#include "cli/jvm_start.h"
#include "cli/launch_plan.h"
#include "cli/native_recording.h"
#include "cli/option_values.h"
#include "cli/output.h"
#include "cli/program_file.h"
#include "cli/record_checks.h"
#include "cli/record_summary.h"
#include "cli/recording_files.h"
#include "cli/task_runtimes.h"
#include "cli/trace_input.h"
#include "model/facts.h"
#include "recorder/awake_cores.h"
#include "recorder/process_facts.h"
#include "table/value_text.h"

namespace contrafact::cli {
namespace {

constexpr uint64_t kBufferBytesMin = 1 << 20;  // a few threads' worth of the largest buffers

constexpr size_t kFilesNamedMax = 5;  // of further processes, in one line

// A program that becomes another one (exec) sooner than this is a wrapper (env, nice, a start script): nobody misses
// its recording.
constexpr int64_t kDiscardedSaidNs = 100'000'000;

namespace fs = std::filesystem;

struct Options {
  std::string output = "run.cft";
  uint64_t memory_bytes = 0;
  std::string config;
  std::vector<std::string> include;
  std::vector<std::string> exclude;
  std::vector<std::string> classes;
  std::string classes_from;
  bool force = false;
  bool native = false;
  bool jvm = false;
  bool children = false;
  bool no_command = false;
  bool warm = false;
  bool keep_openmp = false;
  std::string sets;  // as given, for --flow too
  bool flow = false;
  double slowdown = 1.5;
  Option slowdown_given;
  bool twice = false;
  std::string accesses;
  std::string sets_from = "translation";
  std::string clock = "processor";
};

// All that is known before the program starts.
struct Preparation {
  std::string file;        // what to execute
  std::optional<Jdk> jdk;  // none: not a Java launcher
  bool native = false;     // by the native agent, else by the JVM's
  std::string why_jvm;     // why the program is taken for one that starts a JVM
  TaskRuntimes runtimes;   // of a native program
  LaunchPlan plan;
  std::string recording;                               // where the agent writes
  bool cannot_run = false;                             // the kernel would refuse the file
  std::shared_ptr<const recorder::AwakeReport> awake;  // null: idle cores are left alone
};

// Of this machine; 0 if unknown.
uint64_t physical_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
  return pages > 0 && page_bytes > 0 ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(page_bytes) : 0;
}

int status_of_own_failure(const base::Error& error, int status = kExitRecordFailed) {
  return fail(status, error.message);
}

// Which agent: a JVM's if a JVM is started, as far as can be found out without starting anything; `--jvm` and
// `--native` decide.
base::Result<bool> is_native(const Options& options, const Session& session, Preparation& preparation) {
  if (options.jvm || (preparation.jdk && !options.native)) return false;
  base::Result<ProgramFile> file = inspect_program(preparation.file);
  if (!file) return file.error();
  const JvmStart jvm = find_jvm_start(session.program, preparation.file);
  preparation.why_jvm = jvm.why;
  if (!options.native && (file->kind == ProgramKind::jvm || jvm.starts)) return false;
  preparation.cannot_run = file->kind == ProgramKind::no_program;
  if (file->kind == ProgramKind::closed || preparation.cannot_run) {
    return base::Error{fmt::format("cannot record '{}': {}", session.program.front(), file->why)};
  }
  if (file->kind != ProgramKind::script) return true;
  const base::Result<ProgramFile> by = inspect_program(file->interpreter);
  if (!by) {
    preparation.cannot_run = true;
    return base::Error{fmt::format("cannot run '{}': its interpreter, which its first line names: {}",
                                   session.program.front(), by.error().message)};
  }
  if (by->kind == ProgramKind::closed || by->kind == ProgramKind::no_program) {
    return base::Error{fmt::format("cannot record '{}': its interpreter '{}': {}", session.program.front(),
                                   file->interpreter, by->why)};
  }
  note(session,
       fmt::format("'{}' is a script: its interpreter '{}' is recorded, and the program that it becomes (exec){}{}",
                   session.program.front(), file->interpreter,
                   options.children ? "; each process that it starts has a file of its own"
                                    : ", but no process that it starts; --children records these too",
                   jvm.mentions ? "; it mentions java, but was not seen to start a JVM: --jvm if it does" : ""));
  return true;
}

// 20ms, 1s, 500us; a bare number is of milliseconds. 0 if it is none.
int64_t duration_ns(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number <= 0 || number > 1'000'000) return 0;
  const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  if (unit == "us") return number * 1'000;
  if (unit == "ms" || unit.empty()) return number * 1'000'000;
  return unit == "s" ? number * 1'000'000'000 : 0;
}

// The window of each period in which critical sections are observed, so that a program whose threads do nothing else
// takes `slowdown` times as long, however slow they are meanwhile.
std::string windows_for(double slowdown) {
  constexpr int64_t kPeriodNs = 37'000'000;  // of no usual timer: what a program does every 10 or 20 ms is seen as well
  return fmt::format("{}/{}", std::llround(static_cast<double>(kPeriodNs) * (1 - 1 / slowdown)), kPeriodNs);
}

// The agent's form of --sets or --accesses. "windows": as `slowdown` allows.
base::Result<std::string> windows_option(std::string_view option, const std::string& text, double slowdown) {
  if (text == "always") return text;
  if (text == "windows") return windows_for(slowdown);
  const size_t slash = text.find('/');
  const int64_t window_ns = duration_ns(std::string_view(text).substr(0, slash));
  const int64_t period_ns = slash == std::string::npos ? 0 : duration_ns(std::string_view(text).substr(slash + 1));
  if (window_ns == 0 || period_ns == 0) {
    return base::Error{fmt::format("{}: '{}' is no window and period, such as 100ms/1s", option, text)};
  }
  if (period_ns < window_ns) {
    return base::Error{fmt::format("{}: the window in '{}' is longer than its period", option, text)};
  }
  return fmt::format("{}/{}", window_ns, period_ns);
}

// A class without those that are nested in it is seldom meant: lambdas apart, their code is part of its source.
std::vector<std::string> with_nested_classes(std::vector<std::string> patterns) {
  for (size_t i = 0, count = patterns.size(); i < count; ++i) {
    if (patterns[i].find('*') == std::string::npos) patterns.push_back(patterns[i] + "$*");
  }
  return patterns;
}

base::Result<LaunchPlan> plan_for(const Options& options, const Session& session, const Preparation& preparation,
                                  const std::string& recording) {
  base::Result<Installation> installation =
      preparation.native ? find_installation(session.self) : find_jvm_installation(session.self);
  if (!installation) return installation.error();
  AgentOptions agent{recording, options.memory_bytes,
                     options.config.empty() ? "" : fs::absolute(options.config).string(), options.include,
                     options.exclude};
  agent.command = !options.no_command;
  if (options.warm && !preparation.native) {
    agent.warm = true;
    if (preparation.awake) agent.awake = preparation.awake->path();
    agent.vm_flags.assign(kWarmFlags.begin(), kWarmFlags.end());
  }
  agent.classes = with_nested_classes(options.classes);
  if (!options.sets.empty()) {
    if (!preparation.native && options.classes.empty()) {
      return base::Error{
          fmt::format("{} of a JVM is for the critical sections of chosen classes: choose them with --classes, or with "
                      "--classes-from and a recording",
                      options.flow ? "--flow" : "--sets")};
    }
    if (!preparation.native && options.sets_from != "translation")
      return base::Error{"--sets-from is for native programs: the sets of a JVM come from its bytecode"};
    agent.sets = *windows_option("--sets", options.sets, options.slowdown);
    if (options.flow && preparation.native)
      return base::Error{
          "--flow is for JVMs: information flow is followed through bytecode; of a native program --sets "
          "says what its sections touch"};
    agent.flow = options.flow;
  }
  if (!options.accesses.empty()) {
    if (!preparation.native) return base::Error{"--accesses is for native programs: those of a JVM cannot be seen"};
    agent.accesses = *windows_option("--accesses", options.accesses, options.slowdown);
  }
  if (!options.sets.empty() || !options.accesses.empty()) {
    agent.sets_translate = options.sets_from == "translation";
  }
  if (!preparation.runtimes.openmp.empty()) agent.preloaded.push_back(preparation.runtimes.openmp);
  if (preparation.runtimes.has_tbb && !installation->tbb_library.empty())
    agent.preloaded.push_back(installation->tbb_library);
  if (preparation.native) {
    const char* before = std::getenv("LD_PRELOAD");
    return plan_native(session.program, *installation, agent, options.children, before == nullptr ? "" : before);
  }
  if (preparation.jdk) return plan_java(session.program, *installation, agent);
  const char* before = std::getenv("JAVA_TOOL_OPTIONS");
  return plan_other(session.program, *installation, agent, before == nullptr ? "" : before);
}

// Before the program starts: who waits for it should know why. The figures are those of docs/native.md and
// docs/jvm-locks.md.
void warn_of_cost(const Options& options, const Session& session) {
  if (options.accesses == "always")
    note(session, "--accesses: the program takes many times as long, and its trace grows by megabytes a second");
  if (options.flow) {
    if (options.sets == "always")
      note(session,
           "--flow=always: code that holds a lock of these classes takes 3 to 700 times as long; with --flow "
           "alone a part of it does, in windows (--slowdown)");
  } else if (options.sets == "always" && options.sets_from == "translation") {
    note(session,
         options.classes.empty()
             ? "--sets=always: code that holds a lock takes 1.2 to 25 times as long, short sections most; with "
               "--sets alone the whole program at most 1.5 times (--slowdown)"
             : "--sets=always: code that holds a lock of these classes takes 1.5 to 40 times as long; with "
               "--sets alone the whole program some 2 times");
  }
}

// 0 and a filled `preparation`, or the status to end with after one line has been printed.
int prepare(const Options& options, const Session& session, Preparation& preparation) {
  const std::string& name = session.program.front();
  std::optional<std::string> file = find_on_path(name);
  if (!file) {
    bool exists = fs::exists(name) && name.find('/') != std::string::npos;
    return exists ? fail(kExitNotExecutable, fmt::format("cannot run '{}': {}", name, why_not_executable(name)))
                  : fail(kExitNotFound, fmt::format("there is no program '{}'{}", name,
                                                    name.find('/') == std::string::npos ? " on the PATH" : ""));
  }
  preparation.file = *file;
  protect_input(*file);
  preparation.jdk = jdk_of_launcher(*file);
  base::Result<bool> native = is_native(options, session, preparation);
  if (!native) {
    return status_of_own_failure(native.error(), preparation.cannot_run ? kExitNotExecutable : kExitRecordFailed);
  }
  preparation.native = *native;
  if (preparation.jdk && !preparation.native && !options.force) {
    if (base::Status supported = check_supported(*preparation.jdk); !supported) {
      return status_of_own_failure(supported.error());
    }
  }
  if (base::Status good = check_trace_config(options.config, options.include, options.exclude); !good) {
    return status_of_own_failure(good.error(), kExitInput);
  }
  if (base::Status good = check_classes(options.classes); !good) return status_of_own_failure(good.error(), kExitInput);
  if (base::Status writable = check_writable(options.output, kRecordingBytesMin); !writable) {
    return status_of_own_failure(writable.error(), kExitOutput);
  }
  preparation.recording = fs::absolute(options.output).string() + ".recording";
  if (base::Status free = clear_leftovers(preparation.recording); !free) return status_of_own_failure(free.error());
  if (preparation.native) preparation.runtimes = find_task_runtimes(*file, options.keep_openmp);
  base::Result<LaunchPlan> plan = plan_for(options, session, preparation, preparation.recording);
  if (!plan) return status_of_own_failure(plan.error());
  preparation.plan = *std::move(plan);
  warn_of_cost(options, session);
  return 0;
}

// One line, if more than one process was recorded. The pattern matches the files that the line does not name.
void tell_of_further(const std::string& output, const std::vector<std::string>& files, bool native) {
  if (files.empty()) return;
  const std::string pattern = pattern_of_further_recordings(output);
  std::string names;
  for (size_t i = 0; i < std::min(files.size(), kFilesNamedMax); ++i) names += (i == 0 ? "" : ", ") + files[i];
  if (files.size() > kFilesNamedMax) names += fmt::format(" and {} more: {}", files.size() - kFilesNamedMax, pattern);
  const bool one = files.size() == 1;
  const std::string_view what = native ? (one ? "process" : "processes") : one ? "JVM" : "JVMs";
  say(fmt::format("contrafact: note: the program started {} more {}, recorded in {} own: {}", files.size(), what,
                  one ? "a file of its" : "files of their", names));
  say(fmt::format("contrafact: note: to see them as one: contrafact join -o all.cft {} {}", output,
                  one ? files.front() : pattern));
}

// One line each about native processes of which not all is recorded.
void tell_of_missing(const recorder::Collector::Finished& recordings) {
  size_t alive = 0;
  for (const auto& recording : recordings.further) alive += recording.is_alive;
  if (alive > 0) {
    say(fmt::format(
        "contrafact: note: {} that the program started went on after its end; their recordings stop at that end",
        table::counted_text(alive, "process", "processes")));
  }
  if (recordings.forked_and_alive > 0) {
    const bool one = recordings.forked_and_alive == 1;
    say(fmt::format(
        "contrafact: note: {} that the program forked {} after its end and {} not recorded: --children records what it "
        "forks",
        table::counted_text(recordings.forked_and_alive, "process", "processes"), one ? "goes on" : "go on",
        one ? "is" : "are"));
  }
  if (recordings.discarded_ns >= kDiscardedSaidNs) {
    say(fmt::format(
        "contrafact: note: the program became another one by exec; what it did before that ({}, {}) is discarded",
        table::duration_text(static_cast<double>(recordings.discarded_ns)),
        table::counted_text(recordings.events_discarded, "event", "events")));
  }
  if (recordings.refused > 0) {
    say(fmt::format("contrafact: note: {} not recorded: too many began at once",
                    table::counted_text(recordings.refused, "process was", "processes were")));
  }
}

std::string how_it_ended(const ChildEnd& end) {
  return end.signal != 0 ? fmt::format("was ended by signal {} ({})", end.signal, strsignal(end.signal))
                         : fmt::format("ended with status {}", end.exit_status);
}

// Gives the file of the program itself its name. Says what is in it; an error says why there is none.
base::Result<std::string> conclude_own(const Options& options, const Session& session, const Preparation& preparation,
                                       bool began) {
  std::error_code failed;
  if (!fs::exists(preparation.recording, failed)) {
    if (began || !fs::exists(fs::path(preparation.recording).parent_path(), failed)) {
      return base::Error{fmt::format("nothing is left of the recording: '{}' was removed while the program ran",
                                     preparation.recording)};
    }
    return base::Error{fmt::format(
        "nothing was recorded: {}",
        preparation.native ? "the program did not load the agent, or the agent could not begin; see what was printed"
        : preparation.jdk  ? "the JVM did not load the agent, or refused it; see what it printed"
                           : fmt::format("'{}' started no JVM that loaded the agent", session.program.front()))};
  }
  if (base::Result<bool> nothing = holds_nothing(preparation.recording); nothing && *nothing) {
    fs::remove(preparation.recording, failed);
    return base::Error{fmt::format("nothing was recorded: the {} ended before it was up; see what it printed",
                                   preparation.native ? "program" : "JVM")};
  }
  fs::rename(preparation.recording, options.output, failed);
  if (failed) {
    return base::Error{fmt::format("cannot rename '{}' to '{}': {}; the recording is under its first name",
                                   preparation.recording, options.output, failed.message())};
  }
  base::Result<std::string> summary = summarise_recording(options.output);
  if (!summary) return base::Error{fmt::format("the recording cannot be read: {}", summary.error().message)};
  return summary;
}

// Gives the recordings their names, and says what there is. The status is the program's, whatever became of them.
int conclude(const Options& options, const Session& session, const Preparation& preparation, const ChildEnd& end,
             const recorder::Collector::Finished& recordings) {
  const std::string how = how_it_ended(end);
  base::Result<std::string> summary = conclude_own(options, session, preparation, recordings.began);
  if (!summary) {
    say(fmt::format("contrafact: {}; the program {}", summary.error().message, how));
  } else if (!session.quiet) {
    if (end.exit_status != 0) say(fmt::format("contrafact: the program {}", how));
    say_lines(*summary);
  }
  const FurtherRecordings further = name_further_recordings(preparation.recording, options.output);
  for (const std::string& failure : further.failures) say(fmt::format("contrafact: {}", failure));
  if (!session.quiet) {
    tell_of_further(options.output, further.files, preparation.native);
    tell_of_missing(recordings);
  }
  return end.exit_status;
}

// 0, or the status to end with after one line has been printed: options that do not go together, or cannot be.
int check_options(const Options& options, const Session& session) {
  if (session.program.empty()) {
    return fail(kExitUsage,
                "no program given; put it behind --: contrafact record -o run.cft -- java -jar service.jar");
  }
  if (options.memory_bytes != 0 && options.memory_bytes < kBufferBytesMin) {
    return fail(kExitUsage,
                fmt::format("--memory: {} bytes are too little for the buffers; give at least {}M, better 64M",
                            options.memory_bytes, kBufferBytesMin >> 20));
  }
  if (const uint64_t here = physical_bytes(); here != 0 && options.memory_bytes > here) {
    return fail(kExitUsage, fmt::format("--memory: {} for the buffers is more than this machine's memory ({})",
                                        table::bytes_text(static_cast<double>(options.memory_bytes)),
                                        table::bytes_text(static_cast<double>(here))));
  }
  if (options.output == "-")
    return fail(kExitUsage, "-o: a recording cannot go to standard output, which is the program's; name a file");
  for (const auto& [option, text] :
       {std::pair{options.flow ? "--flow" : "--sets", &options.sets}, std::pair{"--accesses", &options.accesses}}) {
    if (text->empty()) continue;
    if (base::Result<std::string> windows = windows_option(option, *text, options.slowdown); !windows) {
      return fail(kExitUsage, windows.error().message);
    }
  }
  if (options.slowdown_given.given() && options.sets != "windows")
    return fail(kExitUsage, "--slowdown chooses the windows of --sets: give --sets too, without a value");
  if (options.sets_from == "compiler" && !options.accesses.empty()) {
    return fail(kExitUsage, "--accesses needs translation: --sets-from compiler is for --sets");
  }
  if (options.sets_from == "compiler" && options.sets.empty()) {
    return fail(kExitUsage, "--sets-from says where sets come from: give --sets too");
  }
  if (options.twice && options.sets.empty())
    return fail(kExitUsage, "--twice records one run without --sets and one with them: give --sets too");
  return 0;
}

// Where that can be. A program with a limit of core time would lose what keeps its cores awake.
std::unique_ptr<recorder::AwakeCores> keep_cores_awake(const Session& session) {
  if (recorder::is_under_quota(0)) {
    note(session, "--warm: idle cores are not kept awake, as there is a limit of core time, which that would use up");
    return nullptr;
  }
  auto awake = recorder::AwakeCores::start();
  if (awake) return *std::move(awake);
  note(session, fmt::format("--warm: idle cores are not kept awake: {}", awake.error().message));
  return nullptr;
}

int run_program(const Options& options, const Session& session, std::shared_ptr<const recorder::AwakeReport> awake) {
  Preparation preparation;
  preparation.awake = std::move(awake);
  if (int failed = prepare(options, session, preparation); failed != 0) return failed;
  if (preparation.native && !(options.include.empty() && options.exclude.empty() && options.config.empty())) {
    note(session, "--include, --exclude and --config choose methods of a JVM; of a native program none are recorded");
  }
  if (preparation.native && !options.classes.empty())
    note(session, "--classes is for a JVM: of a native program all critical sections are recorded");
  for (const std::string& line : preparation.runtimes.notes) note(session, line);
  std::vector<std::string> environment = preparation.plan.environment;
  if (!preparation.jdk && !preparation.native) {
    environment.push_back("JAVA_TOOL_OPTIONS=" + preparation.plan.java_tool_options);
    note(session,
         fmt::format("'{}' is no Java launcher{}: the JVM that it starts is asked through JAVA_TOOL_OPTIONS to "
                     "load the agent, and prints one line that says so{}",
                     session.program.front(),
                     preparation.why_jvm.empty() ? "" : fmt::format(", but {}", preparation.why_jvm),
                     options.jvm ? "" : "; --native records the program itself instead"));
  }
  HeldSignals held;  // until the recording has its name
  StartFailure failure{};
  const auto not_started = [&](const base::Error& error) {
    if (failure.error_number == 0) return status_of_own_failure(error);
    return status_of_own_failure(error, failure.error_number == ENOENT ? kExitNotFound : kExitNotExecutable);
  };
  if (preparation.native) {
    base::Result<NativeEnd> end = run_native({.file = preparation.file,
                                              .arguments = preparation.plan.arguments,
                                              .environment = environment,
                                              .agent_options = preparation.plan.agent_options,
                                              .recording = preparation.recording,
                                              .memory_bytes = options.memory_bytes,
                                              .children = options.children,
                                              .kernel_clock = options.clock == "kernel",
                                              .awake = preparation.awake,
                                              .command_arguments = !options.no_command,
                                              .unseen = preparation.runtimes.unseen},
                                             &failure, &held);
    if (!end) return not_started(end.error());
    return conclude(options, session, preparation, end->program, end->recordings);
  }
  base::Result<ChildEnd> end = run_child(preparation.file, preparation.plan.arguments, environment, &failure, &held);
  if (!end) return not_started(end.error());
  return conclude(options, session, preparation, *end, {});
}

int run_once(const Options& options, const Session& session) {
  const std::unique_ptr<recorder::AwakeCores> awake = options.warm ? keep_cores_awake(session) : nullptr;
  const int status = run_program(options, session, awake ? awake->report() : nullptr);
  if (awake && awake->stopped())
    note(session,
         "--warm: idle cores were no longer kept awake once the program, or what it started, was in a group of its own "
         "(a control group, or a session), which would have lost time to that; what idle cores cost from then on is "
         "estimated");
  return status;
}

// "run.cft" -> "run-sets.cft"
std::string path_of_sets(const fs::path& output) {
  return (output.parent_path() / (output.stem().string() + "-sets" + output.extension().string())).string();
}

// Adds the classes that contain the critical sections of a recording.
int choose_classes(Options& options, const Session& session) {
  std::optional<model::Trace> trace = load_trace(options.classes_from, session);
  if (!trace) return kExitInput;
  if (model::is_native(*trace)) {
    return fail(kExitImpossible,
                fmt::format("--classes-from {}: a recording of a native program", options.classes_from));
  }
  const std::vector<analysis::SectionClass> found = analysis::section_classes(*trace);
  if (found.empty()) {
    return fail(kExitImpossible,
                fmt::format("--classes-from {}: no thread of it waited for a lock, so it names no class; --classes "
                            "PATTERN chooses some",
                            options.classes_from));
  }
  for (const analysis::SectionClass& each : found) options.classes.push_back(each.name);
  return 0;
}

// Twice: the times of the first run are the program's own, the second one says what its critical sections touch.
int run(const Options& options, const Session& session) {
  if (const int failed = check_options(options, session); failed != 0) return failed;
  if (!options.classes_from.empty()) {
    Options with_classes = options;
    if (const int failed = choose_classes(with_classes, session); failed != 0) return failed;
    with_classes.classes_from.clear();
    return run(with_classes, session);
  }
  if (!options.twice) return run_once(options, session);
  Options plain = options, with_sets = options;
  plain.sets.clear();
  plain.flow = false;
  with_sets.output = path_of_sets(options.output);
  if (const int status = run_once(plain, session); status != 0) {
    note(session, "it is not run again, with --sets");
    return status;
  }
  return run_once(with_sets, session);
}

Run declare(OptionList& list) {
  auto options = std::make_shared<Options>();
  list.add_option("-o,--output", options->output, "The trace to write").value_name("FILE").show_default();
  list.add_option("--memory", options->memory_bytes, "Most memory for buffers in the program, e.g. 256M")
      .value_name("SIZE")
      .check(size_value());
  list.add_option("--config", options->config, "Trace configuration: which methods to record (docs/tracing.md)")
      .value_name("FILE");
  list.add_option("--include", options->include,
                  "Record entry and exit of matching methods, e.g. 'shop.api.*'; repeatable")
      .value_name("PATTERN")
      .repeatable();
  list.add_option("--exclude", options->exclude, "Do not record these; repeatable").value_name("PATTERN").repeatable();
  list.add_option("--classes", options->classes,
                  "JVM: record every acquisition and release of a lock in the code of matching classes, e.g. "
                  "'shop.*'; of all other code only waits are recorded; repeatable")
      .value_name("PATTERN")
      .repeatable();
  list.add_option("--classes-from", options->classes_from,
                  "JVM: the same for the classes that waited for locks, or let others wait, in this recording")
      .value_name("FILE");
  list.add_flag("--children", options->children,
                "Native: record the processes that it starts too, each in a file of its own");
  const Option sets =
      list.add_option(
              "--sets", options->sets,
              "Gather what critical sections read and write, of a JVM those of chosen classes: in windows of time that "
              "--slowdown allows, or in a window of each period (--sets=100ms/1s), or always")
          .value_name("[WINDOW/PERIOD]")
          .value_if_bare("windows");
  auto flow = std::make_shared<std::string>();
  list.add_option("--flow", *flow,
                  "JVM: as --sets, and also follow where the values go that sections of chosen classes compute: which "
                  "sections' results which others need (docs/flow.md)")
      .value_name("[WINDOW/PERIOD]")
      .value_if_bare("windows")
      .excludes(sets);
  options->slowdown_given = list.add_option("--slowdown", options->slowdown,
                                            "With --sets: how many times as long what critical sections do may take")
                                .value_name("FACTOR")
                                .check(decimal_number(1.01))
                                .show_default();
  list.add_flag("--twice", options->twice,
                "With --sets: run the program twice, without sets and then with them, which go into a file with "
                "-sets in its name; all that it does, it does twice");
  list.add_option(
          "--accesses", options->accesses,
          "Native: record every access of every thread, in its order, always or in a window of each period; many "
          "times slower, and the trace grows by megabytes a second")
      .value_name("[WINDOW/PERIOD]")
      .value_if_bare("always")
      .excludes(sets);
  list.add_option("--sets-from", options->sets_from,
                  "Native: 'compiler' translates no code, and takes only what a program that was compiled with "
                  "-fsanitize=thread tells of itself")
      .check(one_of({"translation", "compiler"}))
      .show_default();
  list.add_option("--clock", options->clock,
                  "Native: times from the processor's counter where that can be trusted, or from the kernel's clock")
      .check(one_of({"processor", "kernel"}))
      .show_default();
  const Option native =
      list.add_flag("--native", options->native, "Record it as a native program, whatever it looks like");
  list.add_flag("--jvm", options->jvm, "Record the JVM that it starts, whatever it looks like").excludes(native);
  list.add_flag("--keep-openmp", options->keep_openmp,
                "Native: leave a program that uses GNU's OpenMP runtime that one, which reports no tasks");
  list.add_flag("--no-command", options->no_command,
                "Leave the program's arguments out of the trace: it holds only the program's name");
  list.add_flag(
      "--warm", options->warm,
      "For services: record what the program computes on a busy machine after hours. Idle cores are kept awake, "
      "half of the time and at the lowest priority; a JVM compiles methods after a tenth of the usual calls");
  list.add_flag("--force", options->force, "Try it on a Java release that is not supported");
  return [options, flow](Session& session) {
    options->flow = !flow->empty();
    if (options->flow) options->sets = *flow;
    return run(*options, session);
  };
}

}  // namespace

const Command kRecordCommand{
    "record", "Run a JVM or native program and record it; write the program behind --",
    "contrafact record -o run.cft --warm -- java -jar service.jar\n"
    "contrafact record -o locks.cft --classes-from run.cft --sets --twice -- java -jar service.jar\n"
    "contrafact record -o run.cft --sets --twice -- ./server --bench",
    declare, "-- PROGRAM [ARGUMENTS]"};

}  // namespace contrafact::cli
