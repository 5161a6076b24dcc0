#include "whatif/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "model/event_cost.h"
#include "model/pool_capacity.h"
#include "whatif/request_run.h"
#include "whatif/sim_machine.h"
#include "whatif/sim_sections.h"
#include "whatif/task_groups.h"

namespace contrafact::whatif {
namespace {

using model::TaskId;
using model::TaskKind;
using model::TaskRow;

constexpr uint32_t kNoId = UINT32_MAX;
constexpr double kVmTold = 0.1;

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

// What one recorded request consists of, ready to be copied. Numbers are fibers of the recorded program.
struct Template {
  uint32_t connection = kNoId;
  std::vector<uint32_t> tasks;    // the root is the first
  std::vector<uint32_t> threads;  // that it starts
  uint32_t answer_mark = kNoId;   // the operation that answers; kNoId: the root's completion
};

bool is_handed_on(OpCode code) {
  return code == OpCode::spawn || code == OpCode::call || code == OpCode::register_;
}

}  // namespace

class LoadSimulator::Impl {
 public:
  Impl(const model::Facts& recorded, RequestRun run)
      : recorded_(recorded),
        run_(std::move(run)),
        facts_(run_.trace),
        left_out_{model::event_costs(recorded.trace()), true},
        program_(compile()) {
    skeleton_rows();
    find_templates();
    measure_hand_on();
    find_shared_locks();
    bound_requests();
  }

  base::Result<LoadRun> simulate(const Variant& variant, const Load& load, const SimulateOptions& given) const;

  std::vector<int64_t> recorded_ns;
  std::vector<uint32_t> shared_locks;
  std::vector<std::string> notes() const;
  Variant without_lock(const Variant& variant, uint32_t lock) const {
    Variant without = variant;
    if (without.edits.empty()) without.edits = unedited(program_.sync.sections);
    for (SectionEdit& edit : without.edits) {
      if (edit.lock == lock) edit.mode = SectionEdit::Mode::none;
    }
    return without;
  }
  uint32_t recorded_cores() const { return model::recorded_cores(run_.trace); }
  const std::vector<format::PoolRow>& pools() const { return pools_; }
  std::string pool_name(uint32_t pool) const {
    if (pool == hand_on_pool()) return "the threads that hand requests to pools";
    return std::string(run_.trace.string(pools_[pool].name));
  }
  uint32_t pool_size(uint32_t pool) const { return pool == hand_on_pool() ? hand_on_threads_ : capacities_[pool]; }

 private:
  class Copier;

  SimProgram compile() {
    for (const RunRequest& request : run_.requests) {
      if (request.answered != kNoId) marked_.push_back(request.answered);
    }
    std::ranges::sort(marked_);
    marked_.erase(std::ranges::unique(marked_).begin(), marked_.end());
    return compile_program(facts_, false, left_out_, marked_);
  }

  // The pool of the threads that only hand requests on: behind all others.
  uint32_t hand_on_pool() const { return static_cast<uint32_t>(run_.trace.pools.size()); }

  void skeleton_rows();
  void find_templates();
  void measure_hand_on();
  double vm_share() const;
  void find_shared_locks();
  void bound_requests();

  std::span<const Op> ops_of(const SectionPlan& plan, uint32_t fiber) const {
    const std::span<const Op> ops = plan.ops.empty() ? std::span<const Op>(program_.ops) : plan.ops;
    const Fiber& code = plan.ops.empty() ? program_.fibers[fiber] : plan.fibers[fiber];
    return ops.subspan(code.begin, code.end - code.begin);
  }

