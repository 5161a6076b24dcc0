#include "whatif/sim_machine.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "base/prefetch.h"
#include "base/saturating.h"

namespace contrafact::whatif {

using model::EventKind;
using model::TaskKind;

namespace {

model::CoresLeft cores_left(const SimProgram& program, const SimulateOptions& options) {
  return options.whole_cores ? model::CoresLeft() : program.cores_left;
}

// A core's slice where locks make it matter. Where no slice was measured, it is the one that Linux gives on two to
// eight cores.
int64_t slice_ns(const SimProgram& program, const SimulateOptions& options) {
  if (!program.conventions.takes_turns_on_cores || cores_left(program, options).period_ns > 0) return 0;
  if (options.slice_ns > 0) return options.slice_ns;
  constexpr int64_t kUsual = 3'000'000, kMost = 200'000'000;
  // Up to 26 minutes in slices of 3 ms. A run of weeks is not simulated slice by slice: that would take hours.
  constexpr int64_t kSlicesMax = SimSlices::kSlicesBeforeGrowth;
  const int64_t run_ns = program.trace->end_ns() - program.trace->begin_ns();
  const int64_t usual_ns = program.sync.slice_ns == 0 ? kUsual : std::min(program.sync.slice_ns, kMost);
  return std::max(usual_ns, run_ns / kSlicesMax);
}

// If the recording does not show when threads had cores, nothing shows that they waited for one while another was idle.
int64_t stays_ns(const SimProgram& program) {
  return program.sync.lingers.of_lock.empty() ? 0 : SimSlices::kStaysNs;
}

// If hand-overs are to take no time, woken threads do not wait beside an idle core, either.
WakePlacement wake_placement(const SimProgram& program, const SimulateOptions& options) {
  if (!options.recorded_latencies) return {};
  WakePlacement placement = program.sync.wake_placement;
  placement.by_lag = placement.keeps_lag && options.preempts_by_lag;
  return placement;
}

// No more cores than fibers are ever busy. Each core costs memory, and a trace may claim billions of them.
uint32_t useful_cores(const SimProgram& program, uint32_t cores) {
  return static_cast<uint32_t>(std::min<size_t>(cores, std::max<size_t>(program.fibers.size(), 1)));
}

}  // namespace

SimMachine::SimMachine(const SimProgram& program, const SectionPlan& plan, std::span<const Treatment> treatments,
                       const TaskGroups& groups, const SimulateOptions& options, uint32_t cores)
    : program_(program),
      plan_(plan),
      ops_(plan.ops.empty() ? program.ops : plan.ops),
      fibers_(plan.ops.empty() ? program.fibers : plan.fibers),
      trace_(*program.trace),
      treatments_(treatments),
      groups_(groups),
      options_(options),
      cores_(cores),
      clock_(useful_cores(program, cores), slice_ns(program, options), stays_ns(program),
             wake_placement(program, options), program.vm_work, cores_left(program, options)),
      out_(program, options.build_trace),
      needs_(program.needs),
      fired_(program.tokens),
      token_waiter_(program.tokens, kNone),
      next_of_group_(program.token_groups.size()),
      locks_(plan.locks),
      rounds_(program.sync.round_sizes.size()),
      // Any seed will do but 0, which the generator would keep.
      random_(options.seed * 0x9E3779B97F4A7C15ull | 1) {
  const uint32_t tasks = program.task_count();
  if (program.left_out.cold_cores.any()) clock_.watch_idle_cores();
  latencies_.pools.resize(trace_.pools.size());
  if (options.recorded_latencies) latencies_ = program.latencies;
  if (program.conventions.latencies_of_all_threads && options.recorded_latencies) {
    latencies_.thread_ns = program.sync.thread_latency.median_ns();
    latencies_.wait_ns = program.sync.join_latency.median_ns();
  }
  stopped_.assign(trace_.pauses.size(), false);
  states_.assign(tasks, TaskState::unknown);
  run_by_.assign(tasks, kNone);
  completed_.assign(tasks, false);
  if (!groups.of_task.empty()) answered_.assign(tasks, false);
  for (size_t g = 0; g + 1 < groups.begin.size(); ++g) unanswered_.push_back(groups.begin[g + 1] - groups.begin[g]);
  registered_.assign(tasks, false);
  first_waiter_.assign(tasks, kNone);
  last_waiter_.assign(tasks, kNone);
  takings_.resize(program.takings);
  if (program.takings > 0) {
    taken_as_.resize(tasks);
    std::iota(taken_as_.begin(), taken_as_.end(), 0u);
  }
  for (uint32_t i = 0; i < trace_.threads.size(); ++i) threads_.add().stream = out_.plain_stream(i);
  if (plan.order) {
    section_over_ = plan.never_over;
    first_watcher_.assign(section_over_.size(), kNone);
  }
  marks_ns_.assign(program.marks, -1);
  build_pools(options);
  build_permits(options);
  find_rounds();
  for (uint32_t i = 0; i < fibers_.size(); ++i) foreground_ += fibers_[i].runs() && !program.background[i];
  if (program.counted.empty()) return;
  below_.assign(tasks, 1);
  parts_pool_.assign(tasks, kNone);
  for (uint32_t i = 0; i < tasks; ++i) {
    const uint32_t parent = program.parents[i];
    if (parent == UINT32_MAX || !fibers_[i].runs()) continue;
    ++below_[parent];
    if (program.counted[parent]) parts_pool_[parent] = row(i).pool.value;
  }
}

base::Result<Simulation> SimMachine::run() {
  for (const Release& release : program_.releases) clock_.at(release.time_ns, TimedKind::release, release.thread);
  // Where everything is background, all of it is the run.
  const bool to_the_end = foreground_ == 0;
  SimClock::Event event;
  do {
    while ((to_the_end || foreground_ > 0) && clock_.next(event)) handle(event);
  } while ((to_the_end || foreground_ > 0) && break_standstill());

  Simulation result;
  result.duration_ns = clock_.now_ns();
  result.steps = steps_;
  result.cpu_ns = clock_.cpu_ns();
  result.cores = cores_;
  result.spared_waits_ns = spared_waits_ns_;
  if (cores_ > 0 && result.duration_ns > 0) {
    result.core_utilisation = static_cast<double>(result.cpu_ns) /
                              (static_cast<double>(result.duration_ns) * cores_ * cores_left(program_, options_).share);
  }
  result.unknown_waits = program_.unknown_waits;
  result.notes = program_.notes;
  if (result.unknown_waits > 0) {
    result.notes.push_back(std::to_string(result.unknown_waits) +
                           " waits have no known end and keep their recorded length");
  }
  if (tokens_broken_ > 0) {
    result.notes.push_back(std::to_string(tokens_broken_) +
                           " blocks were left although what woke them in the recording had not happened yet");
  }
  if (permits_broken_ > 0) {
    result.notes.push_back(std::to_string(permits_broken_) +
                           " threads went on without the permits that nobody gave them");
  }
  if (turns_broken_ > 0) {
    result.notes.push_back(std::to_string(turns_broken_) +
                           " critical sections were entered out of their turn: their turn waited for them");
  }
  if (to_the_end || foreground_ > 0) report_stuck(result);
  if (!options_.build_trace) return result;
  end_workers();
  std::vector<format::LockKind> kinds;
  for (const SimLock& lock : locks_) kinds.push_back(lock.kind);
  out_.set_locks(kinds, plan_.made_from);
  base::Result<model::Trace> trace = out_.finish(program_.begin_ns, cores_);
  if (!trace) return trace.error();
  result.trace = std::move(*trace);
  return result;
}

void SimMachine::handle(const SimClock::Event& event) {
  if (event.cpu) return threads_[event.id].mode == Mode::running ? run_thread(event.id) : resume(event.id);
  switch (event.kind) {
    case TimedKind::resume:
      return needs_core(event.id) ? clock_.use_core(0, event.id) : resume(event.id);
    case TimedKind::due:
      return submit(event.id, kNone);
    case TimedKind::release: {
      if (threads_[event.id].mode != Mode::starting) return;  // a damaged trace starts it twice
      threads_[event.id].mode = Mode::running;
      push_frame(event.id, program_.thread_fiber(event.id));
      return needs_core(event.id) ? clock_.use_core(0, event.id) : run_thread(event.id);
    }
  }
}

// Where a thread has a core wholly or not at all, it does nothing before it has one. A client has one elsewhere.
bool SimMachine::needs_core(uint32_t id) const {
  return clock_.sliced() && !is_client(id);
}

// ---- Threads

void SimMachine::resume(uint32_t id) {
  Thread& thread = threads_[id];
  if (thread.mode == Mode::asking) return ask_for_sleep(id);
  if (thread.mode == Mode::leaving) return fall_asleep(id);
  if (thread.mode == Mode::starting) {
    uint32_t task = thread.reserved;
    thread.reserved = kNone;
    SimPool& pool = pools_[thread.pool];
    if (task == kNone) {
      --pool.waking;
      task = pool.take(thread.worker, [&](uint32_t t) { return is_queued(t); });
      if (task == kNone) return go_idle(id);
    }
    out_.write(thread.stream, clock_.now_ns(), EventKind::worker_busy, thread.pool, pool.queued);
    thread.mode = Mode::running;
    push_frame(id, task);
    if (const uint32_t first = std::exchange(thread.before_first, kNone); first != kNone) push_frame(id, first);
  } else if (thread.mode == Mode::waiting && thread.pool != kNone) {
    ++pools_[thread.pool].active;
  }
  if (thread.helps != kNone) end_help(id);
  if (std::exchange(thread.woken, false)) --locks_[thread.blocked_on].coming;
  thread.mode = Mode::running;
  thread.blocked_on = kNone;
  run_thread(id);
}

void SimMachine::run_thread(uint32_t id) {
  Thread& thread = threads_[id];
  for (;;) {
    if (thread.stack.empty() && !next_work(id)) return;
    if (!step(id)) return;
  }
}

bool SimMachine::step(uint32_t id) {
  Thread& thread = threads_[id];
  Frame& frame = thread.stack.back();
  const Op& op = ops_[frame.pc];
  const auto value = static_cast<uint32_t>(op.value);
  ++steps_;
  if (op.code > OpCode::emit && op.code != OpCode::token_fire) frame.credit_ns = 0;
  if (step_skipped(thread, op)) return true;
  switch (op.code) {
    case OpCode::cpu:
      look_ahead(ops_[++frame.pc]);
      return step_cpu(id, less_waking(thread, static_cast<int64_t>(op.value)));
    case OpCode::around:
      ++frame.pc;
      return step_around(id, op);
    case OpCode::start_pause:
      ++frame.pc;
      if (is_never_handed_out(op.event)) return spare_around(frame, static_cast<int64_t>(op.value));
      clock_.at(clock_.now_ns() + less_credit(frame, static_cast<int64_t>(op.value)), TimedKind::resume, id);
      return false;
    case OpCode::pause:
      ++frame.pc;
      clock_.at(clock_.now_ns() + less_credit(frame, static_cast<int64_t>(op.value)), TimedKind::resume, id);
      return false;
    case OpCode::cold:
      ++frame.pc;
      return !clock_.was_idle(id) || step_cpu(id, static_cast<int64_t>(op.value));
    case OpCode::refill:
      ++frame.pc;
      return step_refill(id, static_cast<int64_t>(op.value));
    case OpCode::vm_wait:
      ++frame.pc;
      return step_vm_wait(id, static_cast<int64_t>(op.value));
    case OpCode::stop:
      ++frame.pc;
      return step_stop(id, value);
    case OpCode::foreign:
      ++frame.pc;
      return step_foreign(id, op.value);
    case OpCode::round:
      step_round(id, op);
      return true;
    case OpCode::wait:
      return step_wait(id, op);
    case OpCode::take_next:
      return step_take_next(id, op);
    case OpCode::token_wait:
      return step_token(id, op);
    case OpCode::take:
      return step_take(id, op);
    case OpCode::sem_take:
      return step_sem_take(id, op);
    case OpCode::barrier:
      return step_barrier(id, op);
    case OpCode::permit_take:
      return step_permit_take(id, op);
    case OpCode::credit_wait:
      return step_credit_wait(id, op);
    case OpCode::end:
      step_end(id, op);
      return true;
    case OpCode::ret:
      step_ret(id);
      return true;
    default:
      ++frame.pc;
      act(id, op);
      return true;
  }
}

// Fetches the operations of the task that is handed out next: it may run soon, and they lie elsewhere.
void SimMachine::look_ahead(const Op& next) const {
  if (next.code != OpCode::spawn) return;
  const Fiber& fiber = fibers_[next.value];
  base::prefetch(ops_.data() + fiber.begin, (fiber.end - fiber.begin) * sizeof(Op));
}

// Executes an operation at which the thread does not give way.
void SimMachine::act(uint32_t id, const Op& op) {
  Thread& thread = threads_[id];
  Frame& frame = thread.stack.back();
  const auto value = static_cast<uint32_t>(op.value);
  if (op.code == OpCode::give) {  // of the lock that it acquired, which may not be the recorded one
    out_.write(thread.stream, clock_.now_ns(), EventKind::lock_release, lock_of(op.value));
  } else if (op.code == OpCode::wait_done) {
    write_wait(id, EventKind::wait_end, op.event);
  } else if (op.code != OpCode::spawn) {
    out_.copy(thread.stream, clock_.now_ns(), op.event);
  }
  switch (op.code) {
    case OpCode::spawn:
      frame.skips = is_called_now(value) && program_.costs->handed[value];
      spawn(id, value, op.event);
      break;
    case OpCode::call:
      if (is_new(value) && treatment(value) != Treatment::inline_at_wait) push_frame(id, value);
      break;
    case OpCode::register_:
      registered_[value] = true;
      if (needs_[value] == 0) set_off(id, value);
      notify_all(id);
      break;
    case OpCode::complete:
      if (value == frame.fiber && (treatment(value) == Treatment::inline_at_spawn ||
                                   treatment(value) == Treatment::inline_at_wait || joins_group(value)))
        frame.credit_ns = program_.costs->answer_ns[value];
      complete(id, value);
      break;
    case OpCode::token_fire: {
      const uint32_t token = first_of_group(value);
      fired_[token] = true;
      const uint32_t sleeper = std::exchange(token_waiter_[token], kNone);
      const int64_t way_ns = program_.conventions.latencies_of_all_threads ? latency_ns(program_.sync.token_latency)
                                                                           : wake_latency_ns(token);
      if (sleeper != kNone) clock_.at(clock_.now_ns() + way_ns, TimedKind::resume, sleeper);
      break;
    }
    case OpCode::wait_done:
      spare_taking(frame);
      break;
    case OpCode::mark:
      if (marks_ns_[value] < 0) marks_ns_[value] = clock_.now_ns();
      break;
    case OpCode::give:
      step_give(id, op);
      break;
    case OpCode::permit_give:
      step_permit_give(op);
      break;
    case OpCode::sem_post:
      step_sem_post(op);
      break;
    case OpCode::credit_fire:
      step_credit_fire(op);
      break;
    case OpCode::leave_pool:
      leave_pool(thread);
      break;
    case OpCode::rejoin_pool:
      if (thread.pool != kNone) ++pools_[thread.pool].active;
      break;
    default:
      break;
  }
}

// A group's result is asked for once: asking for the other members' is left out, as far as one can tell it from what the
// program does with them.
void SimMachine::spare_taking(Frame& frame) const {
  constexpr int64_t kTakingMostNs = 100;
  const Op& wait = ops_[frame.pc - 2];
  if (wait.code == OpCode::wait && joins_group(static_cast<uint32_t>(wait.value))) frame.credit_ns = kTakingMostNs;
}

// True for operations that mark or fill a stretch that may be left out.
bool SimMachine::step_skipped(Thread& thread, const Op& op) {
  Frame& frame = thread.stack.back();
  bool is_left_out = frame.skips;
  switch (op.code) {
    case OpCode::closing:
      is_left_out = frame.skips = pools_[op.value].workers.empty();
      break;
    case OpCode::handed:
    case OpCode::closed:
      frame.skips = false;
      break;
    case OpCode::cpu:
    case OpCode::pause:
    case OpCode::refill:
    case OpCode::vm_wait:
    case OpCode::foreign:
    case OpCode::token_wait:
    case OpCode::emit:
      if (!frame.skips) return false;
      break;
    default:
      return false;
  }
  ++frame.pc;
  if (!is_left_out) out_.copy(thread.stream, clock_.now_ns(), op.event);
  return true;
}

int64_t SimMachine::less_waking(Thread& thread, int64_t ns) {
  return std::max<int64_t>(0, base::add_saturated(ns, -std::exchange(thread.spared_ns, 0)));
}

bool SimMachine::step_cpu(uint32_t id, int64_t ns) {
  const int64_t left_ns = less_credit(threads_[id].stack.back(), ns);
  if (program_.left_out.any() && left_ns < ns) clock_.leave_out(ns - left_ns);
  if (left_ns == 0) return true;
  clock_.use_core(left_ns, id);
  return false;
}

// Caches are filled once after the core was idle, however much the thread then does.
bool SimMachine::step_refill(uint32_t id, int64_t ns) {
  const model::ColdCores& cold = program_.left_out.cold_cores;
  IdleBefore* const before = clock_.idle_before(id);
  if (!before) return true;
  const int64_t part_ns = std::min(ns, cold.full_ns() - before->refilled_ns);
  before->refilled_ns += part_ns;
  return part_ns == 0 || step_cpu(id, static_cast<int64_t>(cold.share(before->idle_ns) * static_cast<double>(part_ns)));
}

bool SimMachine::is_never_handed_out(uint32_t task) const {
  return treatment(task) != Treatment::keep || joins_group(task);
}

// The credit of a hand-out that is left out is a part of the same time.
bool SimMachine::spare_around(Frame& frame, int64_t ns) {
  frame.credit_ns = std::max<int64_t>(0, frame.credit_ns - ns);
  return true;
}

bool SimMachine::step_around(uint32_t id, const Op& op) {
  const auto ns = static_cast<int64_t>(op.value);
  if (!is_never_handed_out(op.event)) return step_cpu(id, ns);
  clock_.leave_out(ns);
  return spare_around(threads_[id].stack.back(), ns);
}

// A task that is called does not run beside its caller, so no other thread holds what it waited for.
bool SimMachine::step_vm_wait(uint32_t id, int64_t ns) {
  Frame& frame = threads_[id].stack.back();
  const Treatment made = frame.fiber < program_.task_count() ? treatment(frame.fiber) : Treatment::keep;
  if (made == Treatment::inline_at_spawn || made == Treatment::inline_at_wait) {
    spared_waits_ns_ = base::add_saturated(spared_waits_ns_, ns);
    return true;
  }
  clock_.at(clock_.now_ns() + less_credit(frame, ns), TimedKind::resume, id);
  return false;
}

// The first thread to come to a stop of the virtual machine stops all threads. For the others, that stop is then over.
bool SimMachine::step_stop(uint32_t id, uint32_t stop) {
  if (stopped_[stop]) return true;
  stopped_[stop] = true;
  const int64_t until_ns = clock_.now_ns() + trace_.pauses[stop].end_ns - trace_.pauses[stop].begin_ns;
  clock_.freeze(until_ns);
  clock_.at(until_ns, TimedKind::resume, id);
  return false;
}

// Other programs used cores that this thread wanted. Now fewer of the program's threads may want a core than in the
// recording. If there is a core for each of them and those of the other programs, too, no thread has to wait.
bool SimMachine::step_foreign(uint32_t id, uint64_t value) {
  const uint64_t wanted = clock_.running() + 1;
  if (cores_ == 0 || wanted * 256 + foreign_cores_256(value) <= uint64_t{cores_} * 256) return true;
  return step_cpu(id, foreign_ns(value));
}

bool SimMachine::step_wait(uint32_t id, const Op& op) {
  Thread& thread = threads_[id];
  Frame& frame = thread.stack.back();
  const auto recorded = static_cast<uint32_t>(op.value);
  const uint32_t awaited = taken_as_.empty() ? recorded : taken_as_[recorded];
  if (treatment(awaited) == Treatment::inline_at_wait && is_new(awaited) && fibers_[awaited].runs()) {
    push_frame(id, awaited);
    return true;
  }
  if (!completed_[awaited] && frame.fiber < program_.task_count() && treatment(frame.fiber) == Treatment::combinator) {
    detach(id, awaited);
    return true;
  }
  if (!frame.in_wait) write_wait(id, EventKind::wait_begin, op.event);
  frame.in_wait = true;
  if (completed_[awaited]) {
    frame.in_wait = frame.is_waiter = false;
    ++frame.pc;
    return true;
  }
  if (help(id, awaited)) return !takes_time_to_help(id);
  if (!frame.is_waiter) {
    frame.is_waiter = true;
    const auto node = static_cast<uint32_t>(waiters_.size());
    waiters_.push_back({true, id, kNone});
    (first_waiter_[awaited] == kNone ? first_waiter_[awaited] : waiters_[last_waiter_[awaited]].next) = node;
    last_waiter_[awaited] = node;
  }
  block(id, Mode::waiting, awaited);
  await_calls(id, awaited);
  return false;
}

// The thread has found a task to run while it waits. True: finding it takes time.
bool SimMachine::takes_time_to_help(uint32_t id) {
  const uint32_t pool = row(threads_[id].stack.back().fiber).pool.value;
  const int64_t help_ns =
      pool == kNone || program_.conventions.latencies_of_all_threads ? 0 : pools_[pool].latency.help_ns;
  if (help_ns > 0) clock_.use_core(help_ns, id);
  return help_ns > 0;
}

// Takes the result that is complete first. In all, the thread takes as many as recorded, in the order in which they
// come now.
bool SimMachine::step_take_next(uint32_t id, const Op& op) {
  Thread& thread = threads_[id];
  Frame& frame = thread.stack.back();
  const auto recorded = static_cast<uint32_t>(op.value);
  Taking& taking = takings_[program_.taken_in[recorded]];
  if (treatment(recorded) == Treatment::inline_at_wait && is_new(recorded) && fibers_[recorded].runs()) {
    push_frame(id, recorded);
    return true;
  }
  const bool detaches = frame.fiber < program_.task_count() && treatment(frame.fiber) == Treatment::combinator;
  if (taking.there.empty() && detaches && !completed_[recorded]) {
    detach(id, recorded);
    return true;
  }
  if (!frame.in_wait) out_.copy(thread.stream, clock_.now_ns(), op.event);
  frame.in_wait = true;
  if (taking.there.empty()) {
    taking.waiting.push_back(id);
    block(id, Mode::waiting, recorded);
    return false;
  }
  taken_as_[recorded] = taking.there.front();
  taking.there.pop_front();
  frame.in_wait = false;
  ++frame.pc;
  return true;
}

// Writes a wait for a task, or its end, with the task whose result was taken in this run.
void SimMachine::write_wait(uint32_t id, EventKind kind, uint32_t event) {
  if (!out_.enabled() || event == UINT32_MAX) return;
  const uint32_t task = trace_.a[event];
  const bool is_other = !taken_as_.empty() && task < taken_as_.size();
  out_.write(threads_[id].stream, clock_.now_ns(), kind, is_other ? taken_as_[task] : task, trace_.b[event]);
}

// Completion may put stages on the stack, which run inside the task: the operation is executed again after them.
void SimMachine::step_end(uint32_t id, const Op& op) {
  const auto task = static_cast<uint32_t>(op.value);
  if (!program_.completes_by_op[task] && !is_answered(task)) return complete(id, task);
  Thread& thread = threads_[id];
  Frame& frame = thread.stack.back();
  ++frame.pc;
  frame.skips = joins_group(task);  // what the pool does after each of its tasks, it does once for a group
  const uint32_t outcome = op.event == UINT32_MAX ? 0 : trace_.b[op.event];
  out_.write(thread.stream, clock_.now_ns(), EventKind::task_end, frame.written, outcome);
}

void SimMachine::step_ret(uint32_t id) {
  Thread& thread = threads_[id];
  const uint32_t fiber = thread.stack.back().fiber;
  thread.stack.pop_back();
  if (!program_.background[fiber]) --foreground_;
  if (fiber >= program_.task_count()) return;
  states_[fiber] = TaskState::ended;
  if (thread.pool != kNone) pools_[thread.pool].last_end_ns = clock_.now_ns();
  if (!below_.empty()) count_down(id, fiber);
}

// A fork-join task is over when all tasks spawned below it are: the last one to end completes the counted ones above
// it.
void SimMachine::count_down(uint32_t id, uint32_t task) {
  while (task != UINT32_MAX && --below_[task] == 0) {
    if (program_.counted[task]) {
      out_.copy(threads_[id].stream, clock_.now_ns(), row(task).complete.value);
      complete(id, task);
    }
    task = program_.parents[task];
  }
}

// A worker without frames looks for its next task. False: it has none, or needs time to get it.
bool SimMachine::next_work(uint32_t id) {
  Thread& thread = threads_[id];
  if (thread.pool == kNone) {
    thread.mode = Mode::finished;
    return false;
  }
  SimPool& pool = pools_[thread.pool];
  if (pool.thread_per_task()) {
    thread.mode = Mode::finished;
    --pool.active;
    out_.write(thread.stream, clock_.now_ns(), EventKind::thread_end);
    return false;
  }
  const uint32_t task = pool.take(thread.worker, [&](uint32_t t) { return is_queued(t); });
  if (task == kNone) {
    go_idle(id);
    return false;
  }
  push_frame(id, task);
  const int64_t turnaround_ns = start_latency_ns(task, HandOver::Kind::turnaround, pool.latency.turnaround_ns);
  if (turnaround_ns == 0) return true;
  clock_.use_core(turnaround_ns, id);
  return false;
}

// The task's own time if it is handed over in the same way as recorded, else `typical_ns`, which is 0 where there are
// to be no latencies.
int64_t SimMachine::start_latency_ns(uint32_t task, HandOver::Kind kind, int64_t typical_ns) const {
  if (!options_.recorded_latencies || task == kNone || program_.hand_overs.empty()) return typical_ns;
  const HandOver& recorded = program_.hand_overs[task];
  return recorded.kind == kind ? recorded.ns : typical_ns;
}

// REQUIRES: the thread is in a wait.
int64_t SimMachine::wait_latency_ns(uint32_t id) const {
  if (!options_.recorded_latencies) return 0;
  const uint64_t own_ns = ops_[threads_[id].stack.back().pc + 1].value;
  return own_ns == kTypicalLatency ? latencies_.wait_ns : static_cast<int64_t>(own_ns);
}

int64_t SimMachine::wake_latency_ns(uint32_t token) const {
  return options_.recorded_latencies && token < program_.token_ns.size() ? program_.token_ns[token] : 0;
}

// Any token of a group may end any of the group's waits: gives the token of the first wait that has not ended yet.
uint32_t SimMachine::first_of_group(uint32_t token) {
  const uint32_t group = token < program_.token_group.size() ? program_.token_group[token] : kNone;
  if (group == kNone) return token;
  const std::vector<uint32_t>& tokens = program_.token_groups[group];
  size_t& next = next_of_group_[group];
  while (next < tokens.size() && fired_[tokens[next]]) ++next;
  return next < tokens.size() ? tokens[next] : token;
}

void SimMachine::push_frame(uint32_t id, uint32_t fiber) {
  const Fiber& code = fibers_[fiber];
  CHECK(code.runs());
  threads_[id].stack.push_back({fiber, code.begin, fiber, false});
  if (fiber >= program_.task_count()) return;
  CHECK(states_[fiber] != TaskState::running && states_[fiber] != TaskState::ended);
  states_[fiber] = TaskState::running;
  run_by_[fiber] = id;
  if (groups_.has(fiber) && groups_.last_of(fiber) == fiber) push_group(id, fiber);
}

void SimMachine::block(uint32_t id, Mode mode, uint32_t on) {
  Thread& thread = threads_[id];
  thread.mode = mode;
  thread.blocked_on = on;
  leave_pool(thread);
}

}  // namespace contrafact::whatif
