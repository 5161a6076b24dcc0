#include "whatif/request_copier.h"

#include <algorithm>
#include <map>

namespace contrafact::whatif {

RequestCopier::RequestCopier(const LoadTemplates& model, const SectionPlan& plan, std::span<const Treatment> treatments)
    : model_(model),
      plan_(plan),
      treatments_(treatments),
      local_(model.program().fibers.size(), kNoCopy),
      known_(model.all().size()) {
  const SimProgram& from = model.program();
  made_.left_out = from.left_out;
  made_.cores_left = model.cores_left();
  made_.conventions = from.conventions;
  made_.latencies = from.latencies;
  const size_t pools = beside_pool() + 1;
  made_.latencies.pools.resize(pools);
  made_.permits = from.permits;
  made_.external_help = from.external_help;
  if (!made_.external_help.empty()) made_.external_help.resize(pools);
  made_.sync = from.sync;
  made_.sync.fires.clear();
  trace_.facts = model.trace().facts;
  trace_.strings = model.trace().strings;
  trace_.methods = model.trace().methods;
  trace_.contexts = model.trace().contexts;
  trace_.locks = model.trace().locks;
  trace_.pools = model.pools();
  trace_.processes = model.trace().processes;
  add_pool(model.pool_name(hand_on_pool()), model.pool_kind(hand_on_pool()), std::max(1u, model.hand_on_threads()));
  add_pool("threads that serve no request", format::PoolKind::thread_per_task, 0);
  made_.stand_still = StandStill::is_reported;
}

void RequestCopier::add_pool(std::string name, format::PoolKind kind, uint32_t size) {
  format::PoolRow row;
  row.name = model::StringId(static_cast<uint32_t>(trace_.strings.size()));
  row.kind = kind;
  row.core_size = row.max_size = size;
  trace_.strings.push_back(std::move(name));
  trace_.pools.push_back(row);
}

RequestCopier::Copied RequestCopier::copy(uint32_t drawn, uint32_t begin_mark) {
  const RequestTemplate& from = model_.all()[drawn];
  const auto base = static_cast<uint32_t>(trace_.tasks.size());
  first_task_ = base;
  for (size_t i = 0; i < from.tasks.size(); ++i) local_[from.tasks[i]] = static_cast<uint32_t>(i);
  for (const uint32_t task : from.tasks) add_task(task);
  answer_ = add_future();
  answer_mark_ = begin_mark + 1;
  if (!known_[drawn]) known_[drawn] = find_known(from);
  const Copying copying{drawn, from, *known_[drawn]};
  add_tokens(copying.known);
  for (const uint32_t task : from.tasks) copy_fiber(copying, task, copy_of(from, task));
  for (const uint32_t thread : from.threads) copy_thread(copying, thread);
  copy_ties(from);
  uint32_t handed = base;
  if (const HandOn& by = model_.hand_on(drawn); by.cpu_ns >= 0)
    handed = add_own_task(hand_on_pool(), by.cpu_ns, by.refill_ns, base);
  const bool has_beside = model_.beside_ns() > 0;
  return {handed, answer_, has_beside ? add_own_task(beside_pool(), model_.beside_ns(), 0, kNoCopy) : kNoCopy};
}

std::pair<SimProgram, SectionPlan> RequestCopier::finish(uint32_t marks) {
  made_.marks = marks;
  const auto tasks = static_cast<uint32_t>(trace_.tasks.size());
  // Threads: those of requests, then the clients.
  std::vector<Fiber> fibers = std::move(task_fibers_);
  fibers.insert(fibers.end(), thread_fibers_.begin(), thread_fibers_.end());
  background_.insert(background_.end(), thread_fibers_.size(), true);
  made_.clients_from = static_cast<uint32_t>(trace_.threads.size());
  for (Client& client : clients_) {
    const auto thread = static_cast<uint32_t>(trace_.threads.size());
    trace_.threads.emplace_back();
    made_.releases.push_back({thread, client.begins_ns});
    const auto begin = static_cast<uint32_t>(made_.ops.size());
    made_.ops.insert(made_.ops.end(), client.ops.begin(), client.ops.end());
    made_.ops.push_back({0, kNoCopy, OpCode::ret});
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

uint32_t RequestCopier::copy_of(const RequestTemplate& from, uint32_t task) const {
  const uint32_t at = task < local_.size() ? local_[task] : kNoCopy;
  return at < from.tasks.size() && from.tasks[at] == task ? first_task_ + at : kNoCopy;
}

uint32_t RequestCopier::add_row(const model::TaskRow& row, bool is_dynamic, bool is_called, bool by_op) {
  trace_.tasks.push_back(row);
  task_fibers_.emplace_back();
  made_.dynamic.push_back(is_dynamic);
  made_.called.push_back(is_called);
  made_.completes_by_op.push_back(by_op);
  made_.needs.push_back(0);
  made_.run_threads.push_back(kNoCopy);
  if (!model_.program().counted.empty()) made_.counted.push_back(false);
  if (!model_.program().parents.empty()) made_.parents.push_back(kNoCopy);
  if (!model_.program().helped.empty()) made_.helped.push_back(kNoCopy);
  if (!model_.program().hand_overs.empty()) made_.hand_overs.emplace_back();
  made_treatments_.push_back(Treatment::keep);
  costs_.spawn_ns.push_back(0);
  costs_.handed.push_back(false);
  costs_.start_ns.push_back(0);
  costs_.spawn_most_ns.push_back(0);
  costs_.answer_ns.push_back(0);
  background_.push_back(true);
  if (!made_.taken_in.empty() || model_.program().takings > 0) made_.taken_in.push_back(kNoCopy);
  return static_cast<uint32_t>(trace_.tasks.size() - 1);
}

void RequestCopier::add_task(uint32_t task) {
  const SimProgram& from = model_.program();
  const uint32_t copy =
      add_row(model_.trace().tasks[task], from.dynamic[task], from.called[task], from.completes_by_op[task]);
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

uint32_t RequestCopier::add_future() {
  model::TaskRow row;
  row.kind = model::TaskKind::future;
  return add_row(row, false, false, true);
}

uint32_t RequestCopier::add_own_task(uint32_t pool, int64_t cpu_ns, int64_t refill_ns, uint32_t then) {
  model::TaskRow row;
  row.kind = model::TaskKind::pooled;
  row.pool = format::PoolId(pool);
  const uint32_t task = add_row(row, false, false, false);
  const auto begin = static_cast<uint32_t>(made_.ops.size());
  if (cpu_ns > 0) put(OpCode::cpu, static_cast<uint64_t>(cpu_ns));
  if (refill_ns > 0) put(OpCode::refill, static_cast<uint64_t>(refill_ns));
  if (then != kNoCopy) put(OpCode::spawn, then);
  put(OpCode::end, task);
  put(OpCode::ret, 0);
  task_fibers_[task] = {begin, static_cast<uint32_t>(made_.ops.size())};
  return task;
}

template <typename Visit>
void RequestCopier::each_op(const RequestTemplate& from, Visit visit) const {
  each_fiber(model_.program(), from, [&](uint32_t fiber) {
    for (const Op& op : model_.ops_of(plan_, fiber)) visit(fiber, op);
  });
}

RequestCopier::Known RequestCopier::find_known(const RequestTemplate& from) const {
  Known known{.wakes = find_wakes(from), .signals = find_signals(from), .unpaired = {}};
  each_fiber(model_.program(), from, [&](uint32_t fiber) {
    std::vector<size_t> unpaired = find_unpaired(model_.ops_of(plan_, fiber));
    if (!unpaired.empty()) known.unpaired.emplace(fiber, std::move(unpaired));
  });
  return known;
}

std::vector<RequestCopier::WakeKey> RequestCopier::find_wakes(const RequestTemplate& from) const {
  std::map<WakeKey, Wakes> all;
  std::unordered_map<uint64_t, std::pair<uint32_t, uint32_t>> counts;  // by condition: waits, fires
  each_op(from, [&](uint32_t fiber, const Op& op) {
    switch (op.code) {
      case OpCode::token_wait:
        all[{OpCode::token_wait, op.value}].wait(fiber);
        break;
      case OpCode::token_fire:
        all[{OpCode::token_wait, op.value}].fire(fiber);
        break;
      case OpCode::credit_wait:
        all[{OpCode::credit_wait, nth(op.value, counts[op.value & UINT32_MAX].first++)}].wait(fiber);
        break;
      case OpCode::credit_fire:
        all[{OpCode::credit_wait, nth(op.value, counts[op.value & UINT32_MAX].second++)}].fire(fiber);
        break;
      default:
        break;
    }
  });
  std::vector<WakeKey> within;
  for (const auto& [key, wakes] : all) {
    if (wakes.waits && wakes.fires && !wakes.wakes_itself) within.push_back(key);
  }
  return within;
}

std::vector<uint32_t> RequestCopier::find_signals(const RequestTemplate& from) const {
  std::map<uint32_t, int64_t> taken;  // by pool
  each_op(from, [&](uint32_t, const Op& op) {
    const auto count = static_cast<int64_t>(op.value >> 32);
    if (op.code == OpCode::permit_take) taken[static_cast<uint32_t>(op.value)] += count;
    if (op.code == OpCode::permit_give) taken[static_cast<uint32_t>(op.value)] -= count;
  });
  std::vector<uint32_t> signals;
  for (const auto& [pool, count] : taken) {
    if (count != 0) signals.push_back(pool);
  }
  return signals;
}

std::vector<size_t> RequestCopier::find_unpaired(std::span<const Op> ops) {
  std::vector<size_t> unpaired;
  std::unordered_map<uint32_t, std::vector<size_t>> held;  // by lock
  for (size_t i = 0; i < ops.size(); ++i) {
    if (ops[i].code == OpCode::take) held[lock_of(ops[i].value)].push_back(i);
    if (ops[i].code != OpCode::give) continue;
    std::vector<size_t>& takes = held[lock_of(ops[i].value)];
    if (takes.empty()) {
      unpaired.push_back(i);
    } else {
      takes.pop_back();
    }
  }
  for (const auto& [lock, takes] : held) unpaired.insert(unpaired.end(), takes.begin(), takes.end());
  std::ranges::sort(unpaired);
  return unpaired;
}

void RequestCopier::add_tokens(const Known& known) {
  first_token_ = made_.tokens;
  credit_counts_.clear();
  for (const auto& [code, number] : known.wakes) {
    const bool is_recorded = code == OpCode::token_wait && number < model_.program().token_ns.size();
    made_.token_ns.push_back(is_recorded ? model_.program().token_ns[number] : 0);
    made_.token_group.push_back(kNoCopy);
  }
  made_.tokens += static_cast<uint32_t>(known.wakes.size());
}

uint32_t RequestCopier::token_at(const Known& known, const Op& op) {
  WakeKey key{OpCode::token_wait, op.value};
  if (op.code == OpCode::credit_wait || op.code == OpCode::credit_fire) {
    auto& [waits, fires] = credit_counts_[op.value & UINT32_MAX];
    key = {OpCode::credit_wait, nth(op.value, op.code == OpCode::credit_wait ? waits++ : fires++)};
  }
  const auto found = std::ranges::lower_bound(known.wakes, key);
  if (found == known.wakes.end() || *found != key) return kNoCopy;
  return first_token_ + static_cast<uint32_t>(found - known.wakes.begin());
}

void RequestCopier::answer() {
  put(OpCode::mark, answer_mark_);
  put(OpCode::complete, answer_);
}

void RequestCopier::copy_fiber(const Copying& copying, uint32_t fiber, uint32_t as_task) {
  const auto begin = static_cast<uint32_t>(made_.ops.size());
  copy_ops(copying, fiber, as_task);
  if (made_.ops.size() > begin) task_fibers_[as_task] = {begin, static_cast<uint32_t>(made_.ops.size())};
}

void RequestCopier::copy_thread(const Copying& copying, uint32_t thread) {
  const auto begin = static_cast<uint32_t>(made_.ops.size());
  copy_ops(copying, model_.program().thread_fiber(thread), kNoCopy);
  const auto number = static_cast<uint32_t>(trace_.threads.size());
  trace_.threads.emplace_back();
  thread_fibers_.push_back({begin, static_cast<uint32_t>(made_.ops.size())});
  for (const uint32_t task : copying.from.tasks) {
    const bool is_run = model_.trace().tasks[task].kind == model::TaskKind::thread;
    if (is_run && model_.program().thread_of_run(task) == thread)
      made_.run_threads[copy_of(copying.from, task)] = number;
  }
}

void RequestCopier::copy_ops(const Copying& copying, uint32_t fiber, uint32_t as_task) {
  const bool is_root = as_task == first_task_;
  const bool by_completion = is_root && copying.from.answer_mark == kNoCopy;
  bool is_answered = false;
  if (is_root && model_.cold_ns() > 0) put(OpCode::cold, static_cast<uint64_t>(model_.cold_ns()));
  const std::span<const Op> ops = model_.ops_of(plan_, fiber);
  const auto unpaired = copying.known.unpaired.find(fiber);
  const auto is_unpaired = [&](size_t i) {
    return unpaired != copying.known.unpaired.end() && std::ranges::binary_search(unpaired->second, i);
  };
  for (size_t i = 0; i < ops.size(); ++i) {
    const OpCode code = ops[i].code;
    if (code == OpCode::mark && ops[i].value == copying.from.answer_mark) answer();
    if (code == OpCode::end && by_completion && !is_answered) answer(), is_answered = true;
    const std::optional<Op> op = is_unpaired(i) ? std::nullopt : copied(copying, ops[i]);
    if (!op) {
      const bool is_wait = code == OpCode::wait || code == OpCode::take_next;
      if (is_wait && i + 1 < ops.size() && ops[i + 1].code == OpCode::wait_done) ++i;
      continue;
    }
    made_.ops.push_back(*op);
    if (by_completion && op->code == OpCode::complete && op->value == as_task) answer(), is_answered = true;
  }
}

// What a copy does where the recorded request did `recorded`; none: nothing.
std::optional<Op> RequestCopier::copied(const Copying& copying, const Op& recorded) {
  Op op = recorded;
  op.event = kNoCopy;
  switch (op.code) {
    case OpCode::around:
    case OpCode::start_pause:
      op.event = copy_of(copying.from, recorded.event);
      if (op.event == kNoCopy) op.code = op.code == OpCode::around ? OpCode::cpu : OpCode::pause;
      return op;
    case OpCode::cpu:
      if (const double share = model_.warm_share(copying.drawn); share < 1)
        op.value = static_cast<uint64_t>(static_cast<double>(op.value) * share);
      return op;
    case OpCode::vm_wait:
    case OpCode::foreign:
    case OpCode::round:
    case OpCode::closing:
    case OpCode::closed:
    case OpCode::barrier:
    case OpCode::emit:
    case OpCode::sem_take:
    case OpCode::sem_post:
    case OpCode::mark:
      return std::nullopt;
    case OpCode::stop:
      if (!model_.brings_stop(copying.drawn, op.value)) return std::nullopt;
      trace_.pauses.push_back(model_.trace().pauses[op.value]);
      op.value = trace_.pauses.size() - 1;
      return op;
    case OpCode::permit_take:
    case OpCode::permit_give:
      return std::ranges::binary_search(copying.known.signals, static_cast<uint32_t>(op.value)) ? std::nullopt
                                                                                                : std::optional(op);
    case OpCode::take:
    case OpCode::give:
      return model_.is_own_lock(lock_of(op.value)) ? std::nullopt : std::optional(op);
    case OpCode::spawn:
    case OpCode::call:
    case OpCode::register_:
    case OpCode::complete:
    case OpCode::end:
      return with_value(op, op.code, copy_of(copying.from, static_cast<uint32_t>(op.value)));
    case OpCode::wait:
    case OpCode::take_next:
      return with_value(op, OpCode::wait, copy_of(copying.from, static_cast<uint32_t>(op.value)));
    case OpCode::token_wait:
    case OpCode::credit_wait:
      return with_value(op, OpCode::token_wait, token_at(copying.known, op));
    case OpCode::token_fire:
    case OpCode::credit_fire:
      return with_value(op, OpCode::token_fire, token_at(copying.known, op));
    default:
      return op;
  }
}

// None: the request has no such task or token.
std::optional<Op> RequestCopier::with_value(Op op, OpCode code, uint32_t value) {
  if (value == kNoCopy) return std::nullopt;
  op.code = code;
  op.value = value;
  return op;
}

void RequestCopier::copy_ties(const RequestTemplate& from) {
  const SimProgram& program = model_.program();
  for (const uint32_t task : from.tasks) {
    const uint32_t copy = copy_of(from, task);
    if (!program.parents.empty() && program.parents[task] != kNoCopy)
      made_.parents[copy] = copy_of(from, program.parents[task]);
    for (uint32_t i = program.dependents_begin[task]; i < program.dependents_begin[task + 1]; ++i) {
      const uint32_t dependent = copy_of(from, program.dependents[i]);
      if (dependent == kNoCopy) continue;
      ties_.emplace_back(copy, dependent);
      // Sources outside of the request are complete; one that needs any of several needs one.
      const uint32_t recorded = program.needs[program.dependents[i]];
      made_.needs[dependent] = std::min(made_.needs[dependent] + 1, std::max(recorded, 1u));
    }
  }
}

}  // namespace contrafact::whatif