  const model::Facts& recorded_;
  const RequestRun run_;
  const model::Facts facts_;
  std::vector<uint32_t> marked_;
  const LeftOut left_out_;
  const SimProgram program_;
  std::vector<format::PoolRow> pools_;  // of the run, and hand_on_pool
  std::vector<uint32_t> capacities_;    // by pool
  std::vector<Template> templates_;     // of the requests that can be drawn
  std::vector<int64_t> hand_on_ns_;     // by template: what the thread that handed it on computed for it
  uint32_t hand_on_threads_ = 0;
  std::vector<bool> is_shared_;          // by lock
  std::vector<uint32_t> stop_owner_;     // by stop of the virtual machine: the template that brings it
  uint32_t requests_most_ = UINT32_MAX;  // of one simulation
  size_t outside_ = 0;                   // requests whose answer none of their tasks sends
};

void LoadSimulator::Impl::skeleton_rows() {
  std::vector<uint32_t> seen(run_.trace.pools.size());
  for (const model::ThreadUse& use : facts_.uses()) {
    if (use.role == model::ThreadRole::worker) ++seen[use.pool.index()];
  }
  pools_ = run_.trace.pools;
  for (uint32_t i = 0; i < pools_.size(); ++i) {
    capacities_.push_back(model::pool_capacity(pools_[i], seen[i]));
    if (i < program_.permits.size() && program_.permits[i] != SimProgram::kPermitsUnknown)
      capacities_.back() = program_.permits[i];
    // No worker of the recording is there: the row alone has to say how many there are.
    if (pools_[i].kind == format::PoolKind::permits || pools_[i].kind == format::PoolKind::thread_per_task) continue;
    if (capacities_[i] == model::kUnboundedPool || pools_[i].core_size == capacities_[i]) continue;
    pools_[i].core_size = pools_[i].max_size = capacities_[i];
  }
}

void LoadSimulator::Impl::find_templates() {
  const SectionPlan recorded;
  std::vector<uint32_t> owner(program_.fibers.size(), kNoId);
  for (const RunRequest& request : run_.requests) {
    if (!request.root.valid() || !program_.fibers[request.root.index()].runs()) continue;
    const auto number = static_cast<uint32_t>(templates_.size());
    Template made;
    made.connection = request.connection;
    made.tasks.push_back(request.root.value);
    owner[request.root.index()] = number;
    uint32_t wanted = kNoId;
    if (request.answered != kNoId)
      wanted = static_cast<uint32_t>(std::ranges::lower_bound(marked_, request.answered) - marked_.begin());
    const auto scan = [&](uint32_t fiber) {
      for (const Op& op : ops_of(recorded, fiber)) {
        if (op.code == OpCode::mark && op.value == wanted) made.answer_mark = wanted;
        if (op.code == OpCode::stop && op.value < run_.trace.pauses.size()) {
          stop_owner_.resize(run_.trace.pauses.size(), kNoId);
          if (stop_owner_[op.value] == kNoId) stop_owner_[op.value] = number;
        }
        if (!is_handed_on(op.code)) continue;
        const auto task = static_cast<uint32_t>(op.value);
        if (owner[task] != kNoId) continue;
        owner[task] = number;
        made.tasks.push_back(task);
        if (run_.trace.tasks[task].kind == TaskKind::thread && op.code == OpCode::spawn)
          made.threads.push_back(program_.thread_of_run(task));
      }
    };
    size_t threads_done = 0;
    for (size_t i = 0; i < made.tasks.size(); ++i) {
      scan(made.tasks[i]);
      while (threads_done < made.threads.size()) scan(program_.thread_fiber(made.threads[threads_done++]));
    }
    if (wanted != kNoId && made.answer_mark == kNoId) {
      ++outside_;
      continue;
    }
    templates_.push_back(std::move(made));
    recorded_ns.push_back(request.answered_ns - request.arrived_ns);
  }
}

// Threads that are no workers and spawn requests' roots: what they compute is shared evenly among those.
void LoadSimulator::Impl::measure_hand_on() {
  std::unordered_map<uint32_t, size_t> handed;  // by thread
  std::vector<uint32_t> by(templates_.size(), kNoId);
  for (size_t i = 0; i < templates_.size(); ++i) {
    const TaskRow& root = run_.trace.tasks[templates_[i].tasks.front()];
    const uint32_t thread = run_.trace.thread_of(root.spawn).value;
    if (thread >= recorded_.trace().threads.size()) continue;  // the clients
    if (program_.uses[thread].role == model::ThreadRole::worker) continue;
    by[i] = thread;
    ++handed[thread];
  }
  hand_on_threads_ = static_cast<uint32_t>(handed.size());
  hand_on_ns_.assign(templates_.size(), -1);
  const SectionPlan recorded;
  std::unordered_map<uint32_t, int64_t> each_ns;
  for (const auto& [thread, count] : handed) {
    uint64_t cpu_ns = 0;
    for (const Op& op : ops_of(recorded, program_.thread_fiber(thread)))
      cpu_ns += op.code == OpCode::cpu ? op.value : 0;
    each_ns[thread] = static_cast<int64_t>(cpu_ns / count);
  }
  for (size_t i = 0; i < templates_.size(); ++i) {
    if (by[i] != kNoId) hand_on_ns_[i] = each_ns[by[i]];
  }
}

// What it computed beside the program, outside of its stops, for each ns of the program's computing.
double LoadSimulator::Impl::vm_share() const {
  const std::vector<VmWork::Piece>& pieces = program_.vm_work.pieces();
  if (pieces.empty() || pieces.back().until_ns <= 0) return 0;
  return static_cast<double>(program_.vm_work.total_ns()) / pieces.back().until_ns;
}

// A lock that the requests of one connection alone take, while there are several, is that connection's own; one that a
// single request takes is that request's.
void LoadSimulator::Impl::find_shared_locks() {
  is_shared_.assign(run_.trace.locks.size(), false);
  std::vector<uint32_t> first_request(is_shared_.size(), kNoId), first_connection(is_shared_.size(), kNoId);
  std::set<uint32_t> connections;
  for (const RunRequest& request : run_.requests) connections.insert(request.connection);
  const SectionPlan recorded;
  for (uint32_t i = 0; i < templates_.size(); ++i) {
    const uint32_t connection = templates_[i].connection;
    const auto note = [&](uint32_t fiber) {
      for (const Op& op : ops_of(recorded, fiber)) {
        if (op.code != OpCode::take || lock_of(op.value) >= is_shared_.size()) continue;
        const uint32_t lock = lock_of(op.value);
        if (first_request[lock] == kNoId) first_request[lock] = i, first_connection[lock] = connection;
        const bool is_other = connections.size() > 1 ? first_connection[lock] != connection : first_request[lock] != i;
        if (is_other) is_shared_[lock] = true;
      }
    };
    for (const uint32_t task : templates_[i].tasks) note(task);
    for (const uint32_t thread : templates_[i].threads) note(program_.thread_fiber(thread));
  }
  for (uint32_t lock = 0; lock < is_shared_.size(); ++lock) {
    if (is_shared_[lock]) shared_locks.push_back(lock);
  }
}

// A request may be long (a task that is a whole run): copies of it must not fill the memory.
void LoadSimulator::Impl::bound_requests() {
  constexpr uint64_t kOpsMost = 16'000'000;
  if (templates_.empty()) return;
  const SectionPlan recorded;
  uint64_t ops = 0;
  for (const Template& one : templates_) {
    for (const uint32_t task : one.tasks) ops += ops_of(recorded, task).size() + 1;
    for (const uint32_t thread : one.threads) ops += ops_of(recorded, program_.thread_fiber(thread)).size();
  }
  const uint64_t each = std::max<uint64_t>(1, ops / templates_.size());
  requests_most_ = static_cast<uint32_t>(std::clamp<uint64_t>(kOpsMost / each, 1, UINT32_MAX));
}

std::vector<std::string> LoadSimulator::Impl::notes() const {
  constexpr uint32_t kFewRequests = 2000;
  std::vector<std::string> out;
  if (requests_most_ < kFewRequests)
    out.push_back(fmt::format("requests are long: at most {} are simulated at a time", requests_most_));
  if (outside_ > 0)
    out.push_back(fmt::format("{} of {} requests are left out: no task or thread that serves them is known to answer",
                              outside_, run_.requests.size()));
  if (const double share = vm_share(); share > kVmTold)
    out.push_back(
        fmt::format("the JVM's compiler and collector computed beside the program, {:.0f} % of its time: left "
                    "out, as what is compiled stays so; the collector's stops are simulated",
                    100 * share));
  return out;
}

// Builds the program of one load: copies of templates, and the clients that ask for them.
class LoadSimulator::Impl::Copier {
 public:
  Copier(const Impl& model, const SectionPlan& plan, std::span<const Treatment> treatments)
      : model_(model), plan_(plan), treatments_(treatments), local_(model.program_.fibers.size(), kNoId) {
    const SimProgram& from = model.program_;
    made_.left_out = from.left_out;
    made_.conventions = from.conventions;
    made_.latencies = from.latencies;
    made_.latencies.pools.resize(model.pools_.size() + 1);
    made_.permits = from.permits;
    made_.external_help = from.external_help;
    if (!made_.external_help.empty()) made_.external_help.resize(model.pools_.size() + 1);
    made_.sync = from.sync;
    made_.sync.fires.clear();
    trace_.facts = model.run_.trace.facts;
    trace_.strings = model.run_.trace.strings;
    trace_.methods = model.run_.trace.methods;
    trace_.contexts = model.run_.trace.contexts;
    trace_.locks = model.run_.trace.locks;
    trace_.pools = model.pools_;
    format::PoolRow hand_on;
    hand_on.kind = format::PoolKind::thread_pool;
    hand_on.core_size = hand_on.max_size = std::max(1u, model.hand_on_threads_);
    trace_.pools.push_back(hand_on);
  }

