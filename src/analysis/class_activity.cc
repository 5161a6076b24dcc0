#include "analysis/class_activity.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <queue>
#include <utility>

#include "model/library_calls.h"
#include "model/task_walk.h"

namespace contrafact::analysis {
namespace {

using model::EventKind;
using model::FrameKind;
using model::TaskId;
using model::TaskWalk;
using model::ThreadId;
using model::Trace;

// A longer lull is no hand-over: the spawner did something else. As in model/hand_over_costs.cc.
constexpr int64_t kLullMaxNs = 100'000;
// A tail of up to so many usual tasks: the last ones of a wave do not begin together.
constexpr double kUsualTail = 2;

// What has passed since the run began.
struct Totals {
  int64_t time_ns = 0;  // without pauses
  double used_ns = 0;
  double idle_ns = 0;
  uint64_t preemptions = 0, blocks = 0, pauses = 0;
  int64_t paused_ns = 0;
};

enum class Doing : uint8_t { nothing, working, blocked, waiting };

// The machine: how many cores are in use, and what has passed until now.
class Machine {
 public:
  Machine(int64_t begin_ns, int64_t end_ns, uint32_t cores, size_t bins)
      : begin_ns_(begin_ns),
        span_ns_(end_ns - begin_ns),
        now_ns_(begin_ns),
        cores_(cores),
        bins_(span_ns_ > 0 ? bins : 0) {}

  void advance(int64_t time_ns) {
    if (time_ns <= now_ns_) return;
    const int64_t passed_ns = time_ns - now_ns_;
    if (paused_ > 0) {
      totals_.paused_ns += passed_ns;
    } else {
      totals_.time_ns += passed_ns;
      const double used = std::min<double>(used_, cores_);
      totals_.used_ns += used * static_cast<double>(passed_ns);
      totals_.idle_ns += std::max(0, static_cast<int>(cores_) - used_ - ready_) * static_cast<double>(passed_ns);
    }
    if (!bins_.empty()) add_to_bins(now_ns_, time_ns);
    now_ns_ = time_ns;
  }

  void use(int more) { used_ += more; }
  void ready(int more) { ready_ += more; }
  void pause(bool begins) {
    paused_ += begins ? 1 : -1;
    totals_.pauses += begins;
  }
  // A thread left its core. Stops of the virtual machine do not count.
  void left(bool preempted) {
    if (paused_ > 0) return;
    ++(preempted ? totals_.preemptions : totals_.blocks);
    if (bins_.empty()) return;
    ActivityBin& bin = bins_[bin_of(now_ns_)];
    ++(preempted ? bin.preemptions : bin.blocks);
  }

  bool paused() const { return paused_ > 0; }
  int64_t now_ns() const { return now_ns_; }
  uint32_t cores() const { return cores_; }
  const Totals& totals() const { return totals_; }
  std::vector<ActivityBin> take_bins() { return std::move(bins_); }

  // Calls `add(bin, part_ns)` for the bins that [begin, end) meets.
  template <typename Add>
  void for_bins(int64_t begin_ns, int64_t end_ns, Add add) const {
    if (bins_.empty()) return;
    for (size_t bin = bin_of(begin_ns); bin < bins_.size(); ++bin) {
      const double from = std::max(static_cast<double>(begin_ns - begin_ns_), width() * static_cast<double>(bin));
      const double to = std::min(static_cast<double>(end_ns - begin_ns_), width() * static_cast<double>(bin + 1));
      if (to > from) add(bin, to - from);
      if (to >= static_cast<double>(end_ns - begin_ns_)) return;
    }
  }
  double width() const { return static_cast<double>(span_ns_) / static_cast<double>(bins_.size()); }

 private:
  size_t bin_of(int64_t time_ns) const {
    const double at = static_cast<double>(time_ns - begin_ns_) / width();
    return std::min(bins_.size() - 1, static_cast<size_t>(std::max(0.0, at)));
  }
  void add_to_bins(int64_t begin_ns, int64_t end_ns) {
    const double used = paused_ > 0 ? 0 : std::min<double>(used_, cores_);
    for_bins(begin_ns, end_ns, [&](size_t bin, double part_ns) {
      bins_[bin].used_ns += used * part_ns;
      if (paused_ > 0) bins_[bin].paused_ns += part_ns;
    });
  }

