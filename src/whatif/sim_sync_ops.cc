#include "whatif/sim_sync_ops.h"

namespace contrafact::whatif {
namespace {

using format::LockKind;
using model::CriticalSection;
using model::EventKind;
using model::Outcome;
using model::Trace;

constexpr uint32_t kNoEvent = UINT32_MAX;

class Appender {
 public:
  Appender(const SimProgram& program, uint32_t event, SyncOptions options, std::vector<Op>& ops)
      : program_(program), trace_(*program.trace), event_(event), options_(options), ops_(ops) {}

  void emit(uint32_t event) {
    if (options_.keep_emits) ops_.push_back({0, event, OpCode::emit});
  }

  // The lock was acquired here, after a wait or at once.
  void acquired(int64_t net_ns) {
    const uint32_t at = program_.sync.section_at(event_);
    if (at == SyncFacts::kNone) return emit(event_);  // a recursive lock's inner acquisition
    const CriticalSection& section = program_.sync.sections[at];
    if (section.outcome != Outcome::normal) return waited_in_vain(section, net_ns);
    const LockKind kind = trace_.locks[section.lock.index()].kind;
    if (kind == LockKind::semaphore && options_.in_queue && net_ns > 0) return emit(event_);
    if (kind == LockKind::semaphore) return add(OpCode::sem_take, lock_value(at, section.lock.value, false));
    if (program_.sync.credits.condition_of[at] != Credits::kNone && !options_.in_queue) come(at);
    if (!model::is_held(kind) || !section.release.valid()) return emit(event_);  // never released: not simulated
    add(OpCode::take, lock_value(at, section.lock.value, section.shared));
  }

  void released() {
    const uint32_t at = program_.sync.section_at(event_);
    if (at == SyncFacts::kNone) return emit(event_);
    const CriticalSection& section = program_.sync.sections[at];
    const bool held = section.outcome == Outcome::normal && model::is_held(trace_.locks[section.lock.index()].kind);
    if (!held) return emit(event_);
    add(OpCode::give, lock_value(at, section.lock.value, section.shared));
  }

  void woken(int64_t net_ns) {
    const uint32_t at = program_.sync.section_at(event_);
    if (at == SyncFacts::kNone) return emit(event_);
    const CriticalSection& section = program_.sync.sections[at];
    if (section.request.valid()) emit(section.request.value);
    if (options_.in_queue) return emit(event_);
    if (program_.sync.credits.condition_of[at] != Credits::kNone) {
      come(at);
    } else if (program_.sync.token_of_section[at] != SyncFacts::kNone) {
      ops_.push_back({program_.sync.token_of_section[at], kNoEvent, OpCode::token_wait});
    } else if (program_.sync.round_of_section[at] != SyncFacts::kNone) {
      ops_.push_back({program_.sync.round_of_section[at], kNoEvent, OpCode::barrier});
    } else if (net_ns > 0) {
      ops_.push_back({static_cast<uint64_t>(net_ns), kNoEvent, OpCode::pause});
    }
    emit(event_);
  }

  void signalled() {
    const model::LockId lock(trace_.a[event_]);
    if (lock.valid() && trace_.locks[lock.index()].kind == LockKind::semaphore)
      return add(OpCode::sem_post, lock_value(0, lock.value, false));
    emit(event_);
    if (lock.valid() && counts_signals(trace_.locks[lock.index()].kind))
      ops_.push_back({lock.value, kNoEvent, OpCode::credit_fire});
    for (const TokenFire& fire : program_.sync.fires_at(event_))
      ops_.push_back({fire.token, kNoEvent, OpCode::token_fire});
  }

 private:
  void come(uint32_t section) {
    const Credits& credits = program_.sync.credits;
    ops_.push_back(
        {credit_value(credits.condition_of[section], credits.need_of[section]), kNoEvent, OpCode::credit_wait});
  }

  void add(OpCode code, uint64_t value) { ops_.push_back({value, event_, code}); }

  void waited_in_vain(const CriticalSection& section, int64_t net_ns) {
    if (section.request.valid()) emit(section.request.value);
    if (net_ns > 0) ops_.push_back({static_cast<uint64_t>(net_ns), kNoEvent, OpCode::pause});
    emit(event_);
  }

  const SimProgram& program_;
  const Trace& trace_;
  const uint32_t event_;
  const SyncOptions options_;
  std::vector<Op>& ops_;
};

}  // namespace

void append_sync_ops(const SimProgram& program, uint32_t event, int64_t net_ns, SyncOptions options,
                     std::vector<Op>& ops) {
  Appender appender(program, event, options, ops);
  switch (program.trace->kind[event]) {
    case EventKind::lock_acquire:
    case EventKind::lock_acquire_shared:
      return appender.acquired(0);
    case EventKind::lock_acquired:
    case EventKind::lock_acquired_shared:
      return appender.acquired(net_ns);
    case EventKind::lock_release:
      return appender.released();
    case EventKind::sync_woken:
      return appender.woken(net_ns);
    case EventKind::sync_signal:
    case EventKind::sync_broadcast:
      return appender.signalled();
    case EventKind::lock_busy:
      return appender.emit(event);
    default:
      return;  // requests: written with what ends them
  }
}

}  // namespace contrafact::whatif