  // Copies the next request, which then can be handed out and waited for.
  struct Copied {
    uint32_t handed;  // the task that a client hands out
    uint32_t answer;  // the future that it waits for
  };
  Copied copy(uint32_t drawn, uint32_t begin_mark) {
    const Template& from = model_.templates_[drawn];
    const auto base = static_cast<uint32_t>(trace_.tasks.size());
    first_task_ = base;
    for (size_t i = 0; i < from.tasks.size(); ++i) local_[from.tasks[i]] = static_cast<uint32_t>(i);
    for (const uint32_t task : from.tasks) add_task(task);
    answer_ = add_future();
    answer_mark_ = begin_mark + 1;
    tokens_.clear();
    find_tokens(from);
    for (const uint32_t task : from.tasks) {
      copy_fiber(from, drawn, task, copy_of(from, task));
    }
    for (const uint32_t thread : from.threads) copy_thread(from, drawn, thread);
    copy_ties(from);
    uint32_t handed = base;
    if (model_.hand_on_ns_[drawn] >= 0) handed = add_hand_on(base, model_.hand_on_ns_[drawn]);
    return {handed, answer_};
  }

  // A thread of a client that does these operations.
  void add_client(int64_t begins_ns, const std::vector<Op>& ops) { clients_.push_back({begins_ns, ops}); }

