#include "whatif/sim_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "base/check.h"
#include "model/foreign_cores.h"
#include "model/library_calls.h"
#include "model/task_walk.h"
#include "whatif/sim_crowding.h"
#include "whatif/sim_off_core.h"
#include "whatif/sim_own_values.h"
#include "whatif/sim_periods.h"
#include "whatif/sim_permits.h"
#include "whatif/sim_share.h"
#include "whatif/sim_sync_ops.h"
#include "whatif/sim_ties.h"
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
constexpr uint32_t kNoTask = UINT32_MAX;

// ---- The compiler

class Compiler {
 public:
  Compiler(const model::Facts& facts, bool keep_emits, const LeftOut& left_out, std::span<const uint32_t> marked)
      : facts_(facts), trace_(facts.trace()), keep_emits_(keep_emits), marked_(marked) {
    program_.left_out = left_out;
    program_.marks = static_cast<uint32_t>(marked.size());
  }

  SimProgram run() {
    program_.trace = &trace_;
    program_.uses = facts_.uses();
    program_.begin_ns = trace_.begin_ns();
    program_.end_ns = program_.begin_ns;
    kernel_told_ = std::any_of(trace_.cpu.begin(), trace_.cpu.end(), [](const auto& gaps) { return !gaps.empty(); });
    find_disturbed();
    program_.latencies = measure_latencies(trace_, facts_.uses(), (1 - disturbed_) / 2);
    if (disturbed_ > 0) {
      longest_ = measure_latencies(trace_, facts_.uses(), 1 - disturbed_);
      longest_start_pause_ns_ = start_pause_ns(trace_, 1 - disturbed_);
    }
    program_.fibers.resize(trace_.tasks.size() + trace_.threads.size());
    tokens_ = match_wakes(facts_);
    program_.tokens = tokens_.count;
    program_.token_group = std::move(tokens_.group);
    program_.token_groups = std::move(tokens_.groups);
    const uint32_t cores = model::recorded_cores(trace_);
    program_.conventions = SimConventions::of(facts_);
    program_.sync = gather_sync_facts(facts_, cores, tokens_.count);
    program_.tokens += static_cast<uint32_t>(program_.sync.fires.size());
    program_.rounds = find_rounds(trace_, facts_.uses(), program_.sync.sections, program_.sync.section_of_event);
    program_.notes = program_.rounds.notes;
    std::vector<RunningChange> running;
    if (!kernel_told_ && cores > 0) running = running_changes(trace_, facts_.uses(), assumed().all_threads_count);
    if (!assumed().latencies_of_all_threads) {
      crowding_ = kernel_told_ ? Crowding(trace_, facts_.uses(), cores) : Crowding(running, cores);
      program_.hand_overs = measure_hand_overs(trace_, facts_.uses(), program_.latencies, crowding_);
      if (disturbed_ > 0) bound_hand_overs();
      program_.token_ns = own_wake_latencies(tokens_, crowding_);
      if (!trace_.vm_stints.empty()) full_ = Crowding::with_vm(trace_, facts_.uses(), cores);
    }
    leave_out_recording();
    if (program_.left_out.cold_cores.any()) cold_starts_ = model::cold_starts(trace_);
    program_.costs = &facts_.hand_over_costs();
    program_.periodic_due_ns = periodic_due_ns(trace_);
    if (!kernel_told_) assume_shares(running, cores);
    told_of_all_ = kernel_told_ && trace_.fact("cpu.switches.lost").empty();
    const bool others = !program_.left_out.other_programs;
    if (others && (assumed().others_keep_their_cores || kernel_told_)) assume_foreign();
    first_depends_ = find_ties(program_);
    program_.permits = find_permits(trace_, facts_.uses());
    program_.ops.reserve(trace_.event_count() * 2);
    for (uint32_t i = 0; i < trace_.threads.size(); ++i) {
      if (is_simulated(i)) compile_thread(i);
    }
    if (kernel_told_) assume_vm_work();
    if (!trace_.vm_stints.empty()) keep_rare_waits();
    add_own_values(program_);
    return std::move(program_);
  }

