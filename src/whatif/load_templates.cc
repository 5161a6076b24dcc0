#include "whatif/load_templates.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "model/event_cost.h"
#include "model/pool_capacity.h"

namespace contrafact::whatif {
namespace {

using model::TaskKind;
using model::TaskRow;

// Smaller shares are not noted.
constexpr double kVmNoted = 0.1, kFasterNoted = 0.1, kRefillNoted = 0.05;

bool is_handed_on(OpCode code) {
  return code == OpCode::spawn || code == OpCode::call || code == OpCode::register_;
}

// Which tasks and threads are one request's: those that its root hands out, and theirs, but for those that are an earlier request's.
class TemplateScan {
 public:
  TemplateScan(const SimProgram& program, const model::Trace& trace)
      : program_(program), trace_(trace), is_owned_(program.fibers.size()) {}

  // Its answer_mark is the one that is looked for, if an operation of the request has it.
  RequestTemplate request(uint32_t root, uint32_t answer_mark) {
    RequestTemplate made;
    made.tasks.push_back(root);
    is_owned_[root] = true;
    size_t threads_done = 0;
    for (size_t i = 0; i < made.tasks.size(); ++i) {
      scan(made.tasks[i], answer_mark, made);
      while (threads_done < made.threads.size())
        scan(program_.thread_fiber(made.threads[threads_done++]), answer_mark, made);
    }
    return made;
  }

 private:
  void scan(uint32_t fiber, uint32_t answer_mark, RequestTemplate& made) {
    for (const Op& op : recorded_ops(program_, fiber)) {
      if (op.code == OpCode::mark && op.value == answer_mark) made.answer_mark = answer_mark;
      if (is_handed_on(op.code)) add(static_cast<uint32_t>(op.value), op.code, made);
    }
  }
  void add(uint32_t task, OpCode by, RequestTemplate& made) {
    if (is_owned_[task]) return;
    is_owned_[task] = true;
    made.tasks.push_back(task);
    if (trace_.tasks[task].kind == TaskKind::thread && by == OpCode::spawn)
      made.threads.push_back(program_.thread_of_run(task));
  }