  std::pair<SimProgram, SectionPlan> finish(uint32_t marks) {
    made_.marks = marks;
    const auto tasks = static_cast<uint32_t>(trace_.tasks.size());
    // Threads: those of requests, then the clients.
    std::vector<Fiber> fibers = std::move(task_fibers_);
    fibers.insert(fibers.end(), thread_fibers_.begin(), thread_fibers_.end());
    background_.insert(background_.end(), thread_fibers_.size(), true);
    for (Client& client : clients_) {
      const auto thread = static_cast<uint32_t>(trace_.threads.size());
      trace_.threads.emplace_back();
      made_.releases.push_back({thread, client.begins_ns});
      const auto begin = static_cast<uint32_t>(made_.ops.size());
      made_.ops.insert(made_.ops.end(), client.ops.begin(), client.ops.end());
      made_.ops.push_back({0, kNoId, OpCode::ret});
      fibers.push_back({begin, static_cast<uint32_t>(made_.ops.size())});
      background_.push_back(false);
    }
    trace_.thread_ranges.resize(trace_.threads.size());
    uses_.resize(trace_.threads.size());
    made_.trace = &trace_;
    made_.uses = uses_;
    made_.fibers = std::move(fibers);
    made_.background = std::move(background_);
    made_.costs = &costs_;
    made_.dependents_begin.assign(tasks + 1, 0);
    std::ranges::sort(ties_);
    for (const auto& [source, dependent] : ties_) {
      ++made_.dependents_begin[source + 1];
      made_.dependents.push_back(dependent);
    }
    for (uint32_t i = 0; i < tasks; ++i) made_.dependents_begin[i + 1] += made_.dependents_begin[i];
    SectionPlan plan;
    plan.locks = plan_.locks;
    plan.made_from = plan_.made_from;
    plan.need = plan_.need;
    return {std::move(made_), std::move(plan)};
  }

  std::vector<Treatment> take_treatments() { return std::move(made_treatments_); }

 private:
  struct Client {
    int64_t begins_ns;
    std::vector<Op> ops;
  };

  uint32_t copy_of(const Template& from, uint32_t task) const {
    const uint32_t at = task < local_.size() ? local_[task] : kNoId;
    return at < from.tasks.size() && from.tasks[at] == task ? first_task_ + at : kNoId;
  }

