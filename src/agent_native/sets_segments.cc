// The segments of critical sections: what was accessed between two events of a thread that holds a lock.
#include "agent_native/set_gaps.h"
#include "agent_native/sets.h"
#include "agent_native/sets_state.h"

#include <algorithm>

namespace contrafact::agent_native {
namespace {

// After so many, the thread goes on natively until it holds no lock: about 20 ms of logging. Some programs hold one all
// the time.
constexpr uint64_t kSectionAccessesMax = 1 << 20;
static_assert(sizeof(translate::Access) == sizeof(format::AccessRange) &&
              offsetof(translate::Access, length_bytes) == offsetof(format::AccessRange, length_bytes));
static_assert(translate::kAccessRead == format::kAccessRead && translate::kAccessWrite == format::kAccessWrite &&
              translate::kAccessChanged == format::kAccessChanged &&
              translate::kAccessCommutative == format::kAccessCommutative &&
              translate::kAccessAtomic == format::kAccessAtomic &&
              translate::kAccessFetched == format::kAccessFetched && translate::kAccessBits == format::kAccessBits &&
              translate::kAccessSetsBits == format::kAccessSetsBits);

bool is_held(uint64_t lock_word) {
  const auto kind = static_cast<LockKind>(lock_word >> recorder::kLockKindShift);
  return kind == LockKind::mutex || kind == LockKind::rwlock || kind == LockKind::spinlock;
}

void emit(Client* client, SetsThread& thread, int64_t time_ns, SetGap gap,
          std::span<const translate::Access> accesses) {
  auto* ranges = reinterpret_cast<const format::AccessRange*>(accesses.data());
  recorder::append_accesses(client, thread.sent, time_ns, gap, {ranges, accesses.size()});
}

void emit_last(Client* client, SetsThread& thread, int64_t time_ns, SetGap gap,
               std::span<const translate::Access> accesses) {
  emit(client, thread, time_ns, gap, accesses);
  thread.counts->raise(gap);
}

// The gap of the segment that ends: complete only if the thread came here from translated code, and nothing on the way
// was missed.
SetGap gap_now(const SetsThread& thread, bool came_translated, bool overflown) {
  if (thread.tainted) return SetGap::signal;
  if (t_thread.left != Reason::none) return gap_of(t_thread.left);
  if (!came_translated) return SetGap::left;
  return overflown ? SetGap::overflow : SetGap::complete;
}

void take(SetsThread& thread, int64_t time_ns, uint64_t lock_word, uint64_t stack_pointer) {
  const bool is_first = !thread.held.holds_any();
  thread.held.take(lock_word);
  if (!is_first) return;
  translate::Translator& translator = *g_state->translator;
  thread.observing = g_state->window.is_open(time_ns) && time_ns >= thread.rests_until_ns;
  thread.observed_since_ns = time_ns;
  if (!thread.observing) thread.counts->raise_outside();
  if (thread.observing && !translator.is_attached())
    thread.observing = translator.attach(thread.stack_begin, thread.stack_end);
  thread.tainted = false;
  thread.held_by_allocator = 0;
  thread.accesses = 0;
  if (thread.observing) translator.begin_segment(stack_pointer);
  thread.segment_begin_ns = thread.segment_first_ns = time_ns;
}

// Emits the segment's parts but the last, up to `time_ns`, so that the reader sees when in a long segment each access
// came. No part ends before an event that the thread has written meanwhile: events stand in the order of their times.
void emit_parts(Client* client, SetsThread& thread, int64_t time_ns, uint64_t stack_pointer, int64_t part_ns_min) {
  translate::Translator& translator = *g_state->translator;
  const int64_t begin_ns = thread.segment_begin_ns;
  if (time_ns - begin_ns < 2 * part_ns_min) return;
  const uint64_t end = __rdtsc();
  const int64_t now_ns = g_clock.now_ns();
  if (end <= g_state->clock || now_ns <= begin_ns) return;
  const double ns_per_tick =
      static_cast<double>(now_ns - g_state->clock_ns) / static_cast<double>(end - g_state->clock);
  const auto ticks = [&](int64_t ns) { return static_cast<uint64_t>(static_cast<double>(ns) / ns_per_tick); };
  const uint64_t begin = end - ticks(now_ns - begin_ns);
  const int64_t earliest_ns = std::max(t_local.last_event_ns, begin_ns);
  for (size_t left = translator.cut_segment(begin, end, ticks(part_ns_min) + 1, begin + ticks(earliest_ns - begin_ns));
       left > 0; --left) {
    translate::Cut cut{};
    bool overflown = false;
    const auto accesses = translator.next_part(stack_pointer, &cut, &overflown);
    const auto part_ns = begin_ns + static_cast<int64_t>(static_cast<double>(cut.clock - begin) * ns_per_tick);
    thread.segment_begin_ns = std::clamp(part_ns, earliest_ns, std::max(earliest_ns, time_ns));
    emit(client, thread, thread.segment_begin_ns, overflown ? SetGap::overflow : SetGap::complete, accesses);
    Recorder::append_addressed(client, recorder::addressed_call(EventKind::accesses_cut), thread.segment_begin_ns,
                               static_cast<uint32_t>(cut.is_after), cut.call, cut.call >> 32);
  }
}

constexpr int64_t kPartNsMin = 2'000;  // an event and perhaps a set for each: below 3 %, in windows only

}  // namespace

// Called before the log is emptied, because it cannot be cut afterwards. A long segment empties its log often: its
// parts get longer as it does, and stay few.
void emit_parts_of_log(uint64_t stack_pointer) {
  constexpr int64_t kPartsOfSegment = 16;
  Client* client = recording();
  if (!client) return;
  const Appending appending{client};
  if (!appending) return;
  SetsThread* thread = t_sets;  // read inside: a child that a handler forks before that has another one, or none
  if (!thread || !thread->observing || thread->held_by_allocator > 0) return;
  if (gap_now(*thread, true, false) != SetGap::complete) return;
  const int64_t now_ns = g_clock.now_ns();
  emit_parts(client, *thread, now_ns, stack_pointer,
             std::max(kPartNsMin, (now_ns - thread->segment_first_ns) / kPartsOfSegment));
}

namespace {

void finish_segment(Client* client, SetsThread& thread, int64_t time_ns, bool came_translated, uint64_t stack_pointer,
                    bool is_last) {
  translate::Translator& translator = *g_state->translator;
  if (thread.held_by_allocator == 0 && gap_now(thread, came_translated, false) == SetGap::complete) {
    emit_parts(client, thread, time_ns, stack_pointer, kPartNsMin);
  }
  bool overflown = false;
  const auto accesses = translator.end_segment(stack_pointer, &overflown);
  const SetGap gap = thread.held_by_allocator > 0 ? SetGap::not_observed : gap_now(thread, came_translated, overflown);
  emit_last(client, thread, time_ns, gap, accesses);
  thread.tainted = false;
  if (is_last) return;
  thread.accesses += t_thread.thread->segment.accesses();
  if (thread.accesses > kSectionAccessesMax && t_thread.left != Reason::long_section)
    translator.note_gap(Reason::long_section);
  if (thread.accesses > kSectionAccessesMax || t_thread.left == Reason::long_section)
    thread.observing = false;  // until it holds no lock any more
  translator.begin_segment(stack_pointer);
  thread.segment_begin_ns = thread.segment_first_ns = time_ns;
}

}  // namespace

void sets_before_block(Client* client, int64_t time_ns) {
  SetsThread* thread = t_sets;
  if (!thread || !thread->call || !thread->observing || !thread->held.holds_any()) return;
  const Appending appending{client};
  if (!appending) return;
  const SetsCall& call = *thread->call;
  if (call.from_ != SetsCall::From::translated || thread->held_by_allocator > 0) return;
  if (gap_now(*thread, true, false) != SetGap::complete) return;
  emit_parts(client, *thread, time_ns, call.stack_pointer(), kPartNsMin);
  bool overflown = false;
  const auto accesses = g_state->translator->end_segment(call.stack_pointer(), &overflown);
  emit(client, *thread, time_ns, overflown ? SetGap::overflow : SetGap::complete, accesses);
  g_state->translator->continue_segment();
  thread->segment_begin_ns = time_ns;
}

void sets_before_event(Client* client, EventKind kind, int64_t time_ns, uint64_t lock_word, bool taken) {
  SetsThread* thread = t_sets;
  if (!thread || !thread->call) return;
  const Appending appending{client};
  if (!appending) return;
  SetsCall& call = *thread->call;
  const bool is_foreign = call.from_ == SetsCall::From::foreign, is_allocator = call.from_ == SetsCall::From::gate;
  if (thread->observing && thread->held.holds_any()) {
    if (is_foreign) {
      thread->tainted = true;
      emit_last(client, *thread, time_ns, SetGap::signal, {});
    } else {
      const bool is_last = kind == EventKind::lock_release && thread->held.holds_only(lock_word);
      finish_segment(client, *thread, time_ns, call.from_ != SetsCall::From::native, call.stack_pointer(), is_last);
    }
  }
  // What follows in the same call has no code of the program in front of it.
  if (call.from_ == SetsCall::From::native) call.from_ = SetsCall::From::translated;
  if (!is_held(lock_word)) return;
  if (kind == EventKind::lock_release) {
    thread->held.give_up(lock_word);
    if (is_allocator && thread->held_by_allocator > 0) --thread->held_by_allocator;
    if (thread->held.holds_any()) return;
    if (thread->log) g_state->translator->pause_segment();
    if (thread->observing) thread->rests_until_ns = g_state->window.rest_until_ns(thread->observed_since_ns, time_ns);
    thread->observing = false;
  } else if (taken) {
    if (is_foreign) {
      thread->held.take(lock_word);
    } else {
      take(*thread, time_ns, lock_word, call.stack_pointer());
    }
    if (is_allocator) ++thread->held_by_allocator;
  }
}

}  // namespace contrafact::agent_native