  int64_t begin_ns_, span_ns_, now_ns_;
  uint32_t cores_;
  int used_ = 0, ready_ = 0, paused_ = 0;
  Totals totals_;
  std::vector<ActivityBin> bins_;
};

// One class as time passes. Its figures are brought up to date when something of its own changes.
class ClassState {
 public:
  bool in_wave = false;
  int32_t queued = 0;                              // below 0: a start whose spawn has a later time
  uint32_t open = 0;                               // tasks between start and end
  uint32_t working = 0, blocked = 0, waiting = 0;  // threads

  void settle(const Machine& machine, ClassActivity& activity) {
    const Totals& now = machine.totals();
    const auto passed_ns = static_cast<double>(now.time_ns - last_time_ns_);
    activity.working_ns += passed_ns * working;
    activity.blocked_ns += passed_ns * blocked;
    activity.waiting_ns += passed_ns * waiting;
    if (in_wave) divide_idle(now.idle_ns - last_idle_ns_, machine.cores(), activity.idle);
    last_time_ns_ = now.time_ns;
    last_idle_ns_ = now.idle_ns;
  }

  // After a change. REQUIRES: settled.
  void changed(const Machine& machine, ClassActivity& activity) {
    if (!in_wave) return;
    if (unfinished() >= machine.cores()) {
      activity.idle.handed_out += std::exchange(pending_idle_ns_, 0);
      reached_ = true;
      tail_ns_ = -1;
    } else if (tail_ns_ < 0) {
      tail_ns_ = machine.totals().time_ns;
    }
    if (is_over() && !lull_) lull_ = {machine.totals(), machine.now_ns()};
  }

  // A task is handed out, or starts without. Returns the wave that is over, if another one begins.
  struct Span {
    int64_t begin_ns, end_ns;
  };
  std::optional<Span> another_task(const Machine& machine, uint32_t spawner, uint64_t waits, int64_t typical_ns,
                                   ClassActivity& activity) {
    std::optional<Span> over;
    settle(machine, activity);
    if (in_wave && lull_) {
      const int64_t lull_ns = machine.totals().time_ns - lull_->totals.time_ns;
      const int64_t until_ns = lull_->totals.time_ns - wave_.totals.time_ns;
      if (spawner == spawner_ && waits == waits_ && lull_ns <= std::max(kLullMaxNs, until_ns)) {
        activity.idle.handed_out += machine.totals().idle_ns - lull_->totals.idle_ns;
        lull_.reset();
      } else {
        over = finish(machine.cores(), typical_ns, activity);
      }
    }
    if (!in_wave) begin(machine);
    ++tasks_;
    spawner_ = spawner;
    waits_ = waits;
    return over;
  }

  // REQUIRES: in_wave, settled.
  Span finish(uint32_t cores, int64_t typical_ns, ClassActivity& activity) {
    const Moment end = *lull_;
    const Totals &from = wave_.totals, &to = end.totals;
    activity.active_ns += to.time_ns - from.time_ns;
    activity.used_ns += to.used_ns - from.used_ns;
    activity.preemptions += to.preemptions - from.preemptions;
    activity.blocks += to.blocks - from.blocks;
    activity.pauses += to.pauses - from.pauses;
    activity.paused_ns += to.paused_ns - from.paused_ns;
    ++activity.waves;
    if (tasks_ < cores) {
      ++activity.short_waves;
      activity.idle.few += pending_idle_ns_;
    } else if (!reached_) {
      activity.idle.handed_out += pending_idle_ns_;
    } else {
      const int64_t tail_ns = tail_ns_ < 0 ? 0 : to.time_ns - tail_ns_;
      const bool straggles = static_cast<double>(tail_ns) > kUsualTail * static_cast<double>(typical_ns);
      (straggles ? activity.idle.straggler : activity.idle.ragged) += pending_idle_ns_;
      activity.straggler_waves += straggles;
      activity.tail_longest_ns = std::max(activity.tail_longest_ns, tail_ns);
    }
    in_wave = false;
    lull_.reset();
    return {wave_.at_ns, end.at_ns};
  }