  uint32_t add_row(const TaskRow& row, bool is_dynamic, bool is_called, bool by_op) {
    trace_.tasks.push_back(row);
    task_fibers_.emplace_back();
    made_.dynamic.push_back(is_dynamic);
    made_.called.push_back(is_called);
    made_.completes_by_op.push_back(by_op);
    made_.needs.push_back(0);
    made_.run_threads.push_back(kNoId);
    if (!model_.program_.counted.empty()) made_.counted.push_back(false);
    if (!model_.program_.parents.empty()) made_.parents.push_back(kNoId);
    if (!model_.program_.helped.empty()) made_.helped.push_back(kNoId);
    if (!model_.program_.hand_overs.empty()) made_.hand_overs.emplace_back();
    made_treatments_.push_back(Treatment::keep);
    costs_.spawn_ns.push_back(0);
    costs_.handed.push_back(false);
    costs_.start_ns.push_back(0);
    costs_.spawn_most_ns.push_back(0);
    costs_.answer_ns.push_back(0);
    background_.push_back(true);
    if (!made_.taken_in.empty() || model_.program_.takings > 0) made_.taken_in.push_back(kNoId);
    return static_cast<uint32_t>(trace_.tasks.size() - 1);
  }

  void add_task(uint32_t task) {
    const SimProgram& from = model_.program_;
    const uint32_t copy =
        add_row(model_.run_.trace.tasks[task], from.dynamic[task], from.called[task], from.completes_by_op[task]);
    if (!from.counted.empty()) made_.counted[copy] = from.counted[task];
    if (!from.helped.empty()) made_.helped[copy] = from.helped[task];
    if (!from.hand_overs.empty()) made_.hand_overs[copy] = from.hand_overs[task];
    if (!treatments_.empty() && task < treatments_.size()) made_treatments_[copy] = treatments_[task];
    const model::HandOverCosts& costs = *from.costs;
    costs_.spawn_ns[copy] = costs.spawn_ns[task];
    costs_.handed[copy] = costs.handed[task];
    costs_.start_ns[copy] = costs.start_ns[task];
    costs_.spawn_most_ns[copy] = costs.spawn_most_ns[task];
    costs_.answer_ns[copy] = costs.answer_ns[task];
  }

  uint32_t add_future() {
    TaskRow row;
    row.kind = TaskKind::future;
    return add_row(row, false, false, true);
  }

  uint32_t add_hand_on(uint32_t root, int64_t cpu_ns) {
    TaskRow row;
    row.kind = TaskKind::pooled;
    row.pool = format::PoolId(static_cast<uint32_t>(model_.pools_.size()));
    const uint32_t task = add_row(row, false, false, false);
    const auto begin = static_cast<uint32_t>(made_.ops.size());
    if (cpu_ns > 0) made_.ops.push_back({static_cast<uint64_t>(cpu_ns), kNoId, OpCode::cpu});
    made_.ops.push_back({root, kNoId, OpCode::spawn});
    made_.ops.push_back({task, kNoId, OpCode::end});
    made_.ops.push_back({0, kNoId, OpCode::ret});
    task_fibers_[task] = {begin, static_cast<uint32_t>(made_.ops.size())};
    return task;
  }

  // Wake-ups within the request, which are copied; and signals of conditions, each of which stands for the wait at the
  // same place in their order.
  struct Wakes {
    bool waits = false, fires = false;
    uint32_t token = kNoId;
  };
  using WakeKey = std::pair<OpCode, uint64_t>;  // token_wait and its number; credit_wait and condition, count

  template <typename Visit>
  void each_op(const Template& from, Visit visit) const {
    for (const uint32_t task : from.tasks) {
      for (const Op& op : model_.ops_of(plan_, task)) visit(op);
    }
    for (const uint32_t thread : from.threads) {
      for (const Op& op : model_.ops_of(plan_, model_.program_.thread_fiber(thread))) visit(op);
    }
  }

  static uint64_t nth(uint64_t condition, uint32_t count) { return (condition & UINT32_MAX) << 32 | count; }

