#include "whatif/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/kept_workers.h"
#include "whatif/load_templates.h"
#include "whatif/request_copier.h"
#include "whatif/request_run.h"
#include "whatif/sim_machine.h"
#include "whatif/task_groups.h"

namespace contrafact::whatif {
namespace {

// xorshift64*: the same on every machine.
class Dice {
 public:
  explicit Dice(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ull | 1) {}
  double share() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return static_cast<double>((state_ * 0x2545F4914F6CDD1Dull) >> 11) * 0x1p-53;
  }
  size_t below(size_t count) { return std::min(count - 1, static_cast<size_t>(share() * static_cast<double>(count))); }

 private:
  uint64_t state_;
};

// The times between open requests. Their mean is the load's, whatever was drawn: a long gap more or less would be another load.
std::vector<double> gaps_ns(const Load& load, Dice& dice) {
  std::vector<double> gaps;
  double sum = 0;
  for (uint32_t i = 0; i < load.requests; ++i) {
    gaps.push_back(load.gaps.empty() ? -std::log(1 - dice.share()) : load.gaps[dice.below(load.gaps.size())]);
    sum += gaps.back();
  }
  const double scale = sum > 0 ? static_cast<double>(load.requests) * 1e9 / load.per_second / sum : 0;
  for (double& gap : gaps) gap *= scale;
  return gaps;
}

uint32_t clients_of(const Load& load) {
  return load.open ? 0 : std::min(load.clients, load.requests);
}

// The clients of a load, each a thread of the program, which hand out copies of requests.
class Clients {
 public:
  Clients(const LoadTemplates& templates, const Load& load, RequestCopier& copier)
      : templates_(templates),
        load_(load),
        copier_(copier),
        dice_(load.seed),
        first_(static_cast<uint32_t>(dice_.below(templates.all().size()))) {}

  // Request i marks 2 i when it is handed out, and 2 i + 1 when it is answered.
  std::vector<ServedRequest> add() {
    load_.open ? add_open() : add_closed();
    return std::move(served_);
  }

 private:
  static Op op(OpCode code, uint64_t value) { return {value, RequestCopier::kNoCopy, code}; }

  uint32_t drawn_at(uint32_t number) const {
    return static_cast<uint32_t>((uint64_t{first_} + number) % templates_.all().size());
  }

  // Returns what is to be awaited.
  uint32_t hand_out(uint32_t number, std::vector<Op>& ops) {
    const uint32_t mark = 2 * number;
    const RequestCopier::Copied copied = copier_.copy(drawn_at(number), mark);
    ops.push_back(op(OpCode::mark, mark));
    ops.push_back(op(OpCode::spawn, copied.handed));
    if (copied.beside != RequestCopier::kNoCopy) ops.push_back(op(OpCode::spawn, copied.beside));
    served_.push_back({drawn_at(number), 0, -1});
    return copied.answer;
  }

  static void await(uint32_t answer, std::vector<Op>& ops) {
    ops.push_back(op(OpCode::wait, answer));
    ops.push_back(op(OpCode::wait_done, 0));
  }

  // One thread sends all.
  void add_open() {
    std::vector<Op> ops;
    std::vector<uint32_t> answers;
    const std::vector<double> gaps = gaps_ns(load_, dice_);
    for (uint32_t i = 0; i < load_.requests; ++i) {
      ops.push_back(op(OpCode::pause, static_cast<uint64_t>(gaps[i])));
      answers.push_back(hand_out(i, ops));
    }
    for (const uint32_t answer : answers) await(answer, ops);
    copier_.add_client(0, ops);
  }

  // The clients begin one after the other, within the time that a request takes.
  void add_closed() {
    const uint32_t clients = clients_of(load_);
    std::vector<std::vector<Op>> ops(clients);
    for (uint32_t i = 0; i < load_.requests; ++i) {
      std::vector<Op>& own = ops[i % clients];
      if (const int64_t ns = i < clients ? 0 : think_ns(); ns > 0)
        own.push_back(op(OpCode::pause, static_cast<uint64_t>(ns)));
      await(hand_out(i, own), own);
    }
    const std::vector<int64_t>& recorded_ns = templates_.recorded_ns();
    int64_t mean_ns = 0;
    for (const int64_t ns : recorded_ns) mean_ns += ns / static_cast<int64_t>(recorded_ns.size());
    for (uint32_t i = 0; i < clients; ++i) copier_.add_client(mean_ns * i / clients, ops[i]);
  }