 private:
  static constexpr double kShareTold = 0.01;
  // A fiber under construction.
  struct Draft {
    uint32_t fiber;
    std::vector<Op> ops;
    uint32_t last_spawn = kNoTask;
  };

  const SimConventions& assumed() const { return program_.conventions; }
  bool is_simulated(uint32_t thread) const { return program_.is_simulated(thread); }
  bool is_simulated(EventIndex event) const { return is_simulated(trace_.thread_of(event).value); }
  const TaskRow& task(uint64_t id) const { return trace_.tasks[id]; }
  int64_t time(EventIndex event) const { return trace_.time_ns[event.index()]; }

  void assume_shares(const std::vector<RunningChange>& running, uint32_t cores) {
    program_.notes.push_back(
        "the trace does not say when threads left their cores: running tasks count as CPU, in equal shares where more "
        "ran "
        "than there were cores");
    if (cores > 0) share_ = CoreShare(running, trace_.begin_ns(), cores);
  }

  // Between two tasks of a worker lie three events: the end of the first, and what says that the worker looked for the
  // next.
  void leave_out_recording() {
    const model::EventCosts& costs = program_.left_out.recording;
    const int64_t between_ns = costs.of(EventKind::task_end) + costs.of(EventKind::task_start) + costs.plain_ns();
    const auto less = [&](int64_t ns) { return std::max<int64_t>(0, ns - between_ns); };
    for (PoolLatency& pool : program_.latencies.pools) {
      pool.turnaround_ns = less(pool.turnaround_ns);
      // A wait's end, and the start of a task in it.
      const int64_t around_ns = costs.of(EventKind::wait_end) + costs.of(EventKind::task_start);
      pool.help_ns = std::max<int64_t>(0, pool.help_ns - around_ns);
    }
    for (HandOver& hand_over : program_.hand_overs) {
      if (hand_over.kind == HandOver::Kind::turnaround) hand_over.ns = less(hand_over.ns);
    }
  }

  // Of the cores' time in the run: what other programs had while this one's threads wanted it.
  double foreign_share() const {
    const auto all_ns =
        static_cast<double>(model::recorded_cores(trace_)) * static_cast<double>(trace_.end_ns() - trace_.begin_ns());
    return all_ns <= 0 ? 0 : static_cast<double>(facts_.foreign_cores().total_ns()) / all_ns;
  }

  // Where other programs are left out that had a share of the cores, as large a share of the hand-overs may have waited
  // for them: the longest ones. Without them, those take no longer than the longest of the others, and what is typical
  // is in the middle of the others.
  void find_disturbed() {
    if (!program_.left_out.other_programs || !kernel_told_) return;
    const double share = foreign_share();
    if (share >= kShareTold) disturbed_ = std::min(1.0, share);
  }

  void bound_hand_overs() {
    for (size_t i = 0; i < program_.hand_overs.size(); ++i) {
      HandOver& hand_over = program_.hand_overs[i];
      const model::PoolId pool = trace_.tasks[i].pool;
      const PoolLatency most =
          pool.valid() ? longest_.pools[pool.index()] : PoolLatency{.fresh_ns = longest_.thread_ns};
      hand_over.ns = std::min(hand_over.ns, hand_over.kind == HandOver::Kind::fresh  ? most.fresh_ns
                                            : hand_over.kind == HandOver::Kind::idle ? most.idle_ns
                                                                                     : most.turnaround_ns);
    }
  }

  void assume_foreign() {
    foreign_ = &facts_.foreign_cores();
    const double share = foreign_share();
    if (share < kShareTold) return;
    program_.notes.push_back(fmt::format(
        "{} had {:.0f} % of the cores while this one's threads wanted them: assumed to take the same time "
        "from the same threads at the same places of the program{}",
        assumed().others_keep_their_cores || !trace_.vm_stints.empty() ? "other programs"
                                                                       : "other programs, and the JVM's own threads,",
        100 * share,
        assumed().others_keep_their_cores ? ", however it is changed" : ", but where a change leaves a core for them"));
  }