  void find_tokens(const Template& from) {
    std::unordered_map<uint64_t, std::pair<uint32_t, uint32_t>> counts;  // by condition: waits, fires
    each_op(from, [&](const Op& op) {
      switch (op.code) {
        case OpCode::token_wait:
          tokens_[{OpCode::token_wait, op.value}].waits = true;
          break;
        case OpCode::token_fire:
          tokens_[{OpCode::token_wait, op.value}].fires = true;
          break;
        case OpCode::credit_wait:
          tokens_[{OpCode::credit_wait, nth(op.value, counts[op.value & UINT32_MAX].first++)}].waits = true;
          break;
        case OpCode::credit_fire:
          tokens_[{OpCode::credit_wait, nth(op.value, counts[op.value & UINT32_MAX].second++)}].fires = true;
          break;
        default:
          break;
      }
    });
    for (auto& [key, wakes] : tokens_) {
      if (!wakes.waits || !wakes.fires) continue;
      wakes.token = made_.tokens++;
      const bool is_recorded = key.first == OpCode::token_wait && key.second < model_.program_.token_ns.size();
      made_.token_ns.push_back(is_recorded ? model_.program_.token_ns[key.second] : 0);
      made_.token_group.push_back(kNoId);
    }
    credit_counts_.clear();
  }

  uint32_t token_at(const Op& op) {
    if (op.code == OpCode::token_wait || op.code == OpCode::token_fire)
      return tokens_[{OpCode::token_wait, op.value}].token;
    auto& [waits, fires] = credit_counts_[op.value & UINT32_MAX];
    const uint32_t number = op.code == OpCode::credit_wait ? waits++ : fires++;
    return tokens_[{OpCode::credit_wait, nth(op.value, number)}].token;
  }

  void put(OpCode code, uint64_t value) { made_.ops.push_back({value, kNoId, code}); }

  void answer() {
    put(OpCode::mark, answer_mark_);
    put(OpCode::complete, answer_);
  }

  void copy_fiber(const Template& from, uint32_t drawn, uint32_t fiber, uint32_t as_task) {
    const auto begin = static_cast<uint32_t>(made_.ops.size());
    copy_ops(from, drawn, fiber, as_task);
    if (made_.ops.size() > begin) task_fibers_[as_task] = {begin, static_cast<uint32_t>(made_.ops.size())};
  }

  void copy_thread(const Template& from, uint32_t drawn, uint32_t thread) {
    const auto begin = static_cast<uint32_t>(made_.ops.size());
    copy_ops(from, drawn, model_.program_.thread_fiber(thread), kNoId);
    const auto number = static_cast<uint32_t>(trace_.threads.size());
    trace_.threads.emplace_back();
    thread_fibers_.push_back({begin, static_cast<uint32_t>(made_.ops.size())});
    for (const uint32_t task : from.tasks) {
      const bool is_run = model_.run_.trace.tasks[task].kind == TaskKind::thread;
      if (is_run && model_.program_.thread_of_run(task) == thread) made_.run_threads[copy_of(from, task)] = number;
    }
  }

  void copy_ops(const Template& from, uint32_t drawn, uint32_t fiber, uint32_t as_task) {
    const bool is_root = as_task == first_task_;
    const bool by_completion = is_root && from.answer_mark == kNoId;
    bool is_answered = false;
    const std::span<const Op> ops = model_.ops_of(plan_, fiber);
    find_unpaired(ops);
    for (size_t i = 0; i < ops.size(); ++i) {
      Op op = ops[i];
      op.event = kNoId;
      switch (op.code) {
        case OpCode::cpu:
          break;
        case OpCode::vm_wait:
        case OpCode::foreign:
        case OpCode::round:
        case OpCode::closing:
        case OpCode::closed:
        case OpCode::barrier:
        case OpCode::emit:
        case OpCode::sem_take:
        case OpCode::sem_post:
          continue;
        case OpCode::stop:
          if (model_.stop_owner_[op.value] != drawn) continue;
          trace_.pauses.push_back(model_.run_.trace.pauses[op.value]);
          op.value = trace_.pauses.size() - 1;
          break;
        case OpCode::mark:
          if (op.value == from.answer_mark) answer();
          continue;
        case OpCode::take:
        case OpCode::give:
          if (lock_of(op.value) < model_.is_shared_.size() && !model_.is_shared_[lock_of(op.value)]) continue;
          if (unpaired_.contains(i)) continue;
          break;
        case OpCode::spawn:
        case OpCode::call:
        case OpCode::register_:
        case OpCode::complete:
          op.value = copy_of(from, static_cast<uint32_t>(op.value));
          if (op.value == kNoId) continue;
          break;
        case OpCode::wait:
        case OpCode::take_next:
          op.value = copy_of(from, static_cast<uint32_t>(op.value));
          op.code = OpCode::wait;
          if (op.value != kNoId) break;
          if (i + 1 < ops.size() && ops[i + 1].code == OpCode::wait_done) ++i;
          continue;
        case OpCode::token_wait:
        case OpCode::token_fire:
        case OpCode::credit_wait:
        case OpCode::credit_fire: {
          const bool is_wait = op.code == OpCode::token_wait || op.code == OpCode::credit_wait;
          op.value = token_at(op);
          if (op.value == kNoId) continue;
          op.code = is_wait ? OpCode::token_wait : OpCode::token_fire;
          break;
        }
        case OpCode::end:
          if (by_completion && !is_answered) answer(), is_answered = true;
          op.value = copy_of(from, static_cast<uint32_t>(op.value));
          if (op.value == kNoId) continue;
          break;
        default:
          break;
      }
      made_.ops.push_back(op);
      if (by_completion && op.code == OpCode::complete && op.value == as_task) answer(), is_answered = true;
    }
  }

