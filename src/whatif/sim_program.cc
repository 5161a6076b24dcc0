#include "whatif/sim_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "base/check.h"
#include "model/foreign_cores.h"
#include "model/task_walk.h"
#include "whatif/sim_crowding.h"
#include "whatif/sim_off_core.h"
#include "whatif/sim_periods.h"
#include "whatif/sim_share.h"
#include "whatif/sim_sync_ops.h"
#include "whatif/sim_wakes.h"

namespace contrafact::whatif {
namespace {

using model::EventIndex;
using model::EventKind;
using model::Frame;
using model::FrameKind;
using model::Outcome;
using model::TaskId;
using model::TaskKind;
using model::TaskRow;
using model::TaskWalk;
using model::ThreadRole;
using model::Trace;

constexpr uint32_t kNoEvent = UINT32_MAX;
// Events of a completion and of what it sets off are stamped one after the other, in either order.
constexpr int64_t kStampSlackNs = 100'000;

// ---- The compiler
// -----------------------------------------------------------------------------------------------------

class Compiler {
 public:
  Compiler(const model::Facts& facts, bool keep_emits)
      : facts_(facts), trace_(facts.trace()), keep_emits_(keep_emits) {}

  SimProgram run() {
    program_.trace = &trace_;
    program_.uses = facts_.uses();
    program_.begin_ns = trace_.begin_ns();
    program_.end_ns = program_.begin_ns;
    program_.latencies = measure_latencies(trace_, facts_.uses());
    program_.external_help.assign(trace_.pools.size(), false);
    program_.fibers.resize(trace_.tasks.size() + trace_.threads.size());
    tokens_ = match_wakes(trace_, facts_.uses());
    program_.tokens = tokens_.count;
    program_.token_group = std::move(tokens_.group);
    program_.token_groups = std::move(tokens_.groups);
    program_.sync = gather_sync_facts(facts_, model::recorded_cores(trace_), tokens_.count);
    program_.tokens += static_cast<uint32_t>(program_.sync.fires.size());
    program_.rounds = find_rounds(trace_, program_.sync.sections, program_.sync.section_of_event);
    program_.notes = program_.rounds.notes;
    native_ = program_.sync.native;
    kernel_told_ = std::any_of(trace_.cpu.begin(), trace_.cpu.end(), [](const auto& gaps) { return !gaps.empty(); });
    if (!native_) {
      crowding_ = Crowding(trace_, facts_.uses(), model::recorded_cores(trace_), kernel_told_);
      program_.hand_overs = measure_hand_overs(trace_, facts_.uses(), program_.latencies, crowding_);
      program_.token_ns = own_wake_latencies(tokens_, crowding_);
    }
    program_.costs = &facts_.hand_over_costs();
    program_.periodic_due_ns = periodic_due_ns(trace_);
    if (!kernel_told_) assume_shares();
    if (native_ || kernel_told_) assume_foreign();
    find_dynamic();
    find_called();
    find_counted();
    find_background();
    program_.ops.reserve(trace_.event_count() * 2);
    for (uint32_t i = 0; i < trace_.threads.size(); ++i) {
      if (is_simulated(i)) compile_thread(i);
    }
    if (kernel_told_) assume_vm_work();
    return std::move(program_);
  }

 private:
  static constexpr double kShareTold = 0.01;
  // A fiber under construction.
  struct Draft {
    uint32_t fiber;
    std::vector<Op> ops;
  };

  bool is_simulated(uint32_t thread) const { return native_ || program_.uses[thread].role != ThreadRole::bystander; }
  bool is_simulated(EventIndex event) const { return is_simulated(trace_.thread_of(event).value); }
  const TaskRow& task(uint64_t id) const { return trace_.tasks[id]; }
  int64_t time(EventIndex event) const { return trace_.time_ns[event.index()]; }

  void assume_shares() {
    program_.notes.push_back(
        "the trace does not say when threads left their cores: running tasks count as CPU, in equal shares where more "
        "ran "
        "than there were cores");
    const uint32_t cores = model::recorded_cores(trace_);
    if (cores > 0) share_ = CoreShare(trace_, facts_.uses(), cores, native_);
  }

