#include "agent_native/sets.h"
#include "agent_native/sets_state.h"

namespace contrafact::agent_native {

// Before the library's function runs: logs what came until now, and where from.
void SetsCall::log_until_now(SetsThread& thread) const {
  if (!thread.log || from_ == From::foreign) return;
  g_state->translator->flush();
  if (from_ == From::native) thread.log->missed(SetGap::not_observed);
}

void SetsCall::begin(uint64_t* slot) {
  if (t_local.inside) return;  // the recorder's own call
  const Inside inside;
  SetsThread* thread = t_sets;
  if (!thread) return;
  slot_ = slot;
  outer_ = thread->call;
  thread->call = this;
  t_thread.is_outside = 0;  // what the recorder accesses itself is not the program's
  if (t_noting) {
    from_ = From::foreign;
    return;
  }
  const auto at = reinterpret_cast<uint64_t>(slot);
  switch (t_thread.mode) {
    case Mode::native:
      break;
    case Mode::calling:
      if (at == t_thread.resume_sp) {
        from_ = From::translated;
      } else if (at < t_thread.resume_sp) {
        from_ = From::foreign;
        return;
      }
      t_thread.mode = Mode::native;  // above: the function that was called has gone without returning
      break;
    case Mode::gate:
    case Mode::gate_interrupted:
      if (at > t_thread.gate_sp) {
        t_thread.mode = Mode::native;  // left by a handler that jumped
      } else {
        from_ = t_thread.mode == Mode::gate ? From::gate : From::foreign;
      }
      break;
    case Mode::in_cache:
    case Mode::slow:
      from_ = From::foreign;
      return;
  }
  log_until_now(*thread);
}

namespace {

bool wants_all(SetsThread& thread) {
  if (!thread.log) return false;
  if (thread.log->is_wanted()) return true;
  thread.log->missed(SetGap::outside_window);
  return false;
}

}  // namespace

void SetsCall::end() {
  const Inside inside;
  SetsThread* thread = t_sets;
  if (!thread) return;  // the thread ended in the call
  thread->call = outer_;
  if (from_ == From::gate) return;
  if (from_ == From::foreign) {
    thread->tainted = true;
    return;
  }
  const bool in_section = thread->observing && thread->held.holds_any();
  if (thread->log) thread->log->begin(g_clock.now_ns());
  if (t_thread.mode == Mode::calling) t_thread.mode = Mode::native;  // left by what the call ran for the program
  if (t_thread.mode != Mode::native) return;
  const bool all = wants_all(*thread);
  if (!in_section && !all) return;
  if (all || (t_thread.left != Reason::long_section && t_thread.left != Reason::overflow)) {
    volatile uint64_t* slot = slot_;
    *slot = g_state->translator->enter(*slot);
  }
  t_thread.is_outside = t_thread.mode != Mode::in_cache;
}

namespace {

bool is_watched(const OwnSets& own) {
  return own && own->is_watched();
}

}  // namespace

void SetsCall::emit_parts() const {
  if (from_ == From::translated) emit_parts_of_log(stack_pointer());
}

// An allocator's system calls are no more a part of the section than its accesses to its own data.
bool SetsCall::notes_effects() const {
  return from_ != From::foreign && from_ != From::gate;
}

void SetsCall::note(const long* call, long result) const {
  emit_parts();
  const OwnSets own;
  if (!notes_effects() || !is_watched(own)) return g_state->translator->note_descriptors(call, result);
  g_state->translator->note_system_call(call, result);
}

void SetsCall::note_kernel(const long* call, long result) const {
  emit_parts();
  const OwnSets own;
  if (notes_effects() && is_watched(own)) g_state->translator->note_kernel_state(call, result);
}

void SetsCall::note_unobserved() const {
  const OwnSets own;
  if (from_ != From::foreign && is_watched(own)) g_state->translator->note_gap(Reason::called_natively);
}

void SetsCall::note_range(const void* begin, size_t bytes, uint32_t flags) const {
  emit_parts();
  const OwnSets own;
  if (from_ != From::foreign && is_watched(own)) g_state->translator->note(begin, bytes, flags);
}

void SetsCall::note_read(const void* begin, size_t bytes) const {
  note_range(begin, bytes, translate::kAccessRead);
}

void SetsCall::note_written(const void* begin, size_t bytes) const {
  note_range(begin, bytes, translate::kAccessWrite | translate::kAccessChanged);
}

}  // namespace contrafact::agent_native