  bool is_over() const { return open == 0 && queued <= 0; }
  // At the end of the recording a wave may still be going on.
  void end_now(const Machine& machine) {
    if (!lull_) lull_ = {machine.totals(), machine.now_ns()};
  }

 private:
  struct Moment {
    Totals totals;
    int64_t at_ns = 0;
  };

  uint32_t unfinished() const { return static_cast<uint32_t>(std::max(0, queued)) + working + blocked; }

  void begin(const Machine& machine) {
    in_wave = true;
    wave_ = {machine.totals(), machine.now_ns()};
    tasks_ = 0;
    reached_ = false;
    tail_ns_ = -1;
    pending_idle_ns_ = 0;
  }

  void divide_idle(double idle_ns, uint32_t cores, IdleCores& idle) {
    if (idle_ns <= 0 || lull_) return;  // a lull is divided when it is over
    if (working + blocked == 0) {
      (queued > 0 ? idle.queued : idle.waits) += idle_ns;
      return;
    }
    const double lacking = cores > working ? cores - working : 0;
    const double by_blocked = working == 0 ? 1 : lacking == 0 ? 0 : std::min(1.0, blocked / lacking);
    idle.blocked += idle_ns * by_blocked;
    (queued > 0 || lacking == 0 ? idle.queued : pending_idle_ns_) += idle_ns * (1 - by_blocked);
  }

  Moment wave_;
  std::optional<Moment> lull_;  // nothing is pending since then
  uint64_t tasks_ = 0;          // of this wave
  uint32_t spawner_ = UINT32_MAX;
  uint64_t waits_ = 0;
  bool reached_ = false;        // as many unfinished tasks as cores
  int64_t tail_ns_ = -1;        // since when there have been fewer; -1: there are not
  double pending_idle_ns_ = 0;  // of what lacks tasks: why, the end of the wave shows
  int64_t last_time_ns_ = 0;
  double last_idle_ns_ = 0;
};

// One thread, at one of its events or switches.
struct Cursor {
  Cursor(const Trace& trace, ThreadId id, const std::vector<model::CpuGap>& cpu_gaps)
      : thread(id), walk(trace, id), range(trace.thread_events(id)), next(range.begin), gaps(cpu_gaps) {
    while (gap < gaps.size() && gaps[gap].in_ns <= trace.time_ns[next]) ++gap;
  }

  ThreadId thread;
  TaskWalk walk;
  model::EventRange range;
  uint32_t next;  // event
  const std::vector<model::CpuGap>& gaps;
  size_t gap = 0;
  bool off_core = false, off_blocked = false, on_core = false, ready = false;
  uint32_t of_class = kNoClass;
  Doing doing = Doing::nothing;
  uint64_t waits = 0;  // how often it has waited
};

class Sweep {
 public:
  Sweep(const Trace& trace, const ActivityInput& input)
      : trace_(trace),
        input_(input),
        by_kernel_(input.executions.core_known),
        machine_(trace.begin_ns(), trace.end_ns(), input.cores, input.bins),
        states_(input.typical_ns.size()),
        drawn_as_(input.drawn_classes.empty() ? 0 : input.typical_ns.size(), kNoClass) {
    result_.classes.resize(input.typical_ns.size());
    result_.drawn.assign(input.drawn_classes.size(), std::vector<float>(input.bins));
    for (uint32_t i = 0; i < input.drawn_classes.size(); ++i) drawn_as_[input.drawn_classes[i]] = i;
    for (const model::VmStint& stint : trace.vm_stints) vm_ends_.push_back(stint.end_ns);
    std::ranges::sort(vm_ends_);
  }

