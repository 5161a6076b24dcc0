#include "whatif/retime.h"

#include <algorithm>

#include "base/check.h"
#include "model/sync_wakes.h"
#include "whatif/section_locks.h"

namespace contrafact::whatif {

using format::LockKind;
using model::CriticalSection;
using model::EventKind;
using model::Outcome;
using model::TaskKind;
using Mode = SectionEdit::Mode;

namespace {

constexpr uint32_t kNone = UINT32_MAX;
constexpr int64_t kLongAgo = INT64_MIN / 2;

bool matters(EventKind kind) {
  switch (kind) {
    case EventKind::task_spawn:
    case EventKind::task_end:
    case EventKind::task_complete:
    case EventKind::wait_end:
      return true;
    default:
      return kind >= EventKind::lock_acquire && kind <= EventKind::sync_broadcast;
  }
}

}  // namespace

Retimer::Retimer(const SimProgram& program, std::span<const model::SyncWake> wakes) : program_(program) {
  const model::Trace& trace = *program.trace;
  base::Column<uint32_t> openers;  // by event: the one that began the wait which it ends
  openers.resize(trace.event_count());
  order_.reserve(trace.event_count());  // what is not used takes no memory
  counts_.assign(trace.threads.size(), false);
  int64_t end_ns = program.begin_ns;
  for (uint32_t t = 0; t < trace.threads.size(); ++t) {
    const model::EventRange range = trace.thread_events(model::ThreadId(t));
    if (range.size() == 0) continue;
    counts_[t] = program.is_simulated(t) && !program.background[program.thread_fiber(t)];
    if (counts_[t]) end_ns = std::max(end_ns, trace.time_ns[range.end - 1]);
    list_events(range, openers);
  }
  if (std::none_of(counts_.begin(), counts_.end(), [](bool counts) { return counts; })) {
    counts_.assign(counts_.size(), true);
    end_ns = trace.end_ns();
  }
  recorded_ns_ = end_ns - program.begin_ns;
  sort_events();
  thread_of_.reserve(order_.size());
  begin_of_.reserve(order_.size());
  for (const uint32_t event : order_) {
    thread_of_.push_back(trace.thread_of(model::EventIndex(event)).value);
    begin_of_.push_back(openers[event]);
  }
  const auto& sections = program.sync.sections;
  free_ns_.assign(sections.size(), kLongAgo);
  int64_t writers_ns = kLongAgo, all_ns = kLongAgo;
  for (uint32_t s = 0; s < sections.size(); ++s) {
    if (s == 0 || sections[s].lock != sections[s - 1].lock) writers_ns = all_ns = kLongAgo;
    free_ns_[s] = sections[s].shared ? writers_ns : all_ns;
    if (sections[s].outcome != Outcome::normal) continue;
    all_ns = std::max(all_ns, sections[s].release_ns);
    if (!sections[s].shared) writers_ns = std::max(writers_ns, sections[s].release_ns);
  }
  cause_of_.assign(sections.size(), kNone);
  for (const model::SyncWake& wake : wakes) cause_of_[wake.wait] = wake.cause.value;
}

// Lists the events of one thread.
void Retimer::list_events(model::EventRange range, base::Column<uint32_t>& openers) {
  const model::Trace& trace = *program_.trace;
  std::vector<uint32_t> open;
  for (uint32_t i = range.begin; i < range.end; ++i) {
    openers[i] = kNone;
    if (model::opens(trace.kind[i])) open.push_back(i);
    if (model::closes(trace.kind[i]) && !open.empty()) {
      openers[i] = open.back();
      open.pop_back();
    }
    if (matters(trace.kind[i]) || i + 1 == range.end) order_.push_back(i);
  }
}

void Retimer::sort_events() {
  const model::Trace& trace = *program_.trace;
  // At one instant, releases and other causes come before acquisitions and ends of waits.
  const auto rank = [&](uint32_t event) {
    return model::closes(trace.kind[event]) || trace.kind[event] == EventKind::lock_acquire ||
           trace.kind[event] == EventKind::lock_acquire_shared;
  };
  std::sort(order_.begin(), order_.end(), [&](uint32_t x, uint32_t y) {
    if (trace.time_ns[x] != trace.time_ns[y]) return trace.time_ns[x] < trace.time_ns[y];
    if (trace.thread_of(model::EventIndex(x)) == trace.thread_of(model::EventIndex(y))) return x < y;
    return rank(x) != rank(y) ? rank(x) < rank(y) : x < y;
  });
}

class RetimePass {
 public:
  RetimePass(const Retimer& retimer, std::span<const SectionEdit> edits)
      : retimer_(retimer),
        program_(retimer.program_),
        trace_(*program_.trace),
        sync_(program_.sync),
        edits_(edits),
        section_locks_(sync_.sections, edits) {
    CHECK(edits.empty() || edits.size() == sync_.sections.size());
    size_t locks = trace_.locks.size();
    for (uint32_t s = 0; s < edits.size(); ++s) {
      if (edits[s].mode == Mode::none || !is_simulated(sync_.sections[s])) continue;
      section_locks_.each(s, [&](uint32_t lock) { locks = std::max<size_t>(locks, size_t{lock} + 1); });
    }
    locks_.resize(locks);
    shift_ns_.assign(trace_.threads.size(), 0);
    completed_ns_.assign(trace_.tasks.size(), kLongAgo);
    arrived_ns_.assign(sync_.round_sizes.size(), kLongAgo);
    signalled_ns_.assign(trace_.event_count(), 0);
  }