  const SimProgram& program_;
  const model::Trace& trace_;
  std::vector<bool> is_owned_;  // by fiber
};

}  // namespace

LoadTemplates::LoadTemplates(const model::Facts& recorded, RequestRun run, std::vector<uint32_t> kept_workers)
    : recorded_(recorded),
      run_(std::move(run)),
      facts_(run_.trace),
      left_out_{model::event_costs(recorded.trace()), true, model::ColdCores(recorded.trace())},
      program_(compile()),
      kept_workers_(std::move(kept_workers)) {
  skeleton_rows();
  find_templates();
  drop_slow_beginning();
  measure_cold_cores();
  find_cores_left();
  find_costs();
  find_shared_locks();
  bound_requests();
}

SimProgram LoadTemplates::compile() {
  marked_.clear();
  for (const RunRequest& request : run_.requests) {
    if (request.answered != kNoId) marked_.push_back(request.answered);
  }
  std::ranges::sort(marked_);
  marked_.erase(std::ranges::unique(marked_).begin(), marked_.end());
  SimProgram program = compile_program(facts_, false, left_out_, marked_);
  // Who takes one waits for it before it asks for the mutex, so that more seem to be out while a giver has the mutex.
  for (uint32_t i = 0; i < run_.resources.size(); ++i) {
    const uint32_t pool = run_.first_resource + i;
    if (pool < program.permits.size() && program.permits[pool] != SimProgram::kPermitsUnknown)
      program.permits[pool] = run_.resources[i].size;
  }
  return program;
}

// Where the recorder kept cores awake, what idle ones cost is measured, not estimated.
void LoadTemplates::measure_cold_cores() {
  const model::AwakeTurns awake(recorded_.trace());
  if (!awake.any()) return;
  const model::ColdCores estimated = left_out_.cold_cores;
  left_out_.cold_cores = estimated.with_full_ns(model::ColdCores::kFullNsMax);
  left_out_.keeps_after_idle = true;
  program_ = compile();
  measured_cold_ = measured_cold(drawn(), awake);
  // A difference that may be chance is not explained by more than filling caches takes on this machine.
  if (measured_cold_ && measured_cold_->share < measured_cold_->error)
    measured_cold_->full_ns = std::min(measured_cold_->full_ns, estimated.full_ns());
  left_out_.keeps_after_idle = false;
  left_out_.cold_cores = measured_cold_ ? estimated.with_full_ns(measured_cold_->full_ns) : estimated;
  program_ = compile();
}

std::string LoadTemplates::pool_name(uint32_t pool) const {
  if (pool == hand_on_pool())
    return handed_.threads == 1 ? "the thread that hands requests to pools" : "the threads that hand requests to pools";
  return std::string(run_.trace.string(pools_[pool].name));
}

format::PoolKind LoadTemplates::pool_kind(uint32_t pool) const {
  return pool == hand_on_pool() ? format::PoolKind::thread_pool : pools_[pool].kind;
}

std::string LoadTemplates::threads_of(uint32_t pool) const {
  const bool is_own = pool >= recorded_.trace().pools.size() && pool < hand_on_pool();
  return is_own ? pool_name(pool) : "";
}

const OwnResource* LoadTemplates::resource_of(uint32_t pool) const {
  const uint32_t number = pool - run_.first_resource;
  return pool >= run_.first_resource && number < run_.resources.size() ? &run_.resources[number] : nullptr;
}

uint32_t LoadTemplates::pool_of_threads(std::string_view threads) const {
  for (auto pool = static_cast<uint32_t>(recorded_.trace().pools.size()); pool < hand_on_pool(); ++pool) {
    if (run_.trace.string(pools_[pool].name) == threads) return pool;
  }
  return kNoId;
}

std::span<const Op> LoadTemplates::ops_of(const SectionPlan& plan, uint32_t fiber) const {
  const std::span<const Op> ops = plan.ops.empty() ? std::span<const Op>(program_.ops) : plan.ops;
  const Fiber& code = plan.ops.empty() ? program_.fibers[fiber] : plan.fibers[fiber];
  return ops.subspan(code.begin, code.end - code.begin);
}

void LoadTemplates::skeleton_rows() {
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
    const uint32_t workers = workers_of(i, capacities_[i]);
    if (workers == model::kUnboundedPool || pools_[i].core_size == workers) continue;
    pools_[i].core_size = pools_[i].max_size = workers;
  }
}

uint32_t LoadTemplates::clients_most() const {
  constexpr uint32_t kTurnsLeast = 5;  // of each client: fewer are all beginning and end
  return std::max(1u, requests_most_ / kTurnsLeast);
}

uint32_t LoadTemplates::workers_of(uint32_t pool, uint32_t size) const {
  const uint32_t kept = pool < kept_workers_.size() ? kept_workers_[pool] : 0;
  if (size == 0 || size == model::kUnboundedPool) return size;
  return size > kept ? size - kept : 1;
}

void LoadTemplates::find_templates() {
  TemplateScan scan(program_, run_.trace);
  for (uint32_t position = 0; position < run_.requests.size(); ++position) {
    const RunRequest& request = run_.requests[position];
    if (!request.root.valid() || !program_.fibers[request.root.index()].runs()) continue;
    const uint32_t answer_mark =
        request.answered == kNoId
            ? kNoId
            : static_cast<uint32_t>(std::ranges::lower_bound(marked_, request.answered) - marked_.begin());
    RequestTemplate made = scan.request(request.root.value, answer_mark);
    made.request = position;
    made.connection = request.connection;
    made.received_ns = request.received_ns;
    if (made.answer_mark != answer_mark) {
      outside_.push_back(std::move(made));
      continue;
    }
    templates_.push_back(std::move(made));
    recorded_ns_.push_back(request.answered_ns - request.arrived_ns);
  }
  stop_owner_.assign(run_.trace.pauses.size(), kNoId);
  for (uint32_t i = 0; i < templates_.size(); ++i) {
    each_op(program_, templates_[i], [&](const Op& op) {
      if (op.code != OpCode::stop || op.value >= stop_owner_.size()) return;
      if (stop_owner_[op.value] == kNoId) stop_owner_[op.value] = i;
    });
  }
}