  int64_t think_ns() {
    const int64_t ns = load_.thinks_ns.empty() ? 0 : load_.thinks_ns[dice_.below(load_.thinks_ns.size())];
    return std::max(ns, way_ns());
  }

  // A client that does not think has to be woken by the answer all the same, and its request has to wake the program's thread. It matters
  // where threads keep their lag: one that has answered would find the next request at once, and would not leave its core between the two.
  int64_t way_ns() const {
    constexpr int64_t kTwoWakesNs = 50'000;
    return templates_.program().sync.wake_placement.keeps_lag ? kTwoWakesNs : 0;
  }

  const LoadTemplates& templates_;
  const Load& load_;
  RequestCopier& copier_;
  Dice dice_;
  const uint32_t first_;  // that is drawn
  std::vector<ServedRequest> served_;
};

// With the sizes that the variant gives to pools and groups of threads, less the workers that serve no requests.
base::Result<SimulateOptions> machine_of(const LoadTemplates& templates, const Variant& variant,
                                         SimulateOptions options) {
  options.build_trace = false;
  options.preempts_by_lag = true;
  if (variant.cores > 0) options.cores = variant.cores;
  options.pool_sizes.insert(options.pool_sizes.end(), variant.pool_sizes.begin(), variant.pool_sizes.end());
  for (const ThreadSize& size : variant.thread_sizes) {
    const uint32_t pool = templates.pool_of_threads(size.threads);
    if (pool == LoadTemplates::kNoId)
      return base::Error{fmt::format(
          "no threads {0} serve requests in this recording, and no resource {0} was found in it", size.threads)};
    options.pool_sizes.push_back({model::PoolId(pool), size.count});
  }
  for (PoolSize& size : options.pool_sizes) size.workers = templates.workers_of(size.pool.value, size.workers);
  return options;
}

}  // namespace

base::Result<LoadRun> LoadSimulator::simulate(const Variant& variant, const Load& asked,
                                              const SimulateOptions& given) const {
  const LoadTemplates& templates = *templates_;
  if (templates.all().empty()) return base::Error{"no request of the recording can be simulated"};
  if (!variant.merges.empty() || !variant.splits.empty())
    return base::Error{"a change of the number of tasks is not simulated under a load"};
  Load load = asked;
  load.requests = std::min(load.requests, templates.requests_most());
  const base::Result<SimulateOptions> options = machine_of(templates, variant, given);
  if (!options) return options.error();
  const uint32_t cores = options->cores > 0 ? options->cores : model::recorded_cores(templates.trace());
  const SectionPlan plan = plan_sections(templates.program(), variant, options->lock_rule);

  RequestCopier copier(templates, plan, variant.treatments);
  LoadRun result{.clients = clients_of(load), .served = {}, .simulation = {}};
  result.served = Clients(templates, load, copier).add();
  const std::vector<Treatment> treatments = copier.take_treatments();
  const auto [program, made_plan] = copier.finish(2 * load.requests);
  SimMachine machine(program, made_plan, treatments, {}, *options, cores);
  base::Result<Simulation> simulation = machine.run();
  if (!simulation) return simulation.error();
  result.simulation = *std::move(simulation);
  result.simulation.locks = machine.lock_waits();
  for (uint32_t i = 0; i < result.served.size(); ++i) {
    result.served[i].arrived_ns = machine.marks_ns()[2 * i];
    result.served[i].answered_ns = machine.marks_ns()[2 * i + 1];
  }
  return result;
}

base::Result<LoadSimulator> LoadSimulator::make(const model::Facts& facts, const model::Requests& requests) {
  base::Result<RequestRun> run = with_request_tasks(facts, requests);
  if (!run) return run.error();
  return LoadSimulator(
      std::make_unique<const LoadTemplates>(facts, *std::move(run), model::kept_workers(facts.trace(), requests)));
}

LoadSimulator::LoadSimulator(std::unique_ptr<const LoadTemplates> templates) : templates_(std::move(templates)) {}
LoadSimulator::LoadSimulator(LoadSimulator&&) noexcept = default;
LoadSimulator& LoadSimulator::operator=(LoadSimulator&&) noexcept = default;
LoadSimulator::~LoadSimulator() = default;

Variant LoadSimulator::without_lock(const Variant& variant, uint32_t lock) const {
  Variant without = variant;
  if (without.edits.empty()) without.edits = unedited(templates_->program().sync.sections);
  for (SectionEdit& edit : without.edits) {
    if (edit.lock == lock) edit.mode = SectionEdit::Mode::none;
  }
  return without;
}

}  // namespace contrafact::whatif