  // A stretch may begin behind an acquisition, or end before a release: such a lock would stay held for ever.
  void find_unpaired(std::span<const Op> ops) {
    unpaired_.clear();
    std::unordered_map<uint32_t, std::vector<size_t>> held;  // by lock
    for (size_t i = 0; i < ops.size(); ++i) {
      if (ops[i].code == OpCode::take) held[lock_of(ops[i].value)].push_back(i);
      if (ops[i].code != OpCode::give) continue;
      std::vector<size_t>& takes = held[lock_of(ops[i].value)];
      if (takes.empty()) {
        unpaired_.insert(i);
      } else {
        takes.pop_back();
      }
    }
    for (const auto& [lock, takes] : held) unpaired_.insert(takes.begin(), takes.end());
  }

  void copy_ties(const Template& from) {
    const SimProgram& program = model_.program_;
    for (const uint32_t task : from.tasks) {
      const uint32_t copy = copy_of(from, task);
      if (!program.parents.empty() && program.parents[task] != kNoId)
        made_.parents[copy] = copy_of(from, program.parents[task]);
      for (uint32_t i = program.dependents_begin[task]; i < program.dependents_begin[task + 1]; ++i) {
        const uint32_t dependent = copy_of(from, program.dependents[i]);
        if (dependent == kNoId) continue;
        ties_.emplace_back(copy, dependent);
        // Sources outside of the request are complete; one that needs any of several needs one.
        const uint32_t recorded = program.needs[program.dependents[i]];
        made_.needs[dependent] = std::min(made_.needs[dependent] + 1, std::max(recorded, 1u));
      }
    }
  }