  Activity run() {
    std::vector<uint32_t> threads(trace_.threads.size());
    std::iota(threads.begin(), threads.end(), 0u);
    std::erase_if(threads, [&](uint32_t i) { return trace_.thread_ranges[i].size() == 0; });
    const auto begin_of = [&](uint32_t i) { return trace_.time_ns[trace_.thread_ranges[i].begin]; };
    std::ranges::stable_sort(threads, {}, begin_of);
    cursors_.resize(trace_.threads.size());
    size_t begun = 0;
    while (begun < threads.size() || !heap_.empty()) {
      while (begun < threads.size() && (heap_.empty() || begin_of(threads[begun]) <= heap_.top().first))
        start(threads[begun++]);
      const auto [time_ns, thread] = heap_.top();
      heap_.pop();
      const int64_t other_ns = std::min(heap_.empty() ? INT64_MAX : heap_.top().first,
                                        begun < threads.size() ? begin_of(threads[begun]) : INT64_MAX);
      play(thread, time_ns, other_ns);
    }
    finish();
    return std::move(result_);
  }

 private:
  void start(uint32_t thread) {
    static const std::vector<model::CpuGap> no_gaps;
    const auto& gaps = thread < trace_.cpu.size() ? trace_.cpu[thread] : no_gaps;
    cursors_[thread] = std::make_unique<Cursor>(trace_, ThreadId(thread), gaps);
    heap_.push({trace_.time_ns[cursors_[thread]->next], thread});
  }

  int64_t next_ns(const Cursor& cursor) const {
    const int64_t event_ns = trace_.time_ns[cursor.next];
    if (cursor.gap >= cursor.gaps.size()) return event_ns;
    const model::CpuGap& gap = cursor.gaps[cursor.gap];
    return std::min(event_ns, cursor.off_core ? gap.in_ns : gap.out_ns);
  }

  // Takes the thread's steps up to the next thread's.
  void play(uint32_t thread, int64_t time_ns, int64_t other_ns) {
    Cursor& cursor = *cursors_[thread];
    for (;;) {
      advance(std::max(time_ns, machine_.now_ns()));
      step(cursor, time_ns);
      if (cursor.next == cursor.range.end) {
        put(cursor, kNoClass, Doing::nothing);
        set_on_core(cursor, false);
        set_ready(cursor, false);
        cursors_[thread].reset();
        return;
      }
      time_ns = next_ns(cursor);
      if (time_ns > other_ns) break;
    }
    heap_.push({time_ns, thread});
  }

  // To that time, past the boundaries of pauses and of the virtual machine's stints.
  void advance(int64_t time_ns) {
    for (;;) {
      const auto at = [](const auto& values, size_t i, auto value) {
        return i < values.size() ? value(values[i]) : INT64_MAX;
      };
      const int64_t begins_ns = at(trace_.pauses, pause_begins_, [](const auto& pause) { return pause.begin_ns; });
      const int64_t ends_ns = pause_ends_ < pause_begins_ ? trace_.pauses[pause_ends_].end_ns : INT64_MAX;
      const int64_t vm_ns = at(trace_.vm_stints, vm_begins_, [](const auto& stint) { return stint.begin_ns; });
      const int64_t vm_end_ns = vm_ended_ < vm_begins_ ? vm_ends_[vm_ended_] : INT64_MAX;
      const int64_t first_ns = std::min({begins_ns, ends_ns, vm_ns, vm_end_ns});
      if (first_ns > time_ns) break;
      machine_.advance(first_ns);
      if (first_ns == ends_ns) {
        machine_.pause(false);
        ++pause_ends_;
      } else if (first_ns == begins_ns) {
        machine_.pause(true);
        ++pause_begins_;
      } else if (first_ns == vm_end_ns) {
        machine_.use(-1);
        ++vm_ended_;
      } else {
        machine_.use(1);
        ++vm_begins_;
      }
    }
    machine_.advance(time_ns);
  }

