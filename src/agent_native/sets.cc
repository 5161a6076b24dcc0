#include "agent_native/sets.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <x86intrin.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "agent_native/access_log.h"
#include "agent_native/agent.h"
#include "agent_native/allocator.h"
#include "agent_native/held_locks.h"
#include "agent_native/recording.h"
#include "agent_native/set_counts.h"
#include "agent_native/set_gaps.h"
#include "agent_native/signal_handlers.h"
#include "contrafact/accesses.h"
#include "recorder/access_sets.h"
#include "recorder/texts.h"
#include "translate/translator.h"

namespace contrafact::agent_native {

constinit std::atomic<bool> g_sets{false};

using format::SetGap;
using translate::Mode;
using translate::Reason;
using translate::t_thread;

namespace {

// Then the thread goes on natively until it holds no lock: about 20 ms of logging. Some programs hold one all the time.
constexpr uint64_t kSectionAccessesMax = 1 << 20;
static_assert(sizeof(translate::Access) == sizeof(format::AccessRange) &&
              offsetof(translate::Access, length_bytes) == offsetof(format::AccessRange, length_bytes));
static_assert(translate::kAccessRead == format::kAccessRead && translate::kAccessWrite == format::kAccessWrite &&
              translate::kAccessChanged == format::kAccessChanged &&
              translate::kAccessCommutative == format::kAccessCommutative &&
              translate::kAccessAtomic == format::kAccessAtomic && translate::kAccessFetched == format::kAccessFetched);

struct Sets {
  std::unique_ptr<translate::Translator> translator;
  bool translates = true;  // else sets are what the program tells, and never complete
  TimeWindow window;
  SetCounts counts;
  bool all_accesses = false;
  AccessTotals accesses;
  const int64_t clock_ns = base::monotonic_ns();
  const uint64_t clock = __rdtsc();  // the processor's, then
};
constinit Sets* g_state = nullptr;

// The program tells of its accesses itself (contrafact/accesses.h), too.
std::atomic<bool> g_instrumented{false};
thread_local constinit bool t_noting __attribute__((tls_model("initial-exec"))) = false;

}  // namespace

// Of a thread; made when it is attached, where allocating is safe.
struct SetsThread {
  ThreadCounts* counts;
  HeldLocks held;
  uint32_t held_by_allocator = 0;  // of those: taken inside the allocator, which is not observed
  bool observing = false;
  uint64_t accesses = 0;  // since it took the first of the locks
  bool tainted = false;   // a handler came between
  uint64_t stack_begin = 0, stack_end = 0;
  int64_t segment_begin_ns = 0;  // or the end of the last part that was written
  int64_t segment_first_ns = 0;
  int64_t observed_since_ns = 0;  // while observing: since it took the first of the locks
  int64_t rests_until_ns = 0;     // what outlasted its window has used up the next ones
  SetsCall* call = nullptr;
  recorder::AccessSetCache sent;
  std::unique_ptr<AccessLog> log;  // null: only critical sections are of interest