  void assume_foreign() {
    told_of_all_ = kernel_told_ && trace_.fact("cpu.switches.lost").empty();
    const uint32_t cores = model::recorded_cores(trace_);
    foreign_ = model::ForeignCores(trace_, cores);
    const double all_ns = static_cast<double>(cores) * static_cast<double>(trace_.end_ns() - trace_.begin_ns());
    const auto foreign_ns = static_cast<double>(foreign_.total_ns());
    if (foreign_ns < kShareTold * all_ns) return;
    program_.notes.push_back(fmt::format(
        "{} had {:.0f} % of the cores while this one's threads wanted them: assumed to take the same time "
        "from the same threads at the same places of the program{}",
        native_ || !trace_.vm_stints.empty() ? "other programs" : "other programs, and the JVM's own threads,",
        100 * foreign_ns / all_ns,
        native_ ? ", however it is changed" : ", but where a change leaves a core for them"));
  }

  void assume_vm_work() {
    program_.vm_work = VmWork(trace_, stints_);
    const double all_ns =
        static_cast<double>(model::recorded_cores(trace_)) * static_cast<double>(trace_.end_ns() - trace_.begin_ns());
    const auto vm_ns = static_cast<double>(program_.vm_work.total_ns());
    if (vm_ns < kShareTold * all_ns) return;
    program_.notes.push_back(
        fmt::format("the JVM's own threads (compiler, collector) had {:.0f} % of the cores beside the program: assumed "
                    "to compute as much for the same computing of the program, however it is changed",
                    100 * vm_ns / all_ns));
  }

  // ---- Dependences

  // When the task's sources must have been complete for them to have set it off.
  int64_t set_off_ns(const TaskRow& row, TaskId id) const {
    if (row.spawn.valid()) return time(row.spawn);
    if (row.start.valid()) return std::max(time(row.start), row.end.valid() ? time(row.end) : 0);
    return completion_ns(trace_, id);
  }

  void find_dynamic() {
    const size_t tasks = trace_.tasks.size();
    program_.dynamic.assign(tasks, false);
    program_.needs.assign(tasks, 0);
    std::vector<bool> announced(tasks);
    first_depends_.assign(tasks, kNoEvent);
    for (uint32_t i = 0; i < trace_.event_count(); ++i) {
      if (trace_.kind[i] == EventKind::task_depends && first_depends_[trace_.a[i]] == kNoEvent)
        first_depends_[trace_.a[i]] = i;
    }
    const auto& all = trace_.dependencies;
    for (size_t i = 0; i < all.size();) {
      const TaskId id = all[i].task;
      const TaskRow& row = task(id.index());
      const int64_t limit_ns = set_off_ns(row, id);
      size_t sources = 0, ready = 0;
      bool any = false;
      for (; i < all.size() && all[i].task == id; ++i, ++sources) {
        any |= all[i].mode == format::DependsMode::any;
        const int64_t done_ns = completion_ns(trace_, all[i].source);
        ready += done_ns != INT64_MAX && limit_ns != INT64_MAX && done_ns <= limit_ns + kStampSlackNs;
      }
      const size_t needed = any ? 1 : sources;
      const bool announced_somewhere = row.create.valid() || first_depends_[id.index()] != kNoEvent;
      if (ready < needed || !announced_somewhere || row.kind == TaskKind::thread) continue;
      program_.dynamic[id.index()] = true;
      program_.needs[id.index()] = static_cast<uint32_t>(needed);
    }
    index_dependents();
  }

