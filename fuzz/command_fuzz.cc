// Runs the computations of the commands, and some commands as a whole, on hostile traces: none may crash, hang, do what
// is undefined, or need more memory than 100 MB plus 400 bytes for each row and 60 for each event that the trace really
// holds (test/bounds holds the same against the commands as processes). Which command gets an input follows from the
// input's bytes. Mutations know the format (trace_mutator.h).
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "advise/combination.h"
#include "advise/flow_advice.h"
#include "advise/section_advice.h"
#include "analysis/flow_graph.h"
#include "analysis/flow_match.h"
#include "analysis/granularity.h"
#include "analysis/headroom.h"
#include "analysis/lock_profile.h"
#include "analysis/metric_set.h"
#include "analysis/task_classes.h"
#include "analysis/ulc.h"
#include "base/check.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "export/perfetto.h"
#include "export/trace_csv.h"
#include "holdings.h"
#include "improve/spec.h"
#include "improve/task_candidates.h"
#include "memory_limit.h"
#include "model/load.h"
#include "model/text_trace.h"
#include "replay/plan/access_turns.h"
#include "replay/plan/plan.h"
#include "trace_mutator.h"
#include "whatif/estimate.h"
#include "whatif/section_edit.h"
#include "whatif/simulate.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace contrafact {
namespace {

// Computes what each command does from a trace, in the order of `contrafact help`; texts go nowhere.
void run_tasks(const model::Trace& trace) {
  analysis::task_classes(trace);
  analysis::granularity(trace, {.bins = 50, .drawn = 8});
  analysis::task_classes(trace, analysis::ClassKey::context);
}
void run_metrics(const model::Trace& trace) {
  const analysis::ThreadUsage usage = analysis::thread_usage(trace);
  analysis::run_metrics(trace, usage);
  analysis::headroom(trace, usage);
  analysis::concurrency_profile(usage, 100);
}
void run_locks(const model::Trace& trace) {
  analysis::lock_profile(trace);
}
void run_ulc(const model::Trace& trace) {
  const model::Facts of_trace(trace);
  const analysis::SectionFacts facts(of_trace);
  analysis::ulc_profile(facts);
  const advise::Pricer pricer(of_trace, &facts, {.draws = 1});
  advise::advise_sections(pricer, {.apply = {}, .priced_max = 4});
}
// With whatever flows the trace has, and as if its own sections had shown them.
void run_flow(const model::Trace& trace) {
  const model::Facts of_trace(trace);
  const analysis::SectionFacts facts(of_trace);
  const model::SectionFlows flows = analysis::matched_flows(facts, facts);
  analysis::flow_graph(facts, flows, true);
  const advise::Pricer pricer(of_trace, &facts, {.draws = 1});
  advise::advise_flows(pricer, flows, model::MemoryNames(trace), {.impact = {.control = true, .locks_max = 2}});
}
// With a small part of the work that the command may do.
void run_advise(const model::Trace& trace) {
  const model::Facts of_trace(trace);
  std::optional<analysis::SectionFacts> facts;
  if (!trace.locks.empty()) facts.emplace(of_trace);
  const advise::Pricer pricer(of_trace, facts ? &*facts : nullptr, {.draws = 1});
  improve::Candidates tasks = improve::task_candidates(of_trace);
  tasks.candidates.resize(std::min<size_t>(tasks.candidates.size(), 4));
  std::optional<whatif::Estimator> estimator;
  if (!trace.tasks.empty()) {
    base::Result<whatif::Estimator> made = whatif::Estimator::create(of_trace);
    if (!made) return;
    estimator = *std::move(made);
  }
  const advise::Engines engines{estimator ? &*estimator : nullptr, pricer};
  const advise::AdviceOptions options{.visits_max = 1'000'000, .simulated_max = 4};
  base::Result<advise::Advices> advices = advise::advise(engines, tasks, options);
  if (!advices) return;
  const base::Result<advise::Combination> best = advise::best_combination(engines, *advices, options);
  std::vector<improve::SpecEntry> entries;
  for (const advise::Advice& advice : advices->ranked) entries.push_back({advice.candidate, name_of(advice.verdict)});
  const improve::SpecTrace in{
      .trace = trace, .dag = estimator ? &estimator->dag() : nullptr, .sections = facts ? &*facts : nullptr};
  const improve::SpecText text{.name = "", .json = improve::write_spec(in, entries)};
  (void)improve::read_specs(in, {&text, 1});
}
void run_estimate(const model::Trace& trace) {
  (void)whatif::simulate(trace, {});
  (void)whatif::check_baseline(trace, {.cores = 3});
}
void run_export(const model::Trace& trace, const base::TextSink& nowhere) {
  model::print_text(trace, nowhere);
  exporters::events_csv(trace, nowhere);
  exporters::tasks_csv(trace, nowhere);
  exporters::trace_json(trace, {{"schema_version", 1}}, nowhere);
  exporters::perfetto_trace(trace, {}, nowhere);
}

// Edits of every kind, by turns.
std::vector<whatif::SectionEdit> some_edits(const model::Trace& trace, const whatif::Simulator& simulator) {
  using Mode = whatif::SectionEdit::Mode;
  std::vector<whatif::SectionEdit> edits = whatif::unedited(simulator.sections());
  const auto locks = static_cast<uint32_t>(trace.locks.size());
  for (size_t i = 0; i < edits.size(); ++i) {
    const model::CriticalSection& section = simulator.sections()[i];
    if (!model::is_held(trace.locks[section.lock.index()].kind) || section.outcome != model::Outcome::normal) continue;
    whatif::SectionEdit& edit = edits[i];
    switch (section.lock.value % 4) {
      case 0:
        edit.head_outside_ns = section.hold_ns() / 2;
        break;
      case 1:
        edit.mode = Mode::shared;
        edit.look_ns = 1000;
        break;
      case 2:
        edit.lock = locks + static_cast<uint32_t>(i % 2);
        edit.tail_outside_ns = 20'000;
        break;
      default:
        edit.mode = Mode::none;
    }
  }
  return edits;
}
void run_replay(const model::Trace& trace) {
  const whatif::Simulator simulator(trace);
  const std::vector<whatif::SectionEdit> edits = some_edits(trace, simulator);
  (void)simulator.retime_sections(edits);
  (void)simulator.simulate({.edits = edits}, {.lock_rule = whatif::LockRule::recorded, .seed = 1});
  if (const auto schedule = replay::plan_schedule(simulator, {.edits = edits})) (void)replay::encode(*schedule);
  replay::SharedAccesses facts;
  const base::Result<model::Trace> with_turns = replay::with_access_turns(trace, facts);
  if (with_turns) (void)replay::plan_schedule(whatif::Simulator(*with_turns), {});
}

void run_command(size_t command, const model::Trace& trace) {
  switch (command) {
    case 0:
      return run_tasks(trace);
    case 1:
      return run_metrics(trace);
    case 2:
      return run_locks(trace);
    case 3:
      return run_ulc(trace);
    case 4:
      return run_advise(trace);
    case 5:
      return run_estimate(trace);
    case 6:
      return run_replay(trace);
    case 7:
      return run_flow(trace);
    default:
      return run_export(trace, [](std::string_view) {});
  }
}
constexpr size_t kCommands = 9;

// Commands as a person types them, up to what they print; each reads the trace so often.
using Words = std::vector<std::string>;
struct CommandLine {
  size_t traces;
  Words words;
};
const std::vector<CommandLine> kCommandLines{{1, {"info", "--json", "--all"}},
                                             {1, {"info", "--all"}},
                                             {1, {"tasks", "--json"}},
                                             {1, {"locks", "--json", "--all"}},
                                             {1, {"metrics", "--json"}},
                                             {2, {"compare", "--json"}},
                                             {1, {"ulc", "--json", "--all"}},
                                             {1, {"ulc", "--all", "--pairs"}},
                                             {2, {"ulc", "--all"}},
                                             {1, {"flow", "--json"}},
                                             {2, {"flow", "--implicit"}},
                                             {1, {"advise", "--json", "--all", "--budget", "1"}},
                                             {1, {"advise", "--all", "--left-out", "--budget", "1"}},
                                             {1, {"estimate", "--model", "redispatch", "--json"}},
                                             {1, {"export", "--format", "csv"}},
                                             {1, {"export", "--format", "csv", "--what", "headroom"}},
                                             {1, {"export", "--format", "csv", "--what", "metrics"}},
                                             {1, {"export", "--format", "csv", "--what", "task-classes"}},
                                             {1, {"export", "--format", "csv", "--what", "tasks"}},
                                             {1, {"export", "--format", "csv", "--what", "events"}},
                                             {1, {"export", "--format", "json"}},
                                             {1, {"export", "--format", "perfetto"}},
                                             {1, {"export", "--format", "text"}},
                                             {1, {"replay", "--no-threads", "--runs", "1", "--json"}},
                                             {1, {"replay", "--runs", "1", "--limit", "0.1"}}};

// A trace and the memory that a command may use for it.
struct Input {
  std::string path;
  size_t bytes_max;
};

// The command ends with a status that docs/cli.md lists for a trace that it cannot use, or with 0.
void run_line(const Words& words, const Input& input, size_t traces = 1) {
  const MemoryLimit limit(traces * input.bytes_max);
  std::vector<const char*> all{"contrafact"};
  for (const std::string& word : words) all.push_back(word.c_str());
  all.insert(all.end(), traces, input.path.c_str());
  const int status = cli::run_tool(static_cast<int>(all.size()), all.data());
  CHECK(status == cli::kExitOk || status == cli::kExitInput || status == cli::kExitImpossible);
}

// A new folder, which is gone with its files at the end.
class Folder {
 public:
  Folder() {
    std::string name = std::filesystem::temp_directory_path() / "command_fuzz.XXXXXX";
    CHECK(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string at(const char* name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

// Runs commands that write specs and variants, and the commands that read these.
void write_and_read(const Input& input) {
  constexpr size_t kSpecsMax = 3;
  const Folder folder;
  run_line({"advise", "--budget", "1", "--specs", folder.at("advice"), "--plot", folder.at("page.html")}, input);
  run_line({"ulc", "--specs", folder.at("remedies")}, input);
  run_line({"export", "--format", "cft", "-o", folder.at("whole.cft")}, input);
  for (const std::string& specs : {folder.at("advice"), folder.at("remedies")}) {
    if (!std::filesystem::exists(specs)) continue;  // the trace was refused, or there is nothing to improve
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator(specs)) paths.push_back(entry.path());
    std::ranges::sort(paths);
    paths.resize(std::min(paths.size(), kSpecsMax));
    for (const std::string& spec : paths) {
      const std::string variant = folder.at("variant.cft");
      run_line({"estimate", "--apply", spec, "-o", variant}, input);
      if (std::filesystem::exists(variant)) run_line({"info", "--json"}, {variant, input.bytes_max});
      std::filesystem::remove(variant);
      run_line({"estimate", "--apply", spec, "--model", "redispatch", "--cores", "3", "--json"}, input);
      run_line({"ulc", "--apply", spec}, input);
      run_line({"replay", "--no-threads", "--runs", "1", "--apply", spec, "--csv", folder.at("runs.csv")}, input);
    }
  }
}

size_t hash_of(std::span<const uint8_t> file) {
  uint64_t hash = 14695981039346656037u;
  for (const uint8_t byte : file) hash = (hash ^ byte) * 1099511628211u;
  return hash >> 32;
}

// On a trace of its own: what one computation keeps is not held against the next.
void load_and_run(std::span<const uint8_t> file, const std::string& path, size_t command) {
  const MemoryLimit limit(test::holdings_of(file).bytes_max());
  const base::Result<model::Trace> trace = model::load_any(path, {.access_log = true});
  if (!trace) return;
  const base::Status sound = model::verify(*trace);
  if (!sound) std::fprintf(stderr, "%s\n", sound.error().message.c_str());
  CHECK(sound.ok());
  run_command(command, *trace);
}

bool every_command = false;

}  // namespace
}  // namespace contrafact

// --every-command: each input goes to all of them, as seeds do that found something while there were fewer.
extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  for (int i = 1; i < *count; ++i) contrafact::every_command |= std::string_view((*arguments)[i]) == "--every-command";
  contrafact::MemoryLimit::install();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace contrafact;
  const std::span file(data, size);
  const int memory = memfd_create("fuzz", MFD_CLOEXEC);
  CHECK(memory >= 0 && write(memory, data, size) == static_cast<ssize_t>(size));
  const std::string path = "/proc/self/fd/" + std::to_string(memory);
  const size_t chosen = hash_of(file) % (kCommands + kCommandLines.size() + 1);
  const auto is_due = [&](size_t i) { return every_command || i == chosen; };
  for (size_t command = 0; command < kCommands; ++command) {
    if (is_due(command)) load_and_run(file, path, command);
  }
  const Input input{path, test::holdings_of(file).bytes_max()};
  for (size_t i = 0; i < kCommandLines.size(); ++i) {
    if (is_due(kCommands + i)) run_line(kCommandLines[i].words, input, kCommandLines[i].traces);
  }
  if (is_due(kCommands + kCommandLines.size())) write_and_read(input);
  close(memory);
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed) {
  if (seed % 16 != 0) {
    const std::vector<uint8_t> file = contrafact::format::TraceMutator(seed).mutate({data, size});
    if (!file.empty() && file.size() <= max_size) {
      std::copy(file.begin(), file.end(), data);
      return file.size();
    }
  }
  return LLVMFuzzerMutate(data, size, max_size);
}