void LoadTemplates::drop_slow_beginning() {
  if (model::is_native(run_.trace)) return;
  slow_ = slow_beginning(drawn());
  const auto count = static_cast<ptrdiff_t>(slow_);
  templates_.erase(templates_.begin(), templates_.begin() + count);
  recorded_ns_.erase(recorded_ns_.begin(), recorded_ns_.begin() + count);
  for (uint32_t& owner : stop_owner_) {
    if (owner != kNoId) owner = owner < slow_ ? kNoId : owner - static_cast<uint32_t>(slow_);
  }
}

// While requests were served that are drawn: in a JVM's start other things go on.
void LoadTemplates::find_cores_left() {
  if (templates_.empty()) return;
  cores_left_ = model::cores_left(recorded_.trace(), run_.requests[templates_.front().request].arrived_ns,
                                  run_.requests[templates_.back().request].answered_ns);
}

// What it computed beside the program, outside of its stops, for each ns of the program's computing.
double LoadTemplates::vm_share() const {
  const std::vector<VmWork::Piece>& pieces = program_.vm_work.pieces();
  if (pieces.empty() || pieces.back().until_ns <= 0) return 0;
  return static_cast<double>(program_.vm_work.total_ns()) / pieces.back().until_ns;
}

DrawnRequests LoadTemplates::drawn() const {
  return {facts_,     program_, run_.requests,
          templates_, outside_, static_cast<uint32_t>(recorded_.trace().threads.size())};
}

void LoadTemplates::find_costs() {
  handed_ = hand_ons(drawn());
  for (size_t i = 0; i < templates_.size(); ++i) {
    if (handed_.of[i].wakes) recorded_ns_[i] += handed_.of[i].cpu_ns + handed_.of[i].refill_ns;
  }
  beside_ns_ = whatif::beside_ns(drawn(), handed_);
  if (!measured_cold_) cold_ = cold_starts_of(drawn());
}

// A lock that the requests of one connection alone take, while there are several, is that connection's own; one that a
// single request takes is that request's.
void LoadTemplates::find_shared_locks() {
  is_shared_.assign(run_.trace.locks.size(), false);
  std::vector<uint32_t> first_request(is_shared_.size(), kNoId), first_connection(is_shared_.size(), kNoId);
  std::set<uint32_t> connections;
  for (const RunRequest& request : run_.requests) connections.insert(request.connection);
  for (uint32_t i = 0; i < templates_.size(); ++i) {
    const uint32_t connection = templates_[i].connection;
    each_op(program_, templates_[i], [&](const Op& op) {
      if (op.code != OpCode::take || lock_of(op.value) >= is_shared_.size()) return;
      const uint32_t lock = lock_of(op.value);
      if (first_request[lock] == kNoId) first_request[lock] = i, first_connection[lock] = connection;
      const bool is_other = connections.size() > 1 ? first_connection[lock] != connection : first_request[lock] != i;
      if (is_other) is_shared_[lock] = true;
    });
  }
  for (uint32_t lock = 0; lock < is_shared_.size(); ++lock) {
    if (is_shared_[lock]) shared_locks_.push_back(lock);
  }
}