  const Impl& model_;
  const SectionPlan& plan_;
  const std::span<const Treatment> treatments_;
  std::vector<uint32_t> local_;  // by recorded fiber: its position in the template that was copied last
  SimProgram made_;
  model::Trace trace_;
  std::vector<model::ThreadUse> uses_;
  model::HandOverCosts costs_;
  std::vector<Fiber> task_fibers_, thread_fibers_;
  std::vector<bool> background_;
  std::vector<Treatment> made_treatments_;
  std::vector<std::pair<uint32_t, uint32_t>> ties_;  // source, dependent
  std::vector<Client> clients_;
  // Of the request that is being copied:
  uint32_t first_task_ = 0, answer_ = 0, answer_mark_ = 0;
  std::set<size_t> unpaired_;  // positions in the fiber that is being copied
  std::map<WakeKey, Wakes> tokens_;
  std::unordered_map<uint64_t, std::pair<uint32_t, uint32_t>> credit_counts_;
};

namespace {

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

}  // namespace

base::Result<LoadRun> LoadSimulator::Impl::simulate(const Variant& variant, const Load& asked,
                                                    const SimulateOptions& given) const {
  if (templates_.empty()) return base::Error{"no request of the recording can be simulated"};
  if (!variant.merges.empty() || !variant.splits.empty())
    return base::Error{"a change of the number of tasks is not simulated under a load"};
  Load load = asked;
  load.requests = std::min(load.requests, requests_most_);
  SimulateOptions options = given;
  options.build_trace = false;
  if (variant.cores > 0) options.cores = variant.cores;
  options.pool_sizes.insert(options.pool_sizes.end(), variant.pool_sizes.begin(), variant.pool_sizes.end());
  const uint32_t cores = options.cores > 0 ? options.cores : model::recorded_cores(run_.trace);
  const SectionPlan plan = plan_sections(program_, variant, options.lock_rule);

  Copier copier(*this, plan, variant.treatments);
  LoadRun result;
  Dice dice(load.seed);
  const auto first = static_cast<uint32_t>(dice.below(templates_.size()));
  const auto drawn_at = [&](uint32_t number) {
    return static_cast<uint32_t>((uint64_t{first} + number) % templates_.size());
  };
  const auto hand_out = [&](uint32_t number, std::vector<Op>& ops) {
    const uint32_t mark = 2 * number;
    const Copier::Copied copied = copier.copy(drawn_at(number), mark);
    ops.push_back({mark, kNoId, OpCode::mark});
    ops.push_back({copied.handed, kNoId, OpCode::spawn});
    result.served.push_back({drawn_at(number), 0, -1});
    return copied.answer;
  };
  const auto await = [](uint32_t answer, std::vector<Op>& ops) {
    ops.push_back({answer, kNoId, OpCode::wait});
    ops.push_back({0, kNoId, OpCode::wait_done});
  };
  if (load.open) {
    std::vector<Op> ops;
    std::vector<uint32_t> answers;
    const std::vector<double> gaps = gaps_ns(load, dice);
    for (uint32_t i = 0; i < load.requests; ++i) {
      ops.push_back({static_cast<uint64_t>(gaps[i]), kNoId, OpCode::pause});
      answers.push_back(hand_out(i, ops));
    }
    for (const uint32_t answer : answers) await(answer, ops);
    copier.add_client(0, ops);
  } else {
    const uint32_t clients = std::min(load.clients, load.requests);
    const auto think_ns = [&] {
      return load.thinks_ns.empty() ? 0 : load.thinks_ns[dice.below(load.thinks_ns.size())];
    };
    std::vector<std::vector<Op>> ops(clients);
    for (uint32_t i = 0; i < load.requests; ++i) {
      std::vector<Op>& own = ops[i % clients];
      if (const int64_t ns = i < clients ? 0 : think_ns(); ns > 0)
        own.push_back({static_cast<uint64_t>(ns), kNoId, OpCode::pause});
      await(hand_out(i, own), own);
    }
    // The clients begin one after the other, within the time that a request takes.
    int64_t mean_ns = 0;
    for (const int64_t ns : recorded_ns) mean_ns += ns / static_cast<int64_t>(recorded_ns.size());
    for (uint32_t i = 0; i < clients; ++i) copier.add_client(mean_ns * i / clients, ops[i]);
  }
  const std::vector<Treatment> treatments = copier.take_treatments();
  const auto [program, made_plan] = copier.finish(2 * load.requests);
  SimMachine machine(program, made_plan, treatments, {}, options, cores);
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
  base::Result<RequestRun> run = with_request_tasks(facts.trace(), requests);
  if (!run) return run.error();
  return LoadSimulator(std::make_unique<Impl>(facts, *std::move(run)));
}

LoadSimulator::LoadSimulator(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
LoadSimulator::LoadSimulator(LoadSimulator&&) noexcept = default;
LoadSimulator& LoadSimulator::operator=(LoadSimulator&&) noexcept = default;
LoadSimulator::~LoadSimulator() = default;

base::Result<LoadRun> LoadSimulator::simulate(const Variant& variant, const Load& load,
                                              const SimulateOptions& options) const {
  return impl_->simulate(variant, load, options);
}
const std::vector<int64_t>& LoadSimulator::recorded_ns() const {
  return impl_->recorded_ns;
}
std::vector<std::string> LoadSimulator::notes() const {
  return impl_->notes();
}
const std::vector<format::PoolRow>& LoadSimulator::pools() const {
  return impl_->pools();
}
std::string LoadSimulator::pool_name(uint32_t pool) const {
  return impl_->pool_name(pool);
}
uint32_t LoadSimulator::pool_size(uint32_t pool) const {
  return impl_->pool_size(pool);
}
const std::vector<uint32_t>& LoadSimulator::shared_locks() const {
  return impl_->shared_locks;
}
Variant LoadSimulator::without_lock(const Variant& variant, uint32_t lock) const {
  return impl_->without_lock(variant, lock);
}
uint32_t LoadSimulator::recorded_cores() const {
  return impl_->recorded_cores();
}

}  // namespace contrafact::whatif
