#include "whatif/request_copier.h"

#include <algorithm>

namespace contrafact::whatif {

RequestCopier::RequestCopier(const LoadTemplates& model, const SectionPlan& plan, std::span<const Treatment> treatments)
    : model_(model), plan_(plan), treatments_(treatments), local_(model.program().fibers.size(), kNoCopy) {
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
  format::PoolRow hand_on;
  hand_on.kind = format::PoolKind::thread_pool;
  hand_on.core_size = hand_on.max_size = std::max(1u, model.hand_on_threads());
  trace_.pools.push_back(hand_on);
  format::PoolRow beside;
  beside.kind = format::PoolKind::thread_per_task;
  trace_.pools.push_back(beside);
}

RequestCopier::Copied RequestCopier::copy(uint32_t drawn, uint32_t begin_mark) {
  const RequestTemplate& from = model_.all()[drawn];
  const auto base = static_cast<uint32_t>(trace_.tasks.size());
  first_task_ = base;
  for (size_t i = 0; i < from.tasks.size(); ++i) local_[from.tasks[i]] = static_cast<uint32_t>(i);
  for (const uint32_t task : from.tasks) add_task(task);
  answer_ = add_future();
  answer_mark_ = begin_mark + 1;
  tokens_.clear();
  find_tokens(from);
  find_signals(from);
  for (const uint32_t task : from.tasks) {
    copy_fiber(from, drawn, task, copy_of(from, task));
  }
  for (const uint32_t thread : from.threads) copy_thread(from, drawn, thread);
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
  for (const uint32_t task : from.tasks) {
    for (const Op& op : model_.ops_of(plan_, task)) visit(task, op);
  }
  for (const uint32_t thread : from.threads) {
    const uint32_t fiber = model_.program().thread_fiber(thread);
    for (const Op& op : model_.ops_of(plan_, fiber)) visit(fiber, op);
  }
}

void RequestCopier::find_tokens(const RequestTemplate& from) {
  std::unordered_map<uint64_t, std::pair<uint32_t, uint32_t>> counts;  // by condition: waits, fires
  each_op(from, [&](uint32_t fiber, const Op& op) {
    switch (op.code) {
      case OpCode::token_wait:
        tokens_[{OpCode::token_wait, op.value}].wait(fiber);
        break;
      case OpCode::token_fire:
        tokens_[{OpCode::token_wait, op.value}].fire(fiber);
        break;
      case OpCode::credit_wait:
        tokens_[{OpCode::credit_wait, nth(op.value, counts[op.value & UINT32_MAX].first++)}].wait(fiber);
        break;
      case OpCode::credit_fire:
        tokens_[{OpCode::credit_wait, nth(op.value, counts[op.value & UINT32_MAX].second++)}].fire(fiber);
        break;
      default:
        break;
    }
  });
  for (auto& [key, wakes] : tokens_) {
    if (!wakes.waits || !wakes.fires || wakes.wakes_itself) continue;
    wakes.token = made_.tokens++;
    const bool is_recorded = key.first == OpCode::token_wait && key.second < model_.program().token_ns.size();
    made_.token_ns.push_back(is_recorded ? model_.program().token_ns[key.second] : 0);
    made_.token_group.push_back(kNoCopy);
  }
  credit_counts_.clear();
}

void RequestCopier::find_signals(const RequestTemplate& from) {
  std::unordered_map<uint32_t, int64_t> taken;  // by pool
  each_op(from, [&](uint32_t, const Op& op) {
    const auto count = static_cast<int64_t>(op.value >> 32);
    if (op.code == OpCode::permit_take) taken[static_cast<uint32_t>(op.value)] += count;
    if (op.code == OpCode::permit_give) taken[static_cast<uint32_t>(op.value)] -= count;
  });
  signals_.clear();
  for (const auto& [pool, count] : taken) {
    if (count != 0) signals_.insert(pool);
  }
}

uint32_t RequestCopier::token_at(const Op& op) {
  if (op.code == OpCode::token_wait || op.code == OpCode::token_fire)
    return tokens_[{OpCode::token_wait, op.value}].token;
  auto& [waits, fires] = credit_counts_[op.value & UINT32_MAX];
  const uint32_t number = op.code == OpCode::credit_wait ? waits++ : fires++;
  return tokens_[{OpCode::credit_wait, nth(op.value, number)}].token;
}

void RequestCopier::answer() {
  put(OpCode::mark, answer_mark_);
  put(OpCode::complete, answer_);
}

void RequestCopier::copy_fiber(const RequestTemplate& from, uint32_t drawn, uint32_t fiber, uint32_t as_task) {
  const auto begin = static_cast<uint32_t>(made_.ops.size());
  copy_ops(from, drawn, fiber, as_task);
  if (made_.ops.size() > begin) task_fibers_[as_task] = {begin, static_cast<uint32_t>(made_.ops.size())};
}

void RequestCopier::copy_thread(const RequestTemplate& from, uint32_t drawn, uint32_t thread) {
  const auto begin = static_cast<uint32_t>(made_.ops.size());
  copy_ops(from, drawn, model_.program().thread_fiber(thread), kNoCopy);
  const auto number = static_cast<uint32_t>(trace_.threads.size());
  trace_.threads.emplace_back();
  thread_fibers_.push_back({begin, static_cast<uint32_t>(made_.ops.size())});
  for (const uint32_t task : from.tasks) {
    const bool is_run = model_.trace().tasks[task].kind == model::TaskKind::thread;
    if (is_run && model_.program().thread_of_run(task) == thread) made_.run_threads[copy_of(from, task)] = number;
  }
}

void RequestCopier::copy_ops(const RequestTemplate& from, uint32_t drawn, uint32_t fiber, uint32_t as_task) {
  const bool is_root = as_task == first_task_;
  const bool by_completion = is_root && from.answer_mark == kNoCopy;
  bool is_answered = false;
  const double warm_share = model_.warm_share(drawn);
  if (is_root && model_.cold_ns() > 0) put(OpCode::cold, static_cast<uint64_t>(model_.cold_ns()));
  const std::span<const Op> ops = model_.ops_of(plan_, fiber);
  find_unpaired(ops);
  for (size_t i = 0; i < ops.size(); ++i) {
    Op op = ops[i];
    op.event = kNoCopy;
    switch (op.code) {
      case OpCode::around:
      case OpCode::start_pause:
        op.event = copy_of(from, ops[i].event);
        if (op.event != kNoCopy) break;
        op.code = op.code == OpCode::around ? OpCode::cpu : OpCode::pause;
        break;
      case OpCode::cpu:
        if (warm_share < 1) op.value = static_cast<uint64_t>(static_cast<double>(op.value) * warm_share);
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
        if (!model_.brings_stop(drawn, op.value)) continue;
        trace_.pauses.push_back(model_.trace().pauses[op.value]);
        op.value = trace_.pauses.size() - 1;
        break;
      case OpCode::mark:
        if (op.value == from.answer_mark) answer();
        continue;
      case OpCode::permit_take:
      case OpCode::permit_give:
        if (signals_.contains(static_cast<uint32_t>(op.value))) continue;
        break;
      case OpCode::take:
      case OpCode::give:
        if (model_.is_own_lock(lock_of(op.value))) continue;
        if (unpaired_.contains(i)) continue;
        break;
      case OpCode::spawn:
      case OpCode::call:
      case OpCode::register_:
      case OpCode::complete:
        op.value = copy_of(from, static_cast<uint32_t>(op.value));
        if (op.value == kNoCopy) continue;
        break;
      case OpCode::wait:
      case OpCode::take_next:
        op.value = copy_of(from, static_cast<uint32_t>(op.value));
        op.code = OpCode::wait;
        if (op.value != kNoCopy) break;
        if (i + 1 < ops.size() && ops[i + 1].code == OpCode::wait_done) ++i;
        continue;
      case OpCode::token_wait:
      case OpCode::token_fire:
      case OpCode::credit_wait:
      case OpCode::credit_fire: {
        const bool is_wait = op.code == OpCode::token_wait || op.code == OpCode::credit_wait;
        op.value = token_at(op);
        if (op.value == kNoCopy) continue;
        op.code = is_wait ? OpCode::token_wait : OpCode::token_fire;
        break;
      }
      case OpCode::end:
        if (by_completion && !is_answered) answer(), is_answered = true;
        op.value = copy_of(from, static_cast<uint32_t>(op.value));
        if (op.value == kNoCopy) continue;
        break;
      default:
        break;
    }
    made_.ops.push_back(op);
    if (by_completion && op.code == OpCode::complete && op.value == as_task) answer(), is_answered = true;
  }
}

void RequestCopier::find_unpaired(std::span<const Op> ops) {
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