  void assume_vm_work() {
    program_.vm_work = VmWork(trace_, stints_);
    // The compiler compiles the recorder's code as well, the more of it the more it runs: 0.6 s instead of 0.25.
    if (program_.left_out.any() && computed_ns_ > 0)
      program_.vm_work.keep(1 - static_cast<double>(left_out_ns_) / static_cast<double>(computed_ns_));
    const double all_ns =
        static_cast<double>(model::recorded_cores(trace_)) * static_cast<double>(trace_.end_ns() - trace_.begin_ns());
    const auto vm_ns = static_cast<double>(program_.vm_work.total_ns());
    if (vm_ns < kShareTold * all_ns) return;
    program_.notes.push_back(
        fmt::format("the JVM's own threads (compiler, collector) had {:.0f} % of the cores beside the program: assumed "
                    "to compute as much for the same computing of the program, however it is changed",
                    100 * vm_ns / all_ns));
  }

  // ---- One thread

  void compile_thread(uint32_t thread) {
    const model::ThreadUse& use = program_.uses[thread];
    worker_ = use.role == ThreadRole::worker;
    own_cpu_ = assumed().all_threads_count || use.role == ThreadRole::joined;
    drafts_.clear();
    drafts_.push_back({program_.thread_fiber(thread), {}});
    finished_ = {};
    const model::EventRange range = trace_.thread_events(model::ThreadId(thread));
    if (range.size() == 0) return;
    OffCore off_core(trace_, thread, kernel_told_);
    off_core_ = &off_core;
    cold_ = thread < cold_starts_.size() ? std::span<const model::ColdStart>(cold_starts_[thread])
                                         : std::span<const model::ColdStart>();
    cold_place_ = 0;
    refill_left_ns_ = 0;
    int64_t since_ns = trace_.time_ns[range.begin];
    bool runs = true;  // neither in a wait nor in a block nor idle
    wait_net_ns_.clear();
    owed_ns_ = owed_behind_ns_ = 0;
    for (TaskWalk walk(trace_, model::ThreadId(thread)); walk.next();) {
      const int64_t now_ns = walk.time_ns();
      owe(walk);
      if (runs) {
        around_ = handed_over_by(walk);
        started_ = started_before(walk);
        add_time(off_core, since_ns, now_ns);
      } else {
        owed_ns_ = std::max<int64_t>(0, owed_ns_ - (now_ns - since_ns));
        if (!wait_net_ns_.empty()) wait_net_ns_.back() += now_ns - since_ns;
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

  // What recording the event takes is left out of the time before it. What that time is too short for is left out of the
  // time behind it, for then the event's own time was read first. It is bounded: most of a cost that nowhere has room is
  // none.
  void owe(const TaskWalk& walk) {
    constexpr int64_t kMostNs = 1'000;
    const int64_t ns = program_.left_out.recording.of(walk.kind());
    // Where the trace says when handing out ended, the recorder looks at the stack behind the event's time.
    const bool behind =
        walk.kind() == EventKind::task_spawn && walk.a() != UINT32_MAX && program_.costs->handed[walk.a()];
    owed_ns_ = std::min(std::max(kMostNs, ns), owed_ns_ + owed_behind_ns_ + (behind ? 0 : ns));
    owed_behind_ns_ = behind ? ns : 0;
  }

  // The task whose hand-over, and nothing of the program's, takes the time before the event; kNoTask: there may be the
  // program's code. A worker that has run a task within another one goes on in the library, up to the next wait of
  // invokeAll. A task that was called rather than handed out is taken to go with the one that its caller handed out
  // last: invokeAll runs one of its tasks itself.
  uint32_t handed_over_by(const TaskWalk& walk) const {
    const uint32_t event = walk.event().value, a = walk.a();
    if (!program_.left_out.recording.any() || a == UINT32_MAX || drafts_.size() < 2) return kNoTask;
    if (event == trace_.thread_events(trace_.thread_of(walk.event())).begin) return kNoTask;
    const EventKind before = trace_.kind[event - 1];
    const uint32_t of_before = trace_.a[event - 1];
    switch (walk.kind()) {
      case EventKind::task_end:
        if (before != EventKind::task_complete || of_before != a) return kNoTask;
        return task(a).spawn.valid() ? a : drafts_[drafts_.size() - 2].last_spawn;
      case EventKind::task_start:
        return before == EventKind::task_spawn ? of_before : kNoTask;
      case EventKind::wait_begin:
        return before == EventKind::task_end ? a : kNoTask;
      default:
        return kNoTask;
    }
  }

  // The thread's run that the event before this one started; kNoTask if it was another event.
  uint32_t started_before(const TaskWalk& walk) const {
    const uint32_t event = walk.event().value;
    if (event == trace_.thread_events(trace_.thread_of(walk.event())).begin) return kNoTask;
    const uint32_t started = trace_.a[event - 1];
    const bool is_start = trace_.kind[event - 1] == EventKind::task_spawn && started != UINT32_MAX &&
                          task(started).kind == TaskKind::thread;
    return is_start ? started : kNoTask;
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
          int64_t cpu_ns = share_.cpu_ns(from_ns, to_ns, share_place_);
          const int64_t recording_ns = std::min(owed_ns_, cpu_ns);
          computed_ns_ += cpu_ns, left_out_ns_ += recording_ns;
          cpu_ns -= recording_ns, owed_ns_ -= recording_ns;
          if (around_ != kNoTask && cpu_ns > 0) {
            draft.ops.push_back({static_cast<uint64_t>(cpu_ns), around_, OpCode::around});
          } else {
            add_computing(draft, from_ns, cpu_ns);
          }
          note_stint(from_ns, to_ns, true);
        },
        [&](int64_t from_ns, int64_t to_ns) {
          add_foreign(draft, from_ns, to_ns);
          note_stint(from_ns, to_ns, false);
        },
        [&](int64_t from_ns, int64_t to_ns) { add_pause(draft, from_ns, to_ns, own_run); },
        [&](size_t stop) { draft.ops.push_back({stop, kNoEvent, OpCode::stop}); });
  }

  // A part of what was computed since the core was idle filled its caches again.
  void add_computing(Draft& draft, int64_t begin_ns, int64_t cpu_ns) {
    for (; cold_place_ < cold_.size() && cold_[cold_place_].time_ns <= begin_ns; ++cold_place_) {
      refill_left_ns_ = program_.left_out.cold_cores.full_ns();
      refill_share_ = program_.left_out.cold_cores.share(cold_[cold_place_].idle_ns);
      ++found_idle_;
    }
    const int64_t refill_ns = std::min(refill_left_ns_, refill_most_ns(cpu_ns, refill_share_));
    refill_left_ns_ -= refill_ns;
    if (program_.left_out.keeps_after_idle) {
      if (refill_ns > 0 && refill_share_ > 0)
        program_.after_idle.push_back({draft.fiber, found_idle_, refill_share_, cpu_ns});
      return add(draft, OpCode::cpu, static_cast<uint64_t>(cpu_ns));
    }
    cpu_ns -= static_cast<int64_t>(refill_share_ * static_cast<double>(refill_ns));
    add(draft, OpCode::cpu, static_cast<uint64_t>(cpu_ns));
    if (refill_ns > 0) draft.ops.push_back({static_cast<uint64_t>(refill_ns), kNoEvent, OpCode::refill});
  }

  // A task slept, and no event says for what. While all cores were in use, it may have waited for something that
  // another thread held within the virtual machine (keep_rare_waits).
  void add_pause(Draft& draft, int64_t begin_ns, int64_t end_ns, bool own_run) {
    if (started_ != kNoTask && program_.left_out.any()) {
      if (disturbed_ > 0) end_ns = std::min(end_ns, begin_ns + longest_start_pause_ns_);
      draft.ops.push_back({static_cast<uint64_t>(end_ns - begin_ns), started_, OpCode::start_pause});
      return;
    }
    const int64_t full_ns = own_run || trace_.vm_stints.empty() ? 0 : full_.ns(begin_ns, end_ns);
    add(draft, OpCode::vm_wait, static_cast<uint64_t>(full_ns));
    add(draft, OpCode::pause, static_cast<uint64_t>(end_ns - begin_ns - full_ns));
  }

  // A wait in hardly any run of a task's body is not the body's doing. Where it is more frequent, it is a pause like
  // any.
  void keep_rare_waits() {
    constexpr size_t kRunsMin = 100;
    std::map<uint32_t, std::array<size_t, 2>> runs;  // by body: all, and those with such a wait
    const auto ops_of = [&](uint32_t task) {
      const Fiber& fiber = program_.fibers[task];
      return std::span(program_.ops).subspan(fiber.begin, fiber.end - fiber.begin);
    };
    const auto waits = [](const Op& op) { return op.code == OpCode::vm_wait; };
    for (uint32_t i = 0; i < trace_.tasks.size(); ++i) {
      if (!program_.fibers[i].runs()) continue;
      std::array<size_t, 2>& of_body = runs[task(i).body.value];
      ++of_body[0];
      of_body[1] += std::ranges::any_of(ops_of(i), waits);
    }
    for (uint32_t i = 0; i < trace_.tasks.size(); ++i) {
      const auto& [all, waiting] = runs[task(i).body.value];
      if (all >= kRunsMin && waiting * 100 <= all) continue;
      for (Op& op : ops_of(i)) op.code = waits(op) ? OpCode::pause : op.code;
    }
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

  // Adds the part of a preemption that other programs caused. The simulation decides anew about the rest, in which the
  // program's own threads used the cores.
  void add_foreign(Draft& draft, int64_t begin_ns, int64_t end_ns) {
    const int64_t lost_ns = foreign_->lost_ns(begin_ns, end_ns);
    if (assumed().others_keep_their_cores) return add(draft, OpCode::cpu, static_cast<uint64_t>(lost_ns));
    if (lost_ns == 0) return;
    draft.ops.push_back({foreign_value(lost_ns, foreign_->cores(begin_ns, end_ns)), kNoEvent, OpCode::foreign});
  }

  bool is_thread_run(uint32_t fiber) const {
    return fiber < trace_.tasks.size() && task(fiber).kind == TaskKind::thread;
  }

  static void add(Draft& draft, OpCode code, uint64_t value, uint32_t event = kNoEvent) {
    const bool timed = code == OpCode::cpu || code == OpCode::pause || code == OpCode::vm_wait;
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

  bool is_between_tasks() const { return worker_ && (drafts_.size() == 1 || is_thread_run(drafts_.back().fiber)); }

  // The draft to which an operation at this point belongs. A worker's work between two tasks is the tail of the first:
  // the library finishes what the task began.
  Draft& current() {
    if (!is_between_tasks()) return drafts_.back();
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
      case EventKind::task_handed:
        return add(current(), OpCode::handed, 0, event);
      case EventKind::pool_close:
      case EventKind::pool_closed:
        if (a == UINT32_MAX) return;
        return add(current(), walk.kind() == EventKind::pool_close ? OpCode::closing : OpCode::closed, a, event);
      case EventKind::permit_take:
      case EventKind::permit_give:
        if (!deals_with_permits(event)) return emit(event);
        return add(current(), walk.kind() == EventKind::permit_take ? OpCode::permit_take : OpCode::permit_give,
                   permit_value(a, walk.b()), event);
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
        block(walk, event);
        mark(event);
        return;
      case EventKind::wake:
        return wake(event);
      case EventKind::send:
        mark(event);
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
        if (mark(event)) return;
        return emit(event);
    }
  }

  void synchronise(const TaskWalk& walk, uint32_t event) {
    const int64_t net_ns = model::closes(walk.kind()) ? pop_wait_net_ns() : 0;
    begin_or_end_round(event);
    const bool in_queue = assumed().queues_are_recorded && is_between_tasks();
    append_sync_ops(program_, event, net_ns, {.keep_emits = keep_emits_, .in_queue = in_queue}, current().ops);
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
    const bool outermost = is_between_tasks();
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
    const bool outermost = is_between_tasks();
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
    drafts_.back().last_spawn = id;
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

  // All results that one thread takes at one place within one task are assumed to come from one queue.
  void note_taking(TaskId taken, const TaskWalk& walk, const Frame& wait) {
    if (program_.taken_in.empty()) program_.taken_in.assign(trace_.tasks.size(), UINT32_MAX);
    const uint32_t thread = trace_.thread_of(walk.event()).value;
    const auto [known, is_new] =
        takings_.try_emplace({thread, walk.task().value, trace_.b[wait.begin.index()]}, program_.takings);
    if (is_new) ++program_.takings;
    program_.taken_in[taken.index()] = known->second;
  }

  uint64_t wait_latency_ns(int64_t begin_ns, int64_t completed_ns, int64_t end_ns) const {
    if (assumed().latencies_of_all_threads || completed_ns <= begin_ns || completed_ns > end_ns) return kTypicalLatency;
    const int64_t crowded_ns = crowding_.ns(completed_ns, end_ns), typical_ns = program_.latencies.wait_ns;
    const int64_t own_ns = own_latency_ns(end_ns - completed_ns, crowded_ns, typical_ns);
    return static_cast<uint64_t>(disturbed_ > 0 ? std::min(own_ns, longest_.wait_ns) : own_ns);
  }

  void block(const TaskWalk& walk, uint32_t event) {
    const int64_t net_ns = pop_wait_net_ns();
    if (!walk.has_closed()) return;
    const uint32_t begin = walk.closed().begin.value;
    const uint32_t token = tokens_.of_event.empty() ? kNoEvent : tokens_.of_event[begin];
    // Between its tasks a worker sleeps in its pool's queue: that is left to the simulated pool.
    if (is_between_tasks()) return;
    emit(begin);
    const bool managed =
        assumed().pools_of_the_jdk && model::is_managed_block(trace_, model::ContextId(trace_.b[begin]));
    if (managed) add(current(), OpCode::leave_pool, 0);
    if (was_for_permits(begin, event)) {
      // The operation that takes the permits says when the thread may go on.
    } else if (token != kNoEvent) {
      add(current(), OpCode::token_wait, token);
    } else if (assumed().blocks_may_compute && kernel_told_ && off_core_->reached_ns() <= trace_.time_ns[begin]) {
      computing_block(begin, event);
    } else {
      add(current(), OpCode::pause, static_cast<uint64_t>(net_ns));
    }
    if (managed) add(current(), OpCode::rejoin_pool, 0);
    emit(event);
    begin_or_end_round(event);
  }

  // A call into the system that may block uses its core, too, and may be preempted. If the kernel did not report all
  // switches, the call is taken to have been off its core. (A call in which a signal's handler made another call is a
  // pause.)
  void computing_block(uint32_t begin, uint32_t end) {
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
        [](size_t) {}  // such a program has no virtual machine
    );
  }

  bool deals_with_permits(uint32_t event) const {
    const uint32_t pool = trace_.a[event];
    return pool < program_.permits.size() && program_.permits[pool] != SimProgram::kPermitsUnknown;
  }

  // What may stand between a block for a permit and the taking: further blocks, and the look whether a connection that
  // was free is still good.
  static bool is_of_taking(EventKind kind) {
    return kind == EventKind::block_begin || kind == EventKind::block_end || kind == EventKind::wake ||
           kind == EventKind::receive || kind == EventKind::send;
  }

  // Whether the block was for permits that the thread got after it, perhaps after further blocks. (Of a native program, whose
  // threads do not park, all such blocks were put in for permits: request_run.h.)
  bool was_for_permits(uint32_t block_begin, uint32_t block_end) const {
    if (program_.permits.empty()) return false;
    const model::ContextId place(trace_.b[block_begin]);
    const bool is_park = static_cast<model::BlockReason>(trace_.a[block_begin]) == model::BlockReason::park;
    if (!is_park && !model::is_resource_call(trace_, place)) return false;
    const uint32_t end = trace_.thread_events(trace_.thread_of(EventIndex(block_end))).end;
    uint32_t next = block_end + 1;
    while (next < end && is_of_taking(trace_.kind[next])) ++next;
    return next < end && trace_.kind[next] == EventKind::permit_take && deals_with_permits(next) &&
           (model::is_native(trace_) || model::is_permit_call(trace_, place));
  }

  bool mark(uint32_t event) {
    const auto at = std::ranges::lower_bound(marked_, event);
    if (at == marked_.end() || *at != event) return false;
    add(current(), OpCode::mark, static_cast<uint64_t>(at - marked_.begin()));
    return true;
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
  const std::span<const uint32_t> marked_;  // sorted
  SimProgram program_;
  Tokens tokens_;
  std::vector<uint32_t> first_depends_;  // by task: its first task_depends event
  std::vector<std::vector<Op>> spare_;   // emptied vectors of finished drafts, to be used again
  CoreShare share_;
  CoreShare::Place share_place_ = 0;
  std::vector<std::vector<model::ColdStart>> cold_starts_;  // by thread; empty if they are not left out
  // Of the current thread:
  std::span<const model::ColdStart> cold_;
  size_t cold_place_ = 0;
  uint32_t found_idle_ = 0;     // times that a core was found idle
  int64_t refill_left_ns_ = 0;  // that computing since the last cold start may have taken
  double refill_share_ = 0;     // ... and the share of that which it took
  Crowding crowding_;
  Crowding full_;
  const model::ForeignCores none_;
  const model::ForeignCores* foreign_ = &none_;
  OffCore* off_core_ = nullptr;  // of the thread that is compiled
  std::vector<ProgramStint> stints_;
  std::map<std::array<uint32_t, 3>, uint32_t> takings_;  // by thread, task and place
  int64_t owed_ns_ = 0;                                  // for recording: still to be left out of the thread's time
  int64_t computed_ns_ = 0;                              // by the program's threads ...
  int64_t left_out_ns_ = 0;                              // ... and the part of it that recording took
  uint32_t around_ = kNoTask;                            // handed_over_by() the time that is added
  int64_t owed_behind_ns_ = 0;                           // the same, from the next event on
  bool told_of_all_ = false;                             // the kernel lost no switches
  bool kernel_told_ = false;
  double disturbed_ = 0;                // find_disturbed()
  Latencies longest_;                   // that hand-overs take without other programs, where these disturbed some
  int64_t longest_start_pause_ns_ = 0;  // the same, of a thread's being off its core for starting another
  uint32_t started_ = kNoTask;          // started_before() the time that is added
  bool worker_ = false;
  bool own_cpu_ = false;              // the thread's own code is CPU, even where the kernel did not report
  std::vector<Draft> drafts_;         // open fibers of the thread, innermost last; the first is its own run
  Finished finished_;                 // a worker's latest outermost task, its tail still open
  std::vector<int64_t> wait_net_ns_;  // open waits and blocks: time inside them but outside nested tasks
};

}  // namespace

SimProgram compile_program(const model::Facts& facts, bool keep_emits, const LeftOut& left_out,
                           std::span<const uint32_t> marked) {
  return Compiler(facts, keep_emits, left_out, marked).run();
}

}  // namespace contrafact::whatif
