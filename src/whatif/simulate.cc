#include "whatif/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "whatif/retime.h"
#include "whatif/sim_machine.h"
#include "whatif/sim_program.h"
#include "whatif/stream_parts.h"
#include "whatif/task_groups.h"
#include "whatif/task_parts.h"

namespace contrafact::whatif {
namespace {

// 0: unlimited.
uint32_t core_count(const model::Trace& trace, const SimulateOptions& options, std::vector<std::string>& notes) {
  if (options.unlimited_cores) return 0;
  if (options.cores > 0) return options.cores;
  const uint32_t cores = model::recorded_cores(trace);
  if (cores == 0) notes.push_back("the trace does not say how many cores the machine had: unlimited cores assumed");
  return cores;
}

base::Status check_treatments(const model::Trace& trace, std::span<const Treatment> treatments) {
  if (treatments.empty()) return {};
  if (treatments.size() != trace.tasks.size()) {
    return base::Error{"the treatments are for " + std::to_string(treatments.size()) + " tasks, the trace has " +
                       std::to_string(trace.tasks.size())};
  }
  for (size_t i = 0; i < treatments.size(); ++i) {
    if (treatments[i] == Treatment::keep) continue;
    const model::TaskRow& task = trace.tasks[i];
    if (task.kind == model::TaskKind::pooled && task.start.valid()) continue;
    const char* why = task.kind == model::TaskKind::thread   ? "is the run of a thread"
                      : task.kind == model::TaskKind::future ? "has no body"
                      : task.kind == model::TaskKind::stage  ? "runs already where its source completes"
                                                             : "never started";
    return base::Error{"task " + std::to_string(i) + " (" + trace.method_label(task.body) +
                       ") cannot be restructured: it " + why};
  }
  return {};
}

base::Status check_edits(const SimProgram& program, std::span<const SectionEdit> edits) {
  const size_t sections = program.sync.sections.size();
  if (!edits.empty() && edits.size() != sections) {
    return base::Error{"the edits are for " + std::to_string(edits.size()) + " critical sections, the trace has " +
                       std::to_string(sections)};
  }
  constexpr size_t kNewOfSection = 2;
  const size_t locks_max = program.trace->locks.size() + kNewOfSection * sections;
  const auto is_beyond = [&](uint32_t lock) { return lock >= locks_max; };
  for (const SectionEdit& edit : edits) {
    if (edit.mode == SectionEdit::Mode::none) continue;
    if (is_beyond(edit.lock) || (edit.also < SectionEdit::kAllLocks && is_beyond(edit.also)))
      return base::Error{"an edit names lock " + std::to_string(is_beyond(edit.lock) ? edit.lock : edit.also) +
                         ": new ones count on from the trace's " + std::to_string(program.trace->locks.size())};
  }
  return {};
}

base::Status check_order(const SimProgram& program, const Variant& variant) {
  if (!variant.order) return {};
  const size_t sections = program.sync.sections.size();
  if (variant.order->begin.size() != sections + 1)
    return base::Error{"the order is not of the trace's " + std::to_string(sections) + " critical sections"};
  if (!variant.edits.empty()) return base::Error{"sections that keep an order of their own cannot be edited as well"};
  return {};
}

// `planned`: the plan of the variant's sections, if it was made already.
base::Result<Simulation> simulate_program(const SimProgram& program, const Variant& variant,
                                          const SimulateOptions& given, const SectionPlan* planned = nullptr) {
  if (base::Status status = check_treatments(*program.trace, variant.treatments); !status) return status.error();
  if (base::Status status = check_edits(program, variant.edits); !status) return status.error();
  if (base::Status status = check_order(program, variant); !status) return status.error();
  if (!variant.thread_sizes.empty())
    return base::Error{fmt::format("how many threads {} there are counts only under other loads (contrafact load)",
                                   variant.thread_sizes[0].threads)};
  SimulateOptions options = given;
  if (variant.cores > 0) options.cores = variant.cores;
  options.pool_sizes.insert(options.pool_sizes.end(), variant.pool_sizes.begin(), variant.pool_sizes.end());
  std::vector<std::string> notes;
  const uint32_t cores = core_count(*program.trace, options, notes);
  SectionPlan own;
  if (planned == nullptr) own = plan_sections(program, variant, options.lock_rule);
  const base::Result<TaskGroups> groups = task_groups(program, variant.merges);
  if (!groups) return groups.error();
  SimMachine machine(program, planned == nullptr ? own : *planned, variant.treatments, *groups, options, cores);
  base::Result<Simulation> simulation = machine.run();
  if (!simulation) return simulation;
  simulation->locks = machine.lock_waits();
  simulation->notes.insert(simulation->notes.begin(), notes.begin(), notes.end());
  return simulation;
}

// Handing out each part but the last takes as long as handing out its task did. (The last one's cost is the task's own,
// which the recording holds.)
void pay_for_parts(std::span<const model::TaskId> part_of, uint32_t first, const model::HandOverCosts& recorded,
                   SimProgram& program) {
  base::Column<Op> ops;
  ops.reserve(program.ops.size() + part_of.size());
  const auto cost_ns = [&](const Op& op) -> int64_t {
    if (op.code != OpCode::spawn || op.value < first) return 0;
    const size_t part = op.value - first;
    if (part >= part_of.size()) return 0;
    const bool is_last = part + 1 == part_of.size() || part_of[part + 1] != part_of[part];
    return is_last ? 0 : program.left_out.spawn_ns(recorded, part_of[part].index());
  };
  for (Fiber& fiber : program.fibers) {
    const auto begin = static_cast<uint32_t>(ops.size());
    for (uint32_t pc = fiber.begin; pc < fiber.end; ++pc) {
      ops.push_back(program.ops[pc]);
      if (const int64_t ns = cost_ns(program.ops[pc]); ns > 0)
        ops.push_back({static_cast<uint64_t>(ns), UINT32_MAX, OpCode::cpu});
    }
    fiber = {begin, static_cast<uint32_t>(ops.size())};
  }
  program.ops = std::move(ops);
}

// A part begins where it lies in its task, long after that was handed out: that says nothing of how long a part takes to
// begin.
void start_as_usual(uint32_t first, const Latencies& recorded, SimProgram& program) {
  program.latencies = recorded;
  for (size_t part = first; part < program.hand_overs.size(); ++part) program.hand_overs[part] = {};
}

// The run with other tasks than the recorded ones: those that are split, and those of parallel streams on pools of other
// sizes. None: the tasks are the recorded ones.
std::optional<base::Result<Simulation>> simulate_other_parts(const model::Facts& recorded, const Variant& variant,
                                                             const SimulateOptions& options, const Latencies& latencies,
                                                             const LeftOut& left_out = {}) {
  std::vector<PoolSize> sizes = options.pool_sizes;
  sizes.insert(sizes.end(), variant.pool_sizes.begin(), variant.pool_sizes.end());
  std::optional<RunWithParts> split = with_task_parts(recorded.trace(), variant.splits);
  std::optional<model::Trace> other;
  if (!sizes.empty() && !options.unlimited_pools)
    other = with_stream_parts(split ? split->trace : recorded.trace(), sizes);
  if (!other && !split) return std::nullopt;
  if (!other) other = std::move(split->trace);
  Variant of_other = variant;
  if (!variant.treatments.empty()) of_other.treatments.resize(other->tasks.size(), Treatment::keep);
  const model::Facts facts(*other);
  SimProgram program = compile_program(facts, options.build_trace, left_out);
  if (split) {
    const auto first = static_cast<uint32_t>(recorded.trace().tasks.size());
    pay_for_parts(split->part_of, first, recorded.hand_over_costs(), program);
    start_as_usual(first, latencies, program);
  }
  return simulate_program(program, of_other, options);
}

}  // namespace

base::Result<Simulation> simulate(const model::Facts& facts, const Variant& variant, const SimulateOptions& options) {
  const Latencies latencies = measure_latencies(facts.trace(), facts.uses());
  if (auto simulation = simulate_other_parts(facts, variant, options, latencies)) return *std::move(simulation);
  return simulate_program(compile_program(facts, options.build_trace), variant, options);
}

base::Result<BaselineCheck> check_baseline(const model::Facts& facts, const SimulateOptions& options) {
  return Simulator(facts).check_baseline(options);
}

model::Fact baseline_fact(const BaselineCheck& check) {
  return {std::string(kBaselineErrorFact), fmt::format("{:.6f}", check.error)};
}

Simulator::Simulator(const model::Facts& facts, const LeftOut& left_out)
    : facts_(&facts), program_(std::make_unique<const SimProgram>(compile_program(facts, false, left_out))) {
  if (program_->conventions.all_threads_count || !program_->sync.sections.empty())
    retimer_ = std::make_unique<const Retimer>(*program_, facts.wakes());
}

Simulator::Simulator(std::unique_ptr<const model::Facts> facts) : Simulator(*facts) {
  own_facts_ = std::move(facts);
}

Simulator::Simulator(const model::Trace& trace) : Simulator(std::make_unique<const model::Facts>(trace)) {}

Simulator::~Simulator() = default;

std::shared_ptr<const SectionPlan> Simulator::plan(const Variant& variant, LockRule rule) const {
  if (!check_edits(*program_, variant.edits) || !check_order(*program_, variant)) return nullptr;
  return std::make_shared<const SectionPlan>(plan_sections(*program_, variant, rule));
}

base::Result<Simulation> Simulator::simulate(const Variant& variant, const SimulateOptions& options) const {
  return simulate(variant, options, nullptr);
}

base::Result<Simulation> Simulator::simulate(const Variant& variant, const SimulateOptions& options,
                                             const SectionPlan* plan) const {
  SimulateOptions quiet = options;
  quiet.build_trace = false;
  if (auto simulation = simulate_other_parts(*facts_, variant, quiet, program_->latencies, program_->left_out))
    return *std::move(simulation);
  return simulate_program(*program_, variant, quiet, plan);
}

int64_t Simulator::retime_sections(std::span<const SectionEdit> edits) const {
  return retimer_ ? retimer_->duration_ns(edits) : program_->end_ns - program_->begin_ns;
}

const SimProgram& Simulator::program() const {
  return *program_;
}

std::span<const model::CriticalSection> Simulator::sections() const {
  return program_->sync.sections;
}

base::Result<BaselineCheck> Simulator::check_baseline(const SimulateOptions& options) const {
  base::Result<Simulation> run = simulate({}, options);
  if (!run) return run.error();
  BaselineCheck check;
  check.recorded_ns = program_->end_ns - program_->begin_ns;
  check.simulated_ns = run->duration_ns;
  check.cpu_ns = run->cpu_ns;
  check.checked_ns = check.simulated_ns;
  const uint32_t recorded = model::recorded_cores(*program_->trace);
  if (recorded > 0 && options.cores > 0 && options.cores != recorded) {
    SimulateOptions as_recorded = options;
    as_recorded.cores = 0;
    base::Result<Simulation> checked = simulate({}, as_recorded);
    if (!checked) return checked.error();
    check.checked_ns = checked->duration_ns;
  }
  if (check.recorded_ns > 0) {
    check.error = static_cast<double>(check.checked_ns - check.recorded_ns) / static_cast<double>(check.recorded_ns);
  }
  if (retimer_) {
    check.retimed_ns = retimer_->duration_ns({});
    const auto recorded_ns = static_cast<double>(std::max<int64_t>(retimer_->recorded_ns(), 1));
    check.retimed_error = static_cast<double>(check.retimed_ns - retimer_->recorded_ns()) / recorded_ns;
  }
  constexpr double kTrustedError = 0.05, kRetimedError = 0.02;
  check.trusted =
      run->stuck.empty() && std::fabs(check.error) <= kTrustedError && std::fabs(check.retimed_error) <= kRetimedError;
  check.stuck = !run->stuck.empty();
  check.notes = std::move(run->notes);
  if (!run->stuck.empty())
    check.notes.push_back("the simulation of the unchanged run got stuck: a task " + run->stuck.front().reason);
  return check;
}

}  // namespace contrafact::whatif