  int64_t run() {
    int64_t end_ns = program_.begin_ns;
    for (uint32_t i = 0; i < retimer_.order_.size(); ++i) {
      const uint32_t thread = retimer_.thread_of_[i];
      const int64_t now_ns = move(retimer_.order_[i], thread, retimer_.begin_of_[i]);
      if (retimer_.counts_[thread]) end_ns = std::max(end_ns, now_ns);
    }
    return end_ns - program_.begin_ns;
  }

 private:
  struct Lock {
    int64_t writers_ns = kLongAgo;  // when the last exclusive section released it
    int64_t all_ns = kLongAgo;
  };

  SectionEdit edit(uint32_t section) const {
    return edits_.empty() ? unedited(sync_.sections[section]) : edits_[section];
  }
  bool is_simulated(const CriticalSection& section) const {
    return section.outcome == Outcome::normal && section.release.valid() &&
           model::is_held(trace_.locks[section.lock.index()].kind);
  }

  // The event's new time; sets how far the rest of the thread moves.
  int64_t move(uint32_t event, uint32_t thread, uint32_t begin) {
    int64_t& shift_ns = shift_ns_[thread];
    const int64_t old_ns = trace_.time_ns[event];
    const uint32_t section = sync_.section_at(event);
    switch (trace_.kind[event]) {
      case EventKind::task_spawn:
        spawn(event, shift_ns);
        break;
      case EventKind::task_complete:
      case EventKind::task_end: {
        int64_t& completed_ns = completed_ns_[trace_.a[event]];
        if (completed_ns == kLongAgo) completed_ns = old_ns + shift_ns;
        break;
      }
      case EventKind::wait_end:
        if (begin != kNone) join(event, begin, shift_ns);
        break;
      case EventKind::lock_acquire:
      case EventKind::lock_acquire_shared:
      case EventKind::lock_acquired:
      case EventKind::lock_acquired_shared:
        if (section != kNone && is_simulated(sync_.sections[section])) {
          enter(section, shift_ns);
        } else if (section != kNone) {
          wake(section, shift_ns);
        }
        break;
      case EventKind::lock_release:
        if (section != kNone) leave(section, old_ns + shift_ns);
        break;
      case EventKind::sync_woken:
        if (section != kNone) wake(section, shift_ns);
        break;
      case EventKind::sync_wait:
        arrive(event, old_ns + shift_ns);
        break;
      case EventKind::sync_signal:
      case EventKind::sync_broadcast:
        signalled_ns_[event] = old_ns + shift_ns;
        break;
      default:
        break;
    }
    return old_ns + shift_ns;
  }

  void spawn(uint32_t event, int64_t shift_ns) {
    const model::TaskRow& task = trace_.tasks[trace_.a[event]];
    if (task.kind != TaskKind::thread || !task.start.valid()) return;
    shift_ns_[trace_.thread_of(task.start).index()] = shift_ns;
  }

  // The new end of a wait from `begin` to `end`. Its cause was at `cause`, and is at `cause_new` now.
  static int64_t waited_ns(int64_t ready_new, int64_t begin, int64_t end, int64_t cause, int64_t cause_new) {
    const bool slept = cause > begin;
    const int64_t way_ns = std::max<int64_t>(0, end - std::max(begin, cause));
    if (cause_new > ready_new) return slept ? std::max(cause_new + way_ns, ready_new) : cause_new;
    return slept ? ready_new : ready_new + way_ns;
  }

  void join(uint32_t event, uint32_t begin, int64_t& shift_ns) {
    const uint32_t task = trace_.a[event] != kNone ? trace_.a[event] : trace_.a[begin];
    if (task == kNone || completed_ns_[task] == kLongAgo) return;
    const int64_t done_ns = completion_ns(trace_, model::TaskId(task));
    if (done_ns == INT64_MAX) return;
    const int64_t end_ns = trace_.time_ns[event];
    const int64_t begin_ns = trace_.time_ns[begin];
    shift_ns = waited_ns(begin_ns + shift_ns, begin_ns, end_ns, done_ns, completed_ns_[task]) - end_ns;
  }