// A request may be long (a task that is a whole run): copies of it must not fill the memory.
void LoadTemplates::bound_requests() {
  // Of a copied task: its row, what the program and the simulation know of it, and its operations besides.
  constexpr uint64_t kBytesMost = 64'000'000, kBytesOfTask = 400;
  if (templates_.empty()) return;
  uint64_t ops = 0, tasks = 0;
  for (const RequestTemplate& one : templates_) {
    each_fiber(program_, one, [&](uint32_t fiber) { ops += recorded_ops(program_, fiber).size(); });
    tasks += one.tasks.size() + one.threads.size() + 2;  // the answer, and the hand-over
  }
  // A growing column is as long again while it is copied.
  const uint64_t each = std::max<uint64_t>(1, (2 * ops * sizeof(Op) + tasks * kBytesOfTask) / templates_.size());
  requests_most_ = static_cast<uint32_t>(std::clamp<uint64_t>(kBytesMost / each, 1, UINT32_MAX));
}

// How much less requests computed in the later half of those that are drawn: a share; 0 where there are few.
double LoadTemplates::still_faster() const {
  // 50 in a half: its mean is unsure by a seventh (1 / sqrt(50)) of what they differ by.
  constexpr size_t kRequestsMin = 100;
  if (templates_.size() < kRequestsMin) return 0;
  std::array<double, 2> sums_ns{};
  const size_t half = templates_.size() / 2;
  for (size_t i = 0; i < 2 * half; ++i) sums_ns[i / half] += static_cast<double>(computed_ns(drawn(), templates_[i]));
  return sums_ns[0] > 0 ? std::max(0.0, 1 - sums_ns[1] / sums_ns[0]) : 0;
}

double LoadTemplates::refill_share() const {
  uint64_t computed_ns = 0, refill_ns = 0;
  for (const RequestTemplate& one : templates_) {
    each_op(program_, one, [&](const Op& op) {
      if (computes(op.code)) computed_ns += op.value;
      if (op.code == OpCode::refill) refill_ns += op.value;
    });
  }
  for (const HandOn& each : handed_.of) {
    computed_ns += static_cast<uint64_t>(std::max<int64_t>(0, each.cpu_ns));
    refill_ns += static_cast<uint64_t>(each.refill_ns);
  }
  return refill_ns == 0 ? 0 : static_cast<double>(refill_ns) / static_cast<double>(computed_ns + refill_ns);
}

double LoadTemplates::refill_error() const {
  return measured_cold_ ? measured_cold_->error : kEstimateError * refill_share();
}

// What each request calls once is compiled for good after so many calls (Tier4CompileThreshold); at least as many requests as are drawn
// from came before them. Behind that, what the virtual machine's own threads compute is the collector's.
bool LoadTemplates::still_compiles() const {
  constexpr size_t kCalls = 15'000;
  return run_.requests.size() < kCalls && vm_share() > kVmNoted && !model::is_native(run_.trace) &&
         run_.trace.fact("jvm.warm").empty();
}

std::vector<WaitsBetween> LoadTemplates::unknown_waits() const {
  return waits_between(facts_, templates_);
}

std::optional<std::string> LoadTemplates::length_note() const {
  constexpr uint32_t kFewRequests = 2000;
  if (requests_most_ >= kFewRequests) return std::nullopt;
  return fmt::format(
      "a request does so much that only {} are simulated at a time: figures for more than {} clients are unsure",
      requests_most_, clients_most());
}

std::optional<std::string> LoadTemplates::kept_workers_note(uint32_t pool) const {
  if (kept_workers_[pool] == 0 || capacities_[pool] == model::kUnboundedPool) return std::nullopt;
  return fmt::format(
      "{} of the {} workers of pool {} accept connections or poll for what clients send: they serve no request",
      kept_workers_[pool], capacities_[pool], pool_name(pool));
}

std::optional<std::string> LoadTemplates::outside_note() const {
  if (outside_.empty()) return std::nullopt;
  return fmt::format("{} of {} requests are left out: no task or thread that serves them is known to answer",
                     outside_.size(), run_.requests.size());
}

std::optional<std::string> LoadTemplates::loop_workers_note() const {
  if (run_.loop_workers.empty()) return std::nullopt;
  return fmt::format(
      "an event loop hands work of its requests to threads as {}, and answers later: simulations wait as long as in "
      "the recording, whatever the load, so that the service can answer less than is said here once all are busy",
      run_.loop_workers);
}