  void index_dependents() {
    auto& begin = program_.dependents_begin;
    begin.assign(trace_.tasks.size() + 1, 0);
    for (const model::Dependency& d : trace_.dependencies) ++begin[d.source.index() + 1];
    for (size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
    program_.dependents.resize(trace_.dependencies.size());
    std::vector<uint32_t> at(begin.begin(), begin.end() - 1);
    for (const model::Dependency& d : trace_.dependencies) program_.dependents[at[d.source.index()]++] = d.task.value;
  }

  // ---- Who is called and who is handed out

  void find_called() {
    program_.called.assign(trace_.tasks.size(), false);
    program_.completes_by_op.assign(trace_.tasks.size(), false);
    spawners_.assign(trace_.tasks.size(), TaskId());
    completers_.assign(trace_.tasks.size(), TaskId());
    for (uint32_t thread = 0; thread < trace_.threads.size(); ++thread) {
      if (!is_simulated(thread)) continue;
      for (TaskWalk walk(trace_, model::ThreadId(thread)); walk.next();) {
        if (walk.kind() == EventKind::task_spawn) spawners_[walk.a()] = walk.task();
        if (walk.kind() == EventKind::task_complete) note_complete(walk);
        if (walk.kind() == EventKind::task_start) note_start(walk, thread);
      }
    }
  }

  void note_complete(const TaskWalk& walk) {
    const bool has_body = task(walk.a()).start.valid();
    if (has_body || !program_.dynamic[walk.a()]) program_.completes_by_op[walk.a()] = true;
    completers_[walk.a()] = walk.task();
  }

  // A task with fork-join sub-tasks, completed after its own end by one of those below it.
  bool is_counted(uint32_t id, const std::vector<bool>& has_children) const {
    const TaskRow& row = task(id);
    if (!has_children[id] || !row.start.valid() || !row.complete.valid() || program_.dynamic[id]) return false;
    const bool within = row.complete.value > row.start.value && row.complete.value < row.end.value;
    if (within) return false;
    // The bound is for damaged traces, in which tasks may spawn each other in a circle.
    size_t levels = trace_.tasks.size();
    for (TaskId at = completers_[id]; at.valid() && levels > 0; at = spawners_[at.index()], --levels) {
      if (at.value == id) return true;
    }
    return false;
  }

  void find_counted() {
    const auto tasks = static_cast<uint32_t>(trace_.tasks.size());
    std::vector<bool> has_children(tasks);
    std::vector<uint32_t> parents(tasks, UINT32_MAX);
    for (uint32_t id = 0; id < tasks; ++id) {
      const TaskRow& row = task(id);
      const bool forked = row.pool.valid() && trace_.pools[row.pool.index()].kind == format::PoolKind::fork_join;
      if (!forked || !row.start.valid() || !spawners_[id].valid()) continue;
      parents[id] = spawners_[id].value;
      has_children[parents[id]] = true;
    }
    std::vector<bool> counted(tasks);
    bool any = false;
    for (uint32_t id = 0; id < tasks; ++id) any |= counted[id] = is_counted(id, has_children);
    if (!any) return;
    program_.counted = std::move(counted);
    program_.parents = std::move(parents);
  }

  // True for a thread whose last event was added because the recording ended while it blocked or ran.
  bool was_cut_off(uint32_t thread) const {
    const model::EventRange range = trace_.thread_events(model::ThreadId(thread));
    if (range.size() == 0) return true;
    const uint32_t last = range.end - 1;
    switch (trace_.kind[last]) {
      case EventKind::block_end:
        return trace_.time_ns[last] == trace_end_ns_;
      case EventKind::wait_end:
        return trace_.time_ns[last] == trace_end_ns_ && static_cast<Outcome>(trace_.b[last]) == Outcome::interrupted;
      case EventKind::task_end:
        return task(trace_.a[last]).truncated;
      default:
        return false;
    }
  }

  void find_background() {
    trace_end_ns_ = trace_.end_ns();
    const size_t tasks = trace_.tasks.size();
    program_.background.assign(tasks + trace_.threads.size(), false);
    for (size_t id = 0; id < tasks; ++id) {
      const bool periodic = !program_.periodic_due_ns.empty() && program_.periodic_due_ns[id] != kNoDueTime;
      program_.background[id] = task(id).truncated || task(id).delay_us > 0 || periodic;
    }
    for (size_t i = 0; i < trace_.threads.size(); ++i) {
      const ThreadRole role = program_.uses[i].role;
      const bool daemon = (role == ThreadRole::plain || role == ThreadRole::own) && trace_.threads[i].daemon;
      // A native program lasts as long as its main thread, also one that was cut off with it.
      const bool lasts = native_ && i == 0;
      program_.background[tasks + i] =
          role == ThreadRole::worker || daemon || (!lasts && was_cut_off(static_cast<uint32_t>(i)));
    }
  }

  void note_start(const TaskWalk& walk, uint32_t thread) {
    const uint32_t id = walk.a();
    const TaskRow& row = task(id);
    const auto& stack = walk.stack();
    const bool in_wait = stack.size() >= 2 && stack[stack.size() - 2].kind == FrameKind::wait;
    if (row.kind == TaskKind::stage) {
      program_.called[id] = !program_.dynamic[id];
    } else if (row.kind == TaskKind::thread) {
      program_.called[id] = true;  // by its thread's own run
    } else if (in_wait) {
      if (program_.uses[thread].role != ThreadRole::worker && row.pool.valid())
        program_.external_help[row.pool.index()] = true;
    } else if (row.spawn.valid() && trace_.thread_of(row.spawn) == model::ThreadId(thread)) {
      // Spawned and run by the same thread inside the same run: the pool's caller ran what the pool rejected.
      const bool nested = stack.size() >= 2;
      const Frame around = nested ? stack[stack.size() - 2] : Frame{};
      const bool in_task =
          nested && around.kind == FrameKind::task && task(around.task.index()).kind != TaskKind::thread;
      const bool worker = program_.uses[thread].role == ThreadRole::worker;
      program_.called[id] = in_task ? row.spawn.value > around.begin.value : !worker;
    }
  }

  // ---- One thread

  void compile_thread(uint32_t thread) {
    const model::ThreadUse& use = program_.uses[thread];
    worker_ = use.role == ThreadRole::worker;
    own_cpu_ = native_ || use.role == ThreadRole::joined;
    drafts_.clear();
    drafts_.push_back({program_.thread_fiber(thread), {}});
    finished_ = {};
    const model::EventRange range = trace_.thread_events(model::ThreadId(thread));
    if (range.size() == 0) return;
    OffCore off_core(trace_, thread, kernel_told_);
    off_core_ = &off_core;
    int64_t since_ns = trace_.time_ns[range.begin];
    bool runs = true;  // neither in a wait nor in a block nor idle
    wait_net_ns_.clear();
    for (TaskWalk walk(trace_, model::ThreadId(thread)); walk.next();) {
      const int64_t now_ns = walk.time_ns();
      if (runs) {
        add_time(off_core, since_ns, now_ns);
      } else if (!wait_net_ns_.empty()) {
        wait_net_ns_.back() += now_ns - since_ns;
      }
      since_ns = now_ns;
      translate(walk);
      runs = walk.stack().empty() || walk.in(FrameKind::task);
    }
    off_core_ = nullptr;
    note_end(program_.thread_fiber(thread), since_ns);
    flush_finished();
    Draft& own = drafts_.front();
    if (!worker_ || has_effect(own.ops)) {
      add_release(thread, range);
      own.ops.push_back({0, kNoEvent, OpCode::ret});
      store(own);
    }
  }

  void note_end(uint32_t fiber, int64_t end_ns) {
    if (!program_.background[fiber]) program_.end_ns = std::max(program_.end_ns, end_ns);
  }

  static bool has_effect(const std::vector<Op>& ops) {
    return std::any_of(ops.begin(), ops.end(),
                       [](const Op& op) { return op.code >= OpCode::spawn && op.code != OpCode::end; });
  }

  // A thread whose start is simulated needs no release.
  void add_release(uint32_t thread, model::EventRange range) {
    for (uint32_t i = range.begin; i < range.end && !worker_; ++i) {
      if (trace_.kind[i] != EventKind::task_start) continue;
      const TaskRow& run = task(trace_.a[i]);
      if (run.kind != TaskKind::thread) break;
      if (run.spawn.valid() && is_simulated(run.spawn)) return;
      break;
    }
    program_.releases.push_back({thread, trace_.time_ns[range.begin] - program_.begin_ns});
  }

  void add_time(OffCore& off_core, int64_t begin_ns, int64_t end_ns) {
    if (end_ns <= begin_ns) return;
    Draft& draft = drafts_.back();
    const bool own_run = drafts_.size() == 1 || is_thread_run(draft.fiber);
    if (own_run && worker_) return;
    if (own_run && !own_cpu_ && !kernel_told_)
      return add(draft, OpCode::pause, static_cast<uint64_t>(end_ns - begin_ns));
    off_core.split(
        begin_ns, end_ns,
        [&](int64_t from_ns, int64_t to_ns) {
          add(draft, OpCode::cpu, static_cast<uint64_t>(share_.cpu_ns(from_ns, to_ns)));
          note_stint(from_ns, to_ns, true);
        },
        [&](int64_t from_ns, int64_t to_ns) {
          add_foreign(draft, from_ns, to_ns);
          note_stint(from_ns, to_ns, false);
        },
        [&](int64_t from_ns, int64_t to_ns) { add(draft, OpCode::pause, static_cast<uint64_t>(to_ns - from_ns)); },
        [&](size_t stop) { draft.ops.push_back({stop, kNoEvent, OpCode::stop}); });
  }

  void note_stint(int64_t begin_ns, int64_t end_ns, bool has_core) {
    if (trace_.vm_stints.empty()) return;
    const bool goes_on = !stints_.empty() && stints_.back().end_ns == begin_ns && stints_.back().has_core == has_core;
    if (goes_on) {
      stints_.back().end_ns = end_ns;
    } else {
      stints_.push_back({begin_ns, end_ns, has_core});
    }
  }

  // Preempted: what its own threads had of the cores meanwhile, the simulation decides anew.
  void add_foreign(Draft& draft, int64_t begin_ns, int64_t end_ns) {
    const int64_t lost_ns = foreign_.lost_ns(begin_ns, end_ns);
    if (native_) return add(draft, OpCode::cpu, static_cast<uint64_t>(lost_ns));
    if (lost_ns == 0) return;
    draft.ops.push_back({foreign_value(lost_ns, foreign_.cores(begin_ns, end_ns)), kNoEvent, OpCode::foreign});
  }

  bool is_thread_run(uint32_t fiber) const {
    return fiber < trace_.tasks.size() && task(fiber).kind == TaskKind::thread;
  }

  static void add(Draft& draft, OpCode code, uint64_t value, uint32_t event = kNoEvent) {
    const bool timed = code == OpCode::cpu || code == OpCode::pause;
    if (timed && value == 0) return;
    if (timed && !draft.ops.empty() && draft.ops.back().code == code) {
      draft.ops.back().value += value;
      return;
    }
    draft.ops.push_back({value, event, code});
  }

  void emit(uint32_t event) {
    if (keep_emits_) add(current(), OpCode::emit, 0, event);
  }

  // Where an operation at this point belongs. What a worker does between two tasks is the tail of the first: the
  // library finishing what the task began.
  Draft& current() {
    const bool between = worker_ && (drafts_.size() == 1 || is_thread_run(drafts_.back().fiber));
    if (!between) return drafts_.back();
    return finished_.has_value ? finished_.draft : drafts_.front();
  }

  void translate(const TaskWalk& walk) {
    const uint32_t event = walk.event().value;
    const uint32_t a = walk.a();
    switch (walk.kind()) {
      case EventKind::task_start:
        return open_task(a, event);
      case EventKind::task_end:
        return close_task(a, event);
      case EventKind::task_create:
        return announce(a, event, true);
      case EventKind::task_depends:
        return announce(a, event, event == first_depends_[a] && !task(a).create.valid());
      case EventKind::task_spawn:
        return spawn(a, event);
      case EventKind::task_complete:
        if (program_.dynamic[a] && !task(a).start.valid()) return;
        if (!program_.counted.empty() && program_.counted[a]) return;
        return add(current(), OpCode::complete, a, event);
      case EventKind::wait_begin:
        wait_net_ns_.push_back(0);
        return;
      case EventKind::wait_end:
        return wait(walk, event);
      case EventKind::block_begin:
      case EventKind::lock_request:
      case EventKind::lock_request_shared:
      case EventKind::sync_wait:
        wait_net_ns_.push_back(0);
        return;
      case EventKind::block_end:
        return block(walk, event);
      case EventKind::wake:
        return wake(event);
      case EventKind::worker_idle:
      case EventKind::worker_busy:
      case EventKind::pool_size:
        return;
      case EventKind::thread_begin:
      case EventKind::thread_end:
        if (!worker_) emit(event);
        return;
      default:
        if (is_sync(walk.kind())) return synchronise(walk, event);
        return emit(event);
    }
  }

  void synchronise(const TaskWalk& walk, uint32_t event) {
    const int64_t net_ns = model::closes(walk.kind()) ? pop_wait_net_ns() : 0;
    begin_or_end_round(event);
    append_sync_ops(program_, event, net_ns, keep_emits_, current().ops);
  }

  void begin_or_end_round(uint32_t event) {
    const uint64_t round = program_.rounds.at(event);
    if (round != Rounds::kNone) current().ops.push_back({round, kNoEvent, OpCode::round});
  }

  int64_t pop_wait_net_ns() {
    if (wait_net_ns_.empty()) return 0;
    const int64_t net_ns = wait_net_ns_.back();
    wait_net_ns_.pop_back();
    return net_ns;
  }

  void open_task(uint32_t id, uint32_t event) {
    if (worker_ && task(id).kind == TaskKind::thread) {
      // Kept as a level of nesting only; pools make their workers by themselves.
      drafts_.push_back({id, {}});
      return;
    }
    if (program_.called[id]) add(current(), OpCode::call, id);
    const bool outermost = worker_ && (drafts_.size() == 1 || is_thread_run(drafts_.back().fiber));
    if (outermost) flush_finished();
    drafts_.push_back({id, {}});
    if (!spare_.empty()) {
      drafts_.back().ops.swap(spare_.back());
      spare_.pop_back();
    }
    add(drafts_.back(), OpCode::emit, 0, event);
  }

  void close_task(uint32_t id, uint32_t event) {
    CHECK(drafts_.back().fiber == id);
    Draft draft = std::move(drafts_.back());
    drafts_.pop_back();
    if (worker_ && task(id).kind == TaskKind::thread) return;
    note_end(id, trace_.time_ns[event]);
    add(draft, OpCode::end, id, event);
    const bool outermost = worker_ && (drafts_.size() == 1 || is_thread_run(drafts_.back().fiber));
    if (outermost) {
      flush_finished();
      finished_ = {true, std::move(draft)};
    } else {
      draft.ops.push_back({0, kNoEvent, OpCode::ret});
      store(draft);
    }
  }

  void flush_finished() {
    if (!finished_.has_value) return;
    finished_.draft.ops.push_back({0, kNoEvent, OpCode::ret});
    store(finished_.draft);
    finished_ = {};
  }

  void store(Draft& draft) {
    Fiber& fiber = program_.fibers[draft.fiber];
    fiber.begin = static_cast<uint32_t>(program_.ops.size());
    program_.ops.insert(program_.ops.end(), draft.ops.begin(), draft.ops.end());
    fiber.end = static_cast<uint32_t>(program_.ops.size());
    draft.ops.clear();
    spare_.push_back(std::move(draft.ops));
  }

  void announce(uint32_t id, uint32_t event, bool first) {
    if (first && program_.dynamic[id]) return add(current(), OpCode::register_, id, event);
    emit(event);
  }

  void spawn(uint32_t id, uint32_t event) {
    if (program_.dynamic[id]) return;
    const TaskRow& row = task(id);
    const bool runs = row.start.valid() && is_simulated(row.start);
    const bool workers_run = row.kind == TaskKind::thread && runs &&
                             program_.uses[trace_.thread_of(row.start).index()].role == ThreadRole::worker;
    const bool caller_runs = program_.called[id] && row.kind != TaskKind::thread;
    if (!runs || workers_run || caller_runs) return emit(event);
    add(current(), OpCode::spawn, id, event);
  }

  void wait(const TaskWalk& walk, uint32_t event) {
    const int64_t net_ns = pop_wait_net_ns();
    if (!walk.has_closed()) return;
    const Frame& wait = walk.closed();
    const TaskId awaited = wait.task.valid() ? wait.task : TaskId(walk.a());
    const auto outcome = static_cast<Outcome>(walk.b());
    const bool got = outcome == Outcome::normal || outcome == Outcome::exception;
    if (got && awaited.valid() && completion_ns(trace_, awaited) != INT64_MAX) {
      if (!wait.task.valid()) note_taking(awaited, walk, wait);
      add(current(), wait.task.valid() ? OpCode::wait : OpCode::take_next, awaited.value, wait.begin.value);
      add(current(), OpCode::wait_done,
          wait_latency_ns(time(wait.begin), completion_ns(trace_, awaited), walk.time_ns()), event);
      return;
    }
    if (net_ns > 0) ++program_.unknown_waits;
    emit(wait.begin.value);
    add(current(), OpCode::pause, static_cast<uint64_t>(net_ns));
    emit(event);
  }

  // One place, asked by one thread within one task, is taken to take from one queue.
  void note_taking(TaskId taken, const TaskWalk& walk, const Frame& wait) {
    if (program_.taken_in.empty()) program_.taken_in.assign(trace_.tasks.size(), UINT32_MAX);
    const uint32_t thread = trace_.thread_of(walk.event()).value;
    const auto [known, is_new] =
        takings_.try_emplace({thread, walk.task().value, trace_.b[wait.begin.index()]}, program_.takings);
    if (is_new) ++program_.takings;
    program_.taken_in[taken.index()] = known->second;
  }

  uint64_t wait_latency_ns(int64_t begin_ns, int64_t completed_ns, int64_t end_ns) const {
    if (native_ || completed_ns <= begin_ns || completed_ns > end_ns) return kTypicalLatency;
    const int64_t crowded_ns = crowding_.ns(completed_ns, end_ns), typical_ns = program_.latencies.wait_ns;
    return static_cast<uint64_t>(own_latency_ns(end_ns - completed_ns, crowded_ns, typical_ns));
  }

  void block(const TaskWalk& walk, uint32_t event) {
    const int64_t net_ns = pop_wait_net_ns();
    if (!walk.has_closed()) return;
    const uint32_t begin = walk.closed().begin.value;
    const uint32_t token = tokens_.of_event.empty() ? kNoEvent : tokens_.of_event[begin];
    // Between a worker's tasks it sleeps in its queue: the pool's business.
    if (worker_ && (drafts_.size() == 1 || is_thread_run(drafts_.back().fiber))) return;
    emit(begin);
    if (token != kNoEvent) {
      add(current(), OpCode::token_wait, token);
    } else if (native_ && kernel_told_ && off_core_->reached_ns() <= trace_.time_ns[begin]) {
      native_block(begin, event);
    } else {
      add(current(), OpCode::pause, static_cast<uint64_t>(net_ns));
    }
    emit(event);
    begin_or_end_round(event);
  }

  // A call into the system that may block uses its core, too, and may be preempted. Where the kernel's word is not
  // complete, it is taken to have been off its core. (One in which a signal's handler made another call is a pause.)
  void native_block(uint32_t begin, uint32_t end) {
    const int64_t begin_ns = trace_.time_ns[begin], end_ns = trace_.time_ns[end];
    const OpCode kept = told_of_all_ ? OpCode::cpu : OpCode::pause;
    int64_t longer_ns = program_.sync.longer_than_usual_ns(trace_.b[begin], end_ns - begin_ns);
    Draft& draft = current();
    off_core_->split(
        begin_ns, end_ns,
        [&](int64_t from_ns, int64_t to_ns) { add(draft, kept, static_cast<uint64_t>(to_ns - from_ns)); },
        [&](int64_t from_ns, int64_t to_ns) { add_foreign(draft, from_ns, to_ns); },
        [&](int64_t from_ns, int64_t to_ns) {
          const int64_t ns = program_.sync.off_core_ns(longer_ns, from_ns, to_ns);
          longer_ns -= to_ns - from_ns - ns;
          add(draft, OpCode::pause, static_cast<uint64_t>(ns));
        },
        [](size_t) {}  // a native program has no virtual machine
    );
  }

  void wake(uint32_t event) {
    const uint32_t token = tokens_.of_event.empty() ? kNoEvent : tokens_.of_event[event];
    if (token == kNoEvent) return emit(event);
    add(current(), OpCode::token_fire, token, event);
  }

  struct Finished {
    bool has_value = false;
    Draft draft{};
  };

  const model::Facts& facts_;
  const Trace& trace_;
  const bool keep_emits_;
  SimProgram program_;
  Tokens tokens_;
  std::vector<uint32_t> first_depends_;  // by task: its first task_depends event
  std::vector<TaskId> spawners_;         // by task: the task inside which it was spawned
  std::vector<TaskId> completers_;       // by task: the task inside which it was completed
  std::vector<std::vector<Op>> spare_;   // emptied vectors of finished drafts, to be used again
  CoreShare share_;
  Crowding crowding_;
  model::ForeignCores foreign_;  // of native traces
  OffCore* off_core_ = nullptr;  // of the thread that is compiled
  std::vector<ProgramStint> stints_;
  std::map<std::array<uint32_t, 3>, uint32_t> takings_;  // by thread, task and place
  bool told_of_all_ = false;                             // the kernel lost no switches
  int64_t trace_end_ns_ = 0;
  bool kernel_told_ = false;
  bool native_ = false;
  bool worker_ = false;
  bool own_cpu_ = false;              // the thread's own code is CPU, even if the kernel did not tell
  std::vector<Draft> drafts_;         // open fibers of the thread, innermost last; the first is its own run
  Finished finished_;                 // a worker's latest outermost task, its tail still open
  std::vector<int64_t> wait_net_ns_;  // open waits and blocks: time inside them but outside nested tasks
};

}  // namespace

SimProgram compile_program(const model::Facts& facts, bool keep_emits) {
  return Compiler(facts, keep_emits).run();
}

}  // namespace contrafact::whatif