  void step(Cursor& cursor, int64_t time_ns) {
    if (trace_.time_ns[cursor.next] > time_ns) {
      const model::CpuGap& gap = cursor.gaps[cursor.gap];
      cursor.off_core = !cursor.off_core;
      cursor.off_blocked = cursor.off_core && !gap.preempted;
      if (!cursor.off_core)
        ++cursor.gap;
      else if (cursor.gap == 0 || cursor.gaps[cursor.gap - 1].in_ns != gap.out_ns)  // else a part of one absence
        machine_.left(gap.preempted);
    } else {
      ++cursor.next;
      cursor.walk.next();
      note_event(cursor);
    }
    place(cursor);
  }

  void note_event(Cursor& cursor) {
    const TaskWalk& walk = cursor.walk;
    switch (walk.kind()) {
      case EventKind::wait_begin:
        ++cursor.waits;
        break;
      case EventKind::block_begin:
        if (!is_for_lock(walk)) ++cursor.waits;
        break;
      case EventKind::sync_wait:
        ++cursor.waits;
        break;
      case EventKind::task_spawn:
        if (const uint32_t of_class = class_of(walk.a()); of_class != kNoClass && is_queued(walk.a())) {
          another_task(of_class, cursor);
          ++states_[of_class].queued;
          after(of_class);
        }
        break;
      case EventKind::task_start:
        if (const uint32_t of_class = class_of(walk.a()); of_class != kNoClass) {
          if (is_queued(walk.a())) {
            settle(of_class);
            --states_[of_class].queued;
          } else {
            another_task(of_class, cursor);
          }
          ++states_[of_class].open;
          touched_ = of_class;
        }
        break;
      case EventKind::task_complete:
      case EventKind::task_end:
        if (const uint32_t of_class = class_of(walk.a());
            of_class != kNoClass && states_[of_class].open > 0 && is_over_with(walk)) {
          settle(of_class);
          --states_[of_class].open;
          touched_ = of_class;
        }
        break;
      default:
        break;
    }
  }

  // What the thread does now.
  void place(Cursor& cursor) {
    const TaskWalk& walk = cursor.walk;
    const bool waits = walk.in(FrameKind::wait), blocks = walk.in(FrameKind::block), idles = walk.in(FrameKind::idle);
    uint32_t of_class = kNoClass;
    Doing doing = Doing::nothing;
    if (const TaskId task = walk.task(); task.valid()) {
      if (const TaskId owner = input_.executions.owner[task.index()]; owner.valid())
        of_class = input_.of_task[owner.index()];
    }
    const bool is_virtual = trace_.threads[cursor.thread.index()].kind == format::ThreadKind::virtual_thread;
    const bool by_events = !by_kernel_ || is_virtual;
    if (of_class != kNoClass) {
      doing = waits                                                   ? Doing::waiting
              : blocks || idles || (!by_events && cursor.off_blocked) ? Doing::blocked
                                                                      : Doing::working;
    }
    put(cursor, of_class, doing);
    // The cores that virtual threads run on are those of their carriers.
    const bool runs = by_events ? !waits && !blocks && !idles : !cursor.off_core;
    set_on_core(cursor, runs && !(is_virtual && by_kernel_));
    set_ready(cursor, !by_events && cursor.off_core && !cursor.off_blocked);
    if (touched_ != kNoClass) after(std::exchange(touched_, kNoClass));
  }

  void set_on_core(Cursor& cursor, bool on_core) {
    if (cursor.on_core == on_core) return;
    machine_.use(on_core ? 1 : -1);
    cursor.on_core = on_core;
  }

  void set_ready(Cursor& cursor, bool ready) {
    if (cursor.ready == ready) return;
    machine_.ready(ready ? 1 : -1);
    cursor.ready = ready;
  }

  void put(Cursor& cursor, uint32_t of_class, Doing doing) {
    if (cursor.of_class == of_class && cursor.doing == doing) return;
    const uint32_t before = cursor.of_class;
    count(before, cursor.doing, -1);
    cursor.of_class = of_class;
    cursor.doing = doing;
    count(of_class, doing, 1);
    if (before != of_class && before != kNoClass) after(before);
    if (of_class != kNoClass) after(of_class);
  }