  bool is_watched() const { return observing || log; }
};

namespace {

thread_local constinit SetsThread* t_sets __attribute__((tls_model("initial-exec"))) = nullptr;

bool is_held(uint64_t lock_word) {
  const auto kind = static_cast<LockKind>(lock_word >> recorder::kLockKindShift);
  return kind == LockKind::mutex || kind == LockKind::rwlock || kind == LockKind::spinlock;
}

int add_own_code(dl_phdr_info* info, size_t, void* argument) {
  const auto own = reinterpret_cast<uint64_t>(&add_own_code);
  uint64_t begin = UINT64_MAX, end = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    begin = std::min<uint64_t>(begin, info->dlpi_addr + segment.p_vaddr);
    end = std::max<uint64_t>(end, info->dlpi_addr + segment.p_vaddr + segment.p_memsz);
  }
  if (own < begin || own >= end) return 0;
  static_cast<translate::Translator*>(argument)->add_native(begin, end);
  return 1;
}

void find_own_stack(SetsThread& thread) {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  void* begin = nullptr;
  size_t bytes = 0;
  pthread_attr_getstack(&attributes, &begin, &bytes);
  pthread_attr_destroy(&attributes);
  thread.stack_begin = reinterpret_cast<uint64_t>(begin);
  thread.stack_end = thread.stack_begin + bytes;
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

void emit_parts_of_log(uint64_t stack_pointer);

}  // namespace

base::Status begin_sets(const Options& options) {
  auto created =
      translate::Translator::create({.translates = options.sets_translate, .before_flush = emit_parts_of_log});
  const bool tells_itself = dlsym(RTLD_DEFAULT, "__tsan_func_entry") != nullptr;
  if (!tells_itself && !options.sets_translate) {
    return base::Error{"no read and write sets: the program tells nothing of its accesses (docs/native.md)"};
  }
  if (!created && !tells_itself) return created.error();
  g_state = new Sets;
  g_state->translates = created.ok() && options.sets_translate;
  if (!created) created = translate::Translator::create({.translates = false});
  g_state->translator = std::move(*created);
  g_state->window = {options.sets_window_ns, options.sets_period_ns, g_state->clock_ns};
  g_state->all_accesses = options.accesses;
  dl_iterate_phdr(add_own_code, g_state->translator.get());
  watch_allocator(*g_state->translator);
  wrap_signal_handlers(*g_state->translator);
  g_sets.store(true, std::memory_order_release);
  return {};
}

void end_sets() {
  if (g_state) g_state->translator->disable();
}

void end_sets_before_restriction() {
  if (g_state) g_state->translator->forbid_kernel_calls();
}

bool sets_may_ask_kernel() {
  return sets_are_on() && !g_state->translator->kernel_calls().are_forbidden();
}

void note_restartable_area(const void* area) {
  if (!sets_are_on()) return;
  translate::add_restartable_area(static_cast<const char*>(area) -
                                  static_cast<const char*>(__builtin_thread_pointer()));
}

namespace {

constinit bool g_goes_on_with_parents = false;

bool is_on_the_way_to_cache() {
  return t_thread.mode != Mode::native && t_thread.mode != Mode::calling;
}

}  // namespace

// What is translated ends at the next block that is not linked; so the thread's pages stay until then.
void end_sets_in_child() {
  if (!sets_are_on()) return;
  end_sets();
  g_sets.store(false, std::memory_order_relaxed);
  t_sets = nullptr;  // its memory of what was sent is of the parent's recording
  t_thread.is_outside = 0;
  g_goes_on_with_parents = t_local.inside || is_on_the_way_to_cache();
  if (g_goes_on_with_parents) return;
  t_thread.mode = Mode::native;
  g_state->translator->detach_in_child();
}

void begin_sets_in_child() {
  if (!g_state || g_goes_on_with_parents) return;
  auto translator = translate::Translator::create_in_child(*g_state->translator);
  if (!translator) return say(translator.error().message);
  auto* child = new Sets;
  child->translator = std::move(*translator);
  child->translates = g_state->translates;
  child->window = g_state->window;
  child->all_accesses = g_state->all_accesses;
  g_state = child;
  note_allocator_at(*child->translator);
  wrap_signal_handlers(*child->translator);
  g_sets.store(true, std::memory_order_release);
}

void begin_unload_sets() {
  if (sets_are_on()) g_state->translator->begin_unload();
}

void end_unload_sets() {
  if (sets_are_on()) g_state->translator->end_unload();
}

uint32_t expect_sets_change(const long* call) {
  return sets_are_on() ? g_state->translator->expect(call) : 0;
}

void invalidate_sets_by(const long* call, long result, uint32_t expected) {
  if (sets_are_on()) g_state->translator->invalidate_by(call, result, expected);
}

void count_sets() {
  if (!sets_are_on() || !g_agent.live.load(std::memory_order_acquire)) return;
  const translate::Statistics statistics = g_state->translator->statistics();
  const SetCounts& counts = g_state->counts;
  recorder::SharedLog& log = *g_agent.shared->log;
  uint64_t incomplete = 0;
  for (size_t i = 0; i <= static_cast<size_t>(format::kSetGapLast); ++i) {
    const auto gap = static_cast<SetGap>(i);
    const uint64_t segments = counts.segments(gap);
    if (gap != SetGap::complete) incomplete += segments;
    if (gap == SetGap::complete || segments > 0) log.set_count("sets.segments.", name_of(gap), segments);
  }
  log.set_count("sets.segments.", "incomplete", incomplete);
  if (g_state->window.period_ns != 0) log.set_count("sets.", "sections.outside_window", counts.outside());
  if (g_state->all_accesses) {
    log.set_count("accesses.", "count", g_state->accesses.accesses.load(std::memory_order_relaxed));
    log.set_count("accesses.", "lost", g_state->accesses.lost.load(std::memory_order_relaxed));
  }
  log.set_count("sets.", "blocks", statistics.blocks);
  log.set_count("sets.", "code_bytes", statistics.code_bytes);
  if (statistics.clears > 0) log.set_count("sets.", "cache.cleared", statistics.clears);
  if (statistics.removed_blocks > 0) log.set_count("sets.", "blocks.removed", statistics.removed_blocks);
  for (size_t i = 1; i < translate::kReasons; ++i) {
    if (statistics.left[i] > 0) log.set_count("sets.left.", name_of(static_cast<Reason>(i)), statistics.left[i]);
  }
}

void tell_sets(Client* client) {
  if (!sets_are_on()) return;
  const bool compiler = g_instrumented.load(std::memory_order_relaxed);
  recorder::append_text(client, recorder::TextKind::fact, 0, "sets.source",
                        !g_state->translates ? "compiler"
                        : compiler           ? "translation and compiler"
                                             : "translation");
  if (const TimeWindow& window = g_state->window; window.period_ns != 0) {
    char text[64];
    std::snprintf(text, sizeof text, "%lld/%lld", static_cast<long long>(window.window_ns),
                  static_cast<long long>(window.period_ns));
    recorder::append_text(client, recorder::TextKind::fact, 0, "sets.windows_ns", text);
  }
}

void attach_sets(Client* client, bool from_its_beginning) {
  if (!sets_are_on() || t_sets) return;
  const translate::KernelWork work(g_state->translator->kernel_calls());
  if (!work.is_allowed()) return;
  auto* thread = new SetsThread;
  thread->counts = g_state->counts.take();
  if (!g_state->translator->is_disabled()) find_own_stack(*thread);  // asks the kernel
  if (g_state->all_accesses && g_state->translator->attach(thread->stack_begin, thread->stack_end)) {
    thread->log = std::make_unique<AccessLog>(client, g_state->window, g_state->accesses);
    thread->log->begin(g_clock.now_ns());
    if (!from_its_beginning) thread->log->missed(SetGap::not_observed);
    g_state->translator->stream_to(thread->log.get());
  }
  t_sets = thread;
}

void detach_sets() {
  SetsThread* thread = t_sets;
  if (!thread) return;
  flush_sets();
  t_sets = nullptr;
  t_thread.is_outside = 0;
  t_thread.mode = Mode::native;
  g_state->translator->detach();
  thread->counts->give_back();
  const translate::KernelWork work(g_state->translator->kernel_calls());
  if (work.is_allowed()) delete thread;  // an allocator may give pages back
}

uint64_t sets_enter(uint64_t function) {
  const SetsThread* thread = t_sets;
  if (!thread || !thread->log) return function;
  const Inside inside;
  if (!thread->log->is_wanted()) {
    thread->log->missed(SetGap::outside_window);
    return function;
  }
  thread->log->begin(g_clock.now_ns());
  const uint64_t code = g_state->translator->enter(function);
  t_thread.is_outside = t_thread.mode != Mode::in_cache;
  return code;
}

void sets_returned() {
  if (!t_sets || t_thread.mode != Mode::calling) return;
  flush_sets();
  t_thread.mode = Mode::native;
}

void flush_sets() {
  if (!t_sets || !t_sets->log) return;
  const Inside inside;
  g_state->translator->flush();
}

bool is_in_observed_section() {
  return t_sets && t_sets->observing && t_sets->held.holds_any();
}

void sets_interrupted() {
  SetsThread* thread = t_sets;
  if (t_thread.mode == Mode::gate) t_thread.mode = Mode::gate_interrupted;
  if (!thread) return;
  if (thread->observing) thread->tainted = true;
  if (thread->log) thread->log->missed(SetGap::signal);
}

// Before the library's function runs: what came until now, and how.
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

// What an allocator asks of the kernel is no more of the section than what it does to its own data.
bool SetsCall::notes_effects() const {
  const SetsThread* thread = t_sets;
  return thread && thread->is_watched() && from_ != From::foreign && from_ != From::gate;
}

void SetsCall::note(const long* call, long result) const {
  if (!notes_effects()) return g_state->translator->note_descriptors(call, result);
  if (from_ == From::translated) emit_parts_of_log(stack_pointer());
  const Inside inside;
  g_state->translator->note_system_call(call, result);
}

void SetsCall::note_kernel(const long* call, long result) const {
  if (!notes_effects()) return;
  if (from_ == From::translated) emit_parts_of_log(stack_pointer());
  const Inside inside;
  g_state->translator->note_kernel_state(call, result);
}

void SetsCall::note_unobserved() const {
  const SetsThread* thread = t_sets;
  if (thread && thread->is_watched() && from_ != From::foreign) g_state->translator->note_gap(Reason::called_natively);
}

void SetsCall::note_read(const void* begin, size_t bytes) const {
  const SetsThread* thread = t_sets;
  if (!thread || !thread->is_watched() || from_ == From::foreign) return;
  if (from_ == From::translated) emit_parts_of_log(stack_pointer());
  const Inside inside;
  g_state->translator->note(begin, bytes, translate::kAccessRead);
}

void SetsCall::note_written(const void* begin, size_t bytes) const {
  const SetsThread* thread = t_sets;
  if (!thread || !thread->is_watched() || from_ == From::foreign) return;
  if (from_ == From::translated) emit_parts_of_log(stack_pointer());
  const Inside inside;
  g_state->translator->note(begin, bytes, translate::kAccessWrite | translate::kAccessChanged);
}

namespace {

// What is said of the segment that ends: complete only if the thread came here from translated code, and nothing on the
// way was missed.
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

int begin_instrumented(ptrdiff_t* wanted_at) {
  if (!sets_are_on()) return 0;
  if (!g_instrumented.exchange(true, std::memory_order_relaxed)) {
    if (Client* client = recording()) {
      if (const Appending appending{client}) tell_sets(client);
    }
  }
  *wanted_at = reinterpret_cast<char*>(&t_thread.is_outside) - static_cast<char*>(__builtin_thread_pointer());
  return 1;
}

// The value after it is not known: every write counts as one that changes.
void note_access(const volatile void* begin, size_t bytes, uint32_t flags) {
  if (t_noting || !t_thread.thread || t_thread.mode != Mode::native) return;
  t_noting = true;
  const Inside inside;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if ((flags & translate::kAccessWrite) != 0) flags |= translate::kAccessChanged;
  g_state->translator->note(const_cast<const void*>(begin), bytes, flags);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  t_noting = false;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const contrafact_accesses contrafact_accesses_of_agent;
const contrafact_accesses contrafact_accesses_of_agent = {CONTRAFACT_ACCESSES_VERSION, begin_instrumented, note_access};
static_assert(CONTRAFACT_ACCESS_READ == translate::kAccessRead && CONTRAFACT_ACCESS_WRITE == translate::kAccessWrite);

namespace {

// Its parts but the last, up to `time_ns`, so that the reader sees when in a long segment what was accessed. None
// ends before an event that the thread has written meanwhile: events stand in the order of their times.
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
    uint64_t clock = 0;
    bool overflown = false;
    const auto accesses = translator.next_part(stack_pointer, &clock, &overflown);
    const auto part_ns = begin_ns + static_cast<int64_t>(static_cast<double>(clock - begin) * ns_per_tick);
    thread.segment_begin_ns = std::clamp(part_ns, earliest_ns, std::max(earliest_ns, time_ns));
    emit(client, thread, thread.segment_begin_ns, overflown ? SetGap::overflow : SetGap::complete, accesses);
  }
}

constexpr int64_t kPartNsMin = 2'000;  // an event and perhaps a set for each: below 3 %, in windows only

// Before the log is emptied, which cannot be cut afterwards. It may be one of many: parts are the longer, the longer
// the segment lasts, and so they are few.
void emit_parts_of_log(uint64_t stack_pointer) {
  constexpr int64_t kPartsOfSegment = 16;
  SetsThread* thread = t_sets;
  if (!thread || !thread->observing || thread->held_by_allocator > 0) return;
  if (gap_now(*thread, true, false) != SetGap::complete) return;
  Client* client = recording();
  if (!client) return;
  const Appending appending{client};
  if (!appending) return;
  const int64_t now_ns = g_clock.now_ns();
  emit_parts(client, *thread, now_ns, stack_pointer,
             std::max(kPartNsMin, (now_ns - thread->segment_first_ns) / kPartsOfSegment));
}

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