  void wake(uint32_t section, int64_t& shift_ns) {
    const CriticalSection& wait = sync_.sections[section];
    int64_t cause_ns = 0, cause_new_ns = 0;
    if (const uint32_t round = sync_.round_of_section[section]; round != kNone) {
      // The thread that came last did not wait. It does not matter which thread comes last now.
      cause_new_ns = arrived_ns_[round];
      cause_ns = round_end_ns(section);
    } else if (const uint32_t cause = retimer_.cause_of_[section]; cause != kNone) {
      cause_ns = trace_.time_ns[cause];
      cause_new_ns = signalled_ns_[cause];
    } else {
      return;  // no known cause: the wait keeps its length
    }
    shift_ns = waited_ns(wait.request_ns + shift_ns, wait.request_ns, wait.acquire_ns, cause_ns, cause_new_ns) -
               wait.acquire_ns;
  }

  int64_t round_end_ns(uint32_t section) const {
    const uint32_t cause = retimer_.cause_of_[section];
    return cause == kNone ? sync_.sections[section].request_ns : trace_.time_ns[cause];
  }

  // The section of a barrier's wait is known only where the wait ends.
  void arrive(uint32_t event, int64_t now_ns) {
    const uint32_t end = closing_of(event);
    const uint32_t section = end == kNone ? kNone : sync_.section_at(end);
    if (section == kNone || sync_.round_of_section[section] == kNone) return;
    int64_t& arrived_ns = arrived_ns_[sync_.round_of_section[section]];
    arrived_ns = std::max(arrived_ns, now_ns);
  }
  uint32_t closing_of(uint32_t event) const {
    const model::LockId lock(trace_.a[event]);
    if (!lock.valid() || trace_.locks[lock.index()].kind != LockKind::barrier) return kNone;
    const bool closes_next = event + 1 < trace_.event_count() && trace_.kind[event + 1] == EventKind::sync_woken;
    return closes_next ? event + 1 : kNone;
  }

  void enter(uint32_t s, int64_t& shift_ns) {
    const CriticalSection& section = sync_.sections[s];
    const SectionEdit change = edit(s);
    const int64_t ready_ns = section.request_ns + shift_ns;
    if (change.mode == Mode::none) {
      shift_ns = ready_ns - section.acquire_ns;
      return;
    }
    const int64_t head_ns = std::clamp<int64_t>(change.head_outside_ns, 0, section.hold_ns());
    int64_t free_ns = kLongAgo;
    each_lock(s, [&](const Lock& lock) {
      free_ns = std::max(free_ns, change.mode == Mode::shared ? lock.writers_ns : lock.all_ns);
    });
    const int64_t old_free_ns = retimer_.free_ns_[s];
    const int64_t had_ns = waited_ns(ready_ns + head_ns, section.request_ns, section.acquire_ns, old_free_ns, free_ns);
    shift_ns = had_ns - section.acquire_ns - head_ns;
  }

  void leave(uint32_t s, int64_t now_ns) {
    const CriticalSection& section = sync_.sections[s];
    const SectionEdit change = edit(s);
    if (change.mode == Mode::none || !is_simulated(section)) return;
    const int64_t head_ns = std::clamp<int64_t>(change.head_outside_ns, 0, section.hold_ns());
    const int64_t tail_ns = std::clamp<int64_t>(change.tail_outside_ns, 0, section.hold_ns() - head_ns);
    each_lock(s, [&](Lock& lock) {
      lock.all_ns = std::max(lock.all_ns, now_ns - tail_ns);
      if (change.mode == Mode::exclusive) lock.writers_ns = std::max(lock.writers_ns, now_ns - tail_ns);
    });
  }

  template <typename Visit>
  void each_lock(uint32_t s, Visit visit) {
    if (edits_.empty()) return visit(locks_[sync_.sections[s].lock.index()]);
    section_locks_.each(s, [&](uint32_t lock) { visit(locks_[lock]); });
  }

  const Retimer& retimer_;
  const SimProgram& program_;
  const model::Trace& trace_;
  const SyncFacts& sync_;
  const std::span<const SectionEdit> edits_;
  const SectionLocks section_locks_;
  std::vector<Lock> locks_;
  std::vector<int64_t> shift_ns_;      // by thread
  std::vector<int64_t> completed_ns_;  // by task
  std::vector<int64_t> arrived_ns_;    // by round of a barrier: the latest so far
  std::vector<int64_t> signalled_ns_;  // by event
};

int64_t Retimer::duration_ns(std::span<const SectionEdit> edits) const {
  return RetimePass(*this, edits).run();
}

}  // namespace contrafact::whatif