  void count(uint32_t of_class, Doing doing, int more) {
    if (of_class == kNoClass) return;
    settle(of_class);
    ClassState& state = states_[of_class];
    uint32_t& threads = doing == Doing::working   ? state.working
                        : doing == Doing::blocked ? state.blocked
                                                  : state.waiting;
    threads += static_cast<uint32_t>(more);
  }

  uint32_t class_of(uint32_t task) const { return task == TaskId::kNone ? kNoClass : input_.of_task[task]; }
  // Who waits for a task goes on when it is complete, and may hand out the next wave before the task's end.
  bool is_over_with(const TaskWalk& walk) const {
    const model::TaskRow& row = trace_.tasks[walk.a()];
    const bool completes_itself =
        row.complete.valid() && row.complete.value > row.start.value && row.complete.value < row.end.value;
    return walk.event() == (completes_itself ? row.complete : row.end);
  }
  // Its spawn puts it into a queue. A task that waits for its time is nobody's loss until then.
  bool is_queued(uint32_t task) const {
    const model::TaskRow& row = trace_.tasks[task];
    return row.spawn.valid() && row.delay_us == 0;
  }

  bool is_for_lock(const TaskWalk& walk) {
    const auto reason = static_cast<model::BlockReason>(walk.a());
    if (reason == model::BlockReason::monitor) return true;
    if (reason != model::BlockReason::park && reason != model::BlockReason::futex) return false;
    const model::ContextId context(walk.b());
    if (!context.valid()) return false;
    if (for_lock_.empty()) for_lock_.resize(trace_.contexts.size(), -1);
    int8_t& known = for_lock_[context.index()];
    if (known < 0) known = model::is_lock_call(trace_, context) || model::is_queue_call(trace_, context);
    return known != 0;
  }

  void settle(uint32_t of_class) { states_[of_class].settle(machine_, result_.classes[of_class]); }
  void after(uint32_t of_class) { states_[of_class].changed(machine_, result_.classes[of_class]); }
  void another_task(uint32_t of_class, const Cursor& cursor) {
    const auto over = states_[of_class].another_task(machine_, cursor.thread.value, cursor.waits,
                                                     input_.typical_ns[of_class], result_.classes[of_class]);
    if (over) draw(of_class, *over);
  }

  void draw(uint32_t of_class, ClassState::Span span) {
    if (drawn_as_.empty() || drawn_as_[of_class] == kNoClass) return;
    std::vector<float>& shares = result_.drawn[drawn_as_[of_class]];
    machine_.for_bins(span.begin_ns, span.end_ns, [&](size_t bin, double part_ns) {
      shares[bin] = std::min(1.0F, shares[bin] + static_cast<float>(part_ns / machine_.width()));
    });
  }

  void finish() {
    for (uint32_t i = 0; i < states_.size(); ++i) {
      ClassState& state = states_[i];
      settle(i);
      if (!state.in_wave) continue;
      state.end_now(machine_);
      draw(i, state.finish(machine_.cores(), input_.typical_ns[i], result_.classes[i]));
    }
    const Totals& all = machine_.totals();
    result_.run = {all.time_ns, all.used_ns, all.preemptions, all.blocks, all.pauses, all.paused_ns};
    result_.bins = machine_.take_bins();
  }

  const Trace& trace_;
  const ActivityInput& input_;
  const bool by_kernel_;
  Machine machine_;
  Activity result_;
  std::vector<ClassState> states_;
  std::vector<uint32_t> drawn_as_;
  std::vector<std::unique_ptr<Cursor>> cursors_;  // by thread; those that live
  using Next = std::pair<int64_t, uint32_t>;
  std::priority_queue<Next, std::vector<Next>, std::greater<>> heap_;
  std::vector<int64_t> vm_ends_;
  size_t pause_begins_ = 0, pause_ends_ = 0, vm_begins_ = 0, vm_ended_ = 0;
  std::vector<int8_t> for_lock_;  // by context; -1: not looked at
  uint32_t touched_ = kNoClass;   // the class whose task began, or is over, with this event
};

}  // namespace

Activity class_activity(const model::Trace& trace, const ActivityInput& input) {
  return Sweep(trace, input).run();
}

}  // namespace contrafact::analysis