std::string LoadTemplates::wait_note(const WaitsBetween& waits) const {
  return fmt::format(
      "{:.0f} % of the requests waited at {} for what other requests {}: simulations leave that out, as the "
      "recording does not say how much of it there is; by these waits it is used up at {:.0f} to {:.0f} requests a "
      "second (estimated){}",
      100 * waits.share, run_.trace.context_label(waits.place), waits.one_by_one ? "gave back" : "did for all of them",
      waits.low_per_second, waits.per_second,
      model::is_native(run_.trace) ? "" : "; a configuration that names its methods (resource) has it simulated");
}

std::optional<std::string> LoadTemplates::slow_beginning_note() const {
  if (slow_ == 0) return std::nullopt;
  return fmt::format(
      "the first {} of these requests are not drawn: later ones computed less, as the JVM had compiled more", slow_);
}

std::optional<std::string> LoadTemplates::still_faster_note() const {
  const double share = still_faster();
  if (share <= kFasterNoted || model::is_native(run_.trace)) return std::nullopt;
  return fmt::format(
      "requests still get faster: the later half of those that are drawn computed {:.0f} % less; where cores "
      "limit, the service can answer more than is said here: record for longer",
      100 * share);
}

std::optional<std::string> LoadTemplates::cores_left_note() const {
  if (cores_left_.reason != model::CoresLeft::Reason::other_programs) return std::nullopt;
  return fmt::format(
      "other programs used cores while requests were served: {:.0f} % of the cores' time is left to this "
      "one, in simulations, too (--cores N: N whole cores)",
      100 * cores_left_.share);
}

std::optional<std::string> LoadTemplates::beside_note() const {
  if (beside_ns_ == 0) return std::nullopt;
  return fmt::format(
      "threads that serve no request computed {:.3g} us for each (libraries' own threads, say): simulated beside it",
      static_cast<double>(beside_ns_) / 1e3);
}

std::optional<std::string> LoadTemplates::idle_cores_note() const {
  if (measured_cold_) {
    if (measured_cold_->share <= kRefillNoted) return std::nullopt;
    return fmt::format(
        "requests computed {:.0f} % of their time only because their core had been idle (measured, +-{:.0f} "
        "%: the recorder kept cores awake in turns): left out where no core is idle",
        100 * measured_cold_->share, 100 * measured_cold_->error);
  }
  const double share = refill_share();
  if (share <= kRefillNoted) return std::nullopt;
  return fmt::format(
      "of what requests computed, {:.0f} % is taken for filling the caches of cores that had been idle "
      "(estimated): left out where no core is idle",
      100 * share);
}

std::optional<std::string> LoadTemplates::vm_note() const {
  const double share = vm_share();
  if (share <= kVmNoted) return std::nullopt;
  return fmt::format(
      "the JVM's compiler and collector computed beside the program, {:.0f} % of its time: left "
      "out, as what is compiled stays so; the collector's stops are simulated",
      100 * share);
}

std::optional<std::string> LoadTemplates::compiles_note() const {
  if (!still_compiles()) return std::nullopt;
  return "the JVM had not compiled all that requests run: where cores limit, the service can answer up to twice as "
         "much (record with --warm, or for longer)";
}

std::vector<std::string> LoadTemplates::notes() const {
  std::vector<std::string> out;
  const auto add = [&](std::optional<std::string> note) {
    if (note) out.push_back(*std::move(note));
  };
  add(length_note());
  for (uint32_t pool = 0; pool < kept_workers_.size(); ++pool) add(kept_workers_note(pool));
  add(outside_note());
  add(loop_workers_note());
  for (const WaitsBetween& waits : unknown_waits()) add(wait_note(waits));
  add(slow_beginning_note());
  add(still_faster_note());
  add(cores_left_note());
  add(beside_note());
  add(idle_cores_note());
  add(vm_note());
  add(compiles_note());
  return out;
}

}  // namespace contrafact::whatif
