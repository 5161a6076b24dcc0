#include "whatif/load_templates.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "model/event_cost.h"
#include "model/pool_capacity.h"
#include "whatif/sim_latency.h"

namespace contrafact::whatif {
namespace {

using model::TaskKind;
using model::TaskRow;

constexpr double kVmTold = 0.1, kFasterTold = 0.1, kRefillTold = 0.05;

bool is_handed_on(OpCode code) {
  return code == OpCode::spawn || code == OpCode::call || code == OpCode::register_;
}

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
  find_cores_left();
  measure_hand_on();
  measure_beside();
  measure_cold();
  find_shared_locks();
  bound_requests();
}

SimProgram LoadTemplates::compile() {
  for (const RunRequest& request : run_.requests) {
    if (request.answered != kNoId) marked_.push_back(request.answered);
  }
  std::ranges::sort(marked_);
  marked_.erase(std::ranges::unique(marked_).begin(), marked_.end());
  return compile_program(facts_, false, left_out_, marked_);
}

std::string LoadTemplates::pool_name(uint32_t pool) const {
  if (pool == hand_on_pool())
    return hand_on_threads_ == 1 ? "the thread that hands requests to pools"
                                 : "the threads that hand requests to pools";
  return std::string(run_.trace.string(pools_[pool].name));
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

uint32_t LoadTemplates::workers_of(uint32_t pool, uint32_t size) const {
  const uint32_t kept = pool < kept_workers_.size() ? kept_workers_[pool] : 0;
  if (size == 0 || size == model::kUnboundedPool) return size;
  return size > kept ? size - kept : 1;
}

void LoadTemplates::find_templates() {
  const SectionPlan recorded;
  std::vector<uint32_t> owner(program_.fibers.size(), kNoId);
  for (uint32_t position = 0; position < run_.requests.size(); ++position) {
    const RunRequest& request = run_.requests[position];
    if (!request.root.valid() || !program_.fibers[request.root.index()].runs()) continue;
    const auto number = static_cast<uint32_t>(templates_.size());
    RequestTemplate made;
    made.request = position;
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
    recorded_ns_.push_back(request.answered_ns - request.arrived_ns);
  }
}

// While requests were served that are drawn: in a JVM's start other things go on.
void LoadTemplates::find_cores_left() {
  if (templates_.empty()) return;
  cores_left_ = model::cores_left(recorded_.trace(), run_.requests[templates_.front().request].arrived_ns,
                                  run_.requests[templates_.back().request].answered_ns);
}

// By pool: the thread that serves no requests and wakes the pool's, which take requests from a queue of the program's own; kNoId:
// none. One that woke them for a tenth of their requests: where they are busy, nobody has to be woken.
std::vector<uint32_t> LoadTemplates::wakers_of_servers() const {
  constexpr size_t kTenth = 10;
  std::vector<size_t> served(pools_.size());
  for (const RequestTemplate& one : templates_) {
    const model::PoolId pool = run_.trace.tasks[one.tasks.front()].pool;
    if (pool.valid()) ++served[pool.index()];
  }
  const std::vector<model::ThreadUse>& uses = facts_.uses();
  std::map<std::pair<uint32_t, uint32_t>, size_t> woken;  // by pool and waker
  for (const model::SyncWake& wake : facts_.wakes()) {
    const model::EventIndex end = facts_.sections()[wake.wait].acquire;
    if (!end.valid()) continue;
    const model::ThreadUse& sleeper = uses[run_.trace.thread_of(end).index()];
    const uint32_t waker = run_.trace.thread_of(wake.cause).value;
    if (sleeper.role == model::ThreadRole::worker && uses[waker].role != model::ThreadRole::worker)
      ++woken[{sleeper.pool.value, waker}];
  }
  std::vector<uint32_t> found(pools_.size(), kNoId);
  std::vector<size_t> most(pools_.size());
  for (const auto& [ends, count] : woken) {
    const auto [pool, waker] = ends;
    if (pool >= found.size() || served[pool] == 0 || count * kTenth < served[pool] || count <= most[pool]) continue;
    found[pool] = waker, most[pool] = count;
  }
  return found;
}

// Threads that are no workers and spawn requests' roots, or wake the threads that serve them: what they compute is shared evenly
// among those.
void LoadTemplates::measure_hand_on() {
  std::unordered_map<uint32_t, size_t> handed;  // by thread
  std::vector<uint32_t> by(templates_.size(), kNoId);
  const std::vector<uint32_t> wakers = wakers_of_servers();
  const auto clients = static_cast<uint32_t>(recorded_.trace().threads.size());
  for (size_t i = 0; i < templates_.size(); ++i) {
    const TaskRow& root = run_.trace.tasks[templates_[i].tasks.front()];
    uint32_t thread = run_.trace.thread_of(root.spawn).value;
    if (thread >= clients && root.pool.valid()) thread = wakers[root.pool.index()];
    if (thread >= clients) continue;
    if (program_.uses[thread].role == model::ThreadRole::worker) continue;
    by[i] = thread;
    ++handed[thread];
  }
  hand_on_threads_ = static_cast<uint32_t>(handed.size());
  hand_on_ns_.assign(templates_.size(), {});
  const SectionPlan recorded;
  std::unordered_map<uint32_t, HandOn> computed;  // by thread, outside of pools' tasks
  const auto add = [&](uint32_t thread, uint32_t fiber) {
    if (!handed.contains(thread)) return;
    HandOn& sum = computed.try_emplace(thread, HandOn{0, 0}).first->second;
    for (const Op& op : ops_of(recorded, fiber)) {
      if (op.code == OpCode::cpu || op.code == OpCode::around) sum.cpu_ns += static_cast<int64_t>(op.value);
      if (op.code == OpCode::refill) sum.refill_ns += static_cast<int64_t>(op.value);
    }
  };
  for (const auto& [thread, count] : handed) add(thread, program_.thread_fiber(thread));
  for (uint32_t i = 0; i < run_.trace.tasks.size(); ++i) {
    const TaskRow& run = run_.trace.tasks[i];
    if (run.kind == TaskKind::thread && run.start.valid()) add(run_.trace.thread_of(run.start).value, i);
  }
  std::unordered_map<uint32_t, HandOn> each;
  for (const auto& [thread, count] : handed) {
    const auto requests = static_cast<int64_t>(count);
    each[thread] = {computed[thread].cpu_ns / requests, computed[thread].refill_ns / requests};
  }
  for (size_t i = 0; i < templates_.size(); ++i) {
    if (by[i] == kNoId) continue;
    hand_on_ns_[i] = each[by[i]];
    const bool is_woken = run_.trace.thread_of(run_.trace.tasks[templates_[i].tasks.front()].spawn).value >= clients;
    if (is_woken) recorded_ns_[i] += each[by[i]].cpu_ns + each[by[i]].refill_ns;
  }
}

// Of all requests that were served meanwhile, those that are not drawn, too.
void LoadTemplates::measure_beside() {
  constexpr int64_t kToldShare = 20;  // of what the requests compute themselves
  const model::Trace& trace = run_.trace;
  if (!model::is_native(trace) || templates_.empty() || run_.requests.empty()) return;
  std::vector<bool> serves(recorded_.trace().threads.size());
  const auto serves_one = [&](uint32_t thread) {
    if (thread < serves.size()) serves[thread] = true;
  };
  int64_t computed = 0;
  for (size_t i = 0; i < templates_.size(); ++i) {
    const RequestTemplate& one = templates_[i];
    for (const uint32_t task : one.tasks) {
      if (trace.tasks[task].start.valid()) serves_one(trace.thread_of(trace.tasks[task].start).value);
    }
    for (const uint32_t thread : one.threads) serves_one(thread);
    if (hand_on_ns_[i].cpu_ns >= 0) serves_one(trace.thread_of(trace.tasks[one.tasks.front()].spawn).value);
    computed += computed_ns(one);
  }
  for (const uint32_t waker : wakers_of_servers()) serves_one(waker);
  const int64_t from_ns = run_.requests.front().arrived_ns, until_ns = run_.requests.back().answered_ns;
  int64_t others_ns = 0;
  for (uint32_t thread = 0; thread < std::min(serves.size(), trace.cpu.size()); ++thread) {
    const auto& gaps = trace.cpu[thread];
    for (size_t i = 0; !serves[thread] && i + 1 < gaps.size(); ++i)
      others_ns += std::max<int64_t>(0, std::min(gaps[i + 1].out_ns, until_ns) - std::max(gaps[i].in_ns, from_ns));
  }
  const int64_t each_ns = others_ns / static_cast<int64_t>(run_.requests.size());
  if (each_ns * kToldShare >= computed / static_cast<int64_t>(templates_.size())) beside_ns_ = each_ns;
}

int64_t LoadTemplates::computed_ns(const RequestTemplate& one) const {
  const SectionPlan recorded;
  uint64_t sum_ns = 0;
  const auto add = [&](uint32_t fiber) {
    for (const Op& op : ops_of(recorded, fiber))
      sum_ns += op.code == OpCode::cpu || op.code == OpCode::around ? op.value : 0;
  };
  for (const uint32_t task : one.tasks) add(task);
  for (const uint32_t thread : one.threads) add(program_.thread_fiber(thread));
  return static_cast<int64_t>(sum_ns);
}

// Templates whose thread had slept before, if the program had one core: while no other thread of its was on that. Only the first
// request in a thread's time on its core.
std::vector<bool> LoadTemplates::begun_cold() const {
  constexpr int64_t kSwitchNs = 5'000;  // from one thread to the next, at most
  std::vector<std::pair<int64_t, int64_t>> on_core;
  const model::Trace& trace = run_.trace;
  for (const auto& gaps : trace.cpu) {
    for (size_t i = 0; i + 1 < gaps.size(); ++i) on_core.emplace_back(gaps[i].in_ns, gaps[i + 1].out_ns);
  }
  std::ranges::sort(on_core);
  const bool one_core = model::recorded_cores(trace) == 1;
  std::vector<int64_t> ended_ns;  // by place in `on_core`: the latest end of those before
  int64_t latest_ns = INT64_MIN;
  for (const auto& [begin_ns, end_ns] : on_core) {
    ended_ns.push_back(latest_ns);
    latest_ns = std::max(latest_ns, end_ns);
  }
  std::set<std::pair<uint32_t, int64_t>> begun;  // by thread and time
  std::vector<bool> found;
  for (const RequestTemplate& one : templates_) {
    const model::EventIndex start = trace.tasks[one.tasks.front()].start;
    const uint32_t thread = trace.thread_of(start).value;
    const auto& gaps = trace.cpu[thread];
    const auto gap = std::ranges::upper_bound(gaps, trace.time_ns[start.index()], {}, &model::CpuGap::in_ns);
    found.push_back(false);
    if (gap == gaps.begin()) continue;
    const model::CpuGap& before = *(gap - 1);
    if (!begun.insert({thread, before.in_ns}).second || before.preempted) continue;
    const auto at = std::ranges::lower_bound(on_core, std::pair(before.in_ns, INT64_MIN)) - on_core.begin();
    const bool follows = at < std::ssize(ended_ns) && ended_ns[static_cast<size_t>(at)] > before.in_ns - kSwitchNs;
    found.back() = !(one_core && follows);
  }
  return found;
}

// The difference of the medians. The recorded load has requests of both kinds, a saturated one hardly any that begin cold.
void LoadTemplates::measure_cold() {
  constexpr size_t kEachMin = 100;
  const bool told = std::ranges::any_of(run_.trace.cpu, [](const auto& gaps) { return !gaps.empty(); });
  if (!model::is_native(run_.trace) || !told || run_.trace.cpu.size() < run_.trace.threads.size()) return;
  const std::vector<bool> cold = begun_cold();
  std::vector<int64_t> own_ns;
  std::array<std::vector<int64_t>, 2> sorted_ns;  // warm, cold
  for (size_t i = 0; i < templates_.size(); ++i) {
    own_ns.push_back(computed_ns(templates_[i]));
    sorted_ns[cold[i] ? 1 : 0].push_back(own_ns.back());
  }
  if (sorted_ns[0].size() < kEachMin || sorted_ns[1].size() < kEachMin) return;
  cold_ns_ = std::max<int64_t>(0, median_ns(sorted_ns[1]) - median_ns(sorted_ns[0]));
  if (cold_ns_ == 0) return;
  for (size_t i = 0; i < templates_.size(); ++i) {
    const double left = own_ns[i] > 0 ? 1 - static_cast<double>(cold_ns_) / static_cast<double>(own_ns[i]) : 1;
    warm_share_.push_back(cold[i] ? std::clamp(left, 0.5, 1.0) : 1);
  }
}

// What it computed beside the program, outside of its stops, for each ns of the program's computing.
double LoadTemplates::vm_share() const {
  const std::vector<VmWork::Piece>& pieces = program_.vm_work.pieces();
  if (pieces.empty() || pieces.back().until_ns <= 0) return 0;
  return static_cast<double>(program_.vm_work.total_ns()) / pieces.back().until_ns;
}

// A lock that the requests of one connection alone take, while there are several, is that connection's own; one that a
// single request takes is that request's.
void LoadTemplates::find_shared_locks() {
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
    if (is_shared_[lock]) shared_locks_.push_back(lock);
  }
}

// A request may be long (a task that is a whole run): copies of it must not fill the memory.
void LoadTemplates::bound_requests() {
  // Of a copied task: its row, what the program and the simulation know of it, and its operations besides.
  constexpr uint64_t kBytesMost = 64'000'000, kBytesOfTask = 400;
  if (templates_.empty()) return;
  const SectionPlan recorded;
  uint64_t ops = 0, tasks = 0;
  for (const RequestTemplate& one : templates_) {
    for (const uint32_t task : one.tasks) ops += ops_of(recorded, task).size();
    for (const uint32_t thread : one.threads) ops += ops_of(recorded, program_.thread_fiber(thread)).size();
    tasks += one.tasks.size() + one.threads.size() + 2;  // the answer, and the hand-over
  }
  // A growing column is as long again while it is copied.
  const uint64_t each = std::max<uint64_t>(1, (2 * ops * sizeof(Op) + tasks * kBytesOfTask) / templates_.size());
  requests_most_ = static_cast<uint32_t>(std::clamp<uint64_t>(kBytesMost / each, 1, UINT32_MAX));
}

// How much less requests computed in the later half of those that are drawn: a share; 0 where there are few.
double LoadTemplates::still_faster() const {
  constexpr size_t kRequestsMin = 100;
  if (templates_.size() < kRequestsMin) return 0;
  std::array<double, 2> sums_ns{};
  const size_t half = templates_.size() / 2;
  for (size_t i = 0; i < 2 * half; ++i) sums_ns[i / half] += static_cast<double>(computed_ns(templates_[i]));
  return sums_ns[0] > 0 ? std::max(0.0, 1 - sums_ns[1] / sums_ns[0]) : 0;
}

double LoadTemplates::refill_share() const {
  const SectionPlan recorded;
  uint64_t computed_ns = 0, refill_ns = 0;
  const auto add = [&](uint32_t fiber) {
    for (const Op& op : ops_of(recorded, fiber)) {
      if (op.code == OpCode::cpu || op.code == OpCode::around) computed_ns += op.value;
      if (op.code == OpCode::refill) refill_ns += op.value;
    }
  };
  for (const RequestTemplate& one : templates_) {
    for (const uint32_t task : one.tasks) add(task);
    for (const uint32_t thread : one.threads) add(program_.thread_fiber(thread));
  }
  for (const HandOn& each : hand_on_ns_) {
    computed_ns += static_cast<uint64_t>(std::max<int64_t>(0, each.cpu_ns));
    refill_ns += static_cast<uint64_t>(each.refill_ns);
  }
  return refill_ns == 0 ? 0 : static_cast<double>(refill_ns) / static_cast<double>(computed_ns + refill_ns);
}

// What each request calls once is compiled for good after so many calls (Tier4CompileThreshold); at least as many requests as are drawn
// from came before them. Behind that, what the virtual machine's own threads compute is the collector's.
bool LoadTemplates::still_compiles() const {
  constexpr size_t kCalls = 15'000;
  return run_.requests.size() < kCalls && vm_share() > kVmTold && !model::is_native(run_.trace) &&
         run_.trace.fact("jvm.warm").empty();
}

std::vector<std::string> LoadTemplates::notes() const {
  constexpr uint32_t kFewRequests = 2000;
  std::vector<std::string> out;
  if (requests_most_ < kFewRequests)
    out.push_back(fmt::format("requests are long: at most {} are simulated at a time", requests_most_));
  for (uint32_t pool = 0; pool < kept_workers_.size(); ++pool) {
    if (kept_workers_[pool] == 0 || capacities_[pool] == model::kUnboundedPool) continue;
    out.push_back(fmt::format(
        "{} of the {} workers of pool {} accept connections or poll for what clients send: they serve no request",
        kept_workers_[pool], capacities_[pool], pool_name(pool)));
  }
  if (outside_ > 0)
    out.push_back(fmt::format("{} of {} requests are left out: no task or thread that serves them is known to answer",
                              outside_, run_.requests.size()));
  if (const double share = still_faster(); share > kFasterTold && !model::is_native(run_.trace))
    out.push_back(fmt::format(
        "requests still get faster: the later half of those that are drawn computed {:.0f} % less; where cores "
        "limit, the service can answer more than is said here: record for longer",
        100 * share));
  if (cores_left_.reason == model::CoresLeft::Reason::other_programs)
    out.push_back(
        fmt::format("other programs used cores while requests were served: {:.0f} % of the cores' time is left to this "
                    "one, in simulations, too (--cores N: N whole cores)",
                    100 * cores_left_.share));
  if (beside_ns_ > 0)
    out.push_back(fmt::format(
        "threads that serve no request computed {:.3g} us for each (libraries' own threads, say): simulated beside it",
        static_cast<double>(beside_ns_) / 1e3));
  if (const double share = refill_share(); share > kRefillTold)
    out.push_back(
        fmt::format("of what requests computed, {:.0f} % is taken for filling the caches of cores that had been idle "
                    "(estimated): left out where no core is idle",
                    100 * share));
  if (const double share = vm_share(); share > kVmTold)
    out.push_back(
        fmt::format("the JVM's compiler and collector computed beside the program, {:.0f} % of its time: left "
                    "out, as what is compiled stays so; the collector's stops are simulated",
                    100 * share));
  if (still_compiles())
    out.emplace_back(
        "the JVM had not compiled all that requests run: where cores limit, the service can answer up to twice as much "
        "(record with --warm, or for longer)");
  return out;
}

}  // namespace contrafact::whatif
