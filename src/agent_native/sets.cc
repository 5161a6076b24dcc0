#include "agent_native/sets.h"

#include <dlfcn.h>

#include <cstdio>

#include "agent_native/agent.h"
#include "agent_native/allocator.h"
#include "agent_native/places.h"
#include "agent_native/set_gaps.h"
#include "agent_native/sets_state.h"
#include "agent_native/signal_handlers.h"
#include "recorder/texts.h"

namespace contrafact::agent_native {

constinit std::atomic<bool> g_sets{false};
constinit Sets* g_state = nullptr;
thread_local constinit SetsThread* t_sets __attribute__((tls_model("initial-exec"))) = nullptr;

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
  add_own_code(*g_state->translator);
  watch_allocator(*g_state->translator);
  wrap_signal_handlers(*g_state->translator);
  g_sets.store(true, std::memory_order_release);
  return {};
}

void end_sets() {
  if (g_state) g_state->translator->disable();
}

void forbid_kernel_calls_of_sets() {
  if (g_state) g_state->translator->forbid_kernel_calls();
}

bool allow_kernel_calls_of_sets() {
  return g_state && g_state->translator->allow_kernel_calls();
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

// Translated code that now runs ends at the next block that is not linked; the thread's pages stay until then.
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

base::Status begin_sets_in_child() {
  if (!g_state || g_goes_on_with_parents) return {};
  auto translator = translate::Translator::create_in_child(*g_state->translator);
  if (!translator) return translator.error();
  auto* child = new Sets;
  child->translator = std::move(*translator);
  child->translates = g_state->translates;
  child->window = g_state->window;
  child->all_accesses = g_state->all_accesses;
  g_state = child;
  note_allocator_at(*child->translator);
  wrap_signal_handlers(*child->translator);
  g_sets.store(true, std::memory_order_release);
  return {};
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

void prepare_to_attach_sets() {
  if (!sets_are_on() || g_state->translator->is_disabled()) return;
  const translate::KernelWork work(g_state->translator->kernel_calls());
  if (work.is_allowed()) find_own_stack();
}

void attach_sets(Client* client, bool from_its_beginning) {
  if (!sets_are_on() || t_sets) return;
  const translate::KernelWork work(g_state->translator->kernel_calls());
  if (!work.is_allowed()) return;
  auto* thread = new SetsThread;
  thread->counts = g_state->counts.take();
  thread->stack_begin = own_stack().begin;
  thread->stack_end = own_stack().end;
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
  const OwnSets own;
  if (!own || !own->log) return function;
  if (!own->log->is_wanted()) {
    own->log->missed(SetGap::outside_window);
    return function;
  }
  own->log->begin(g_clock.now_ns());
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
  const OwnSets own;
  if (own && own->log) g_state->translator->flush();
}

bool is_in_observed_section() {
  const OwnSets own;
  return own && own->observing && own->held.holds_any();
}

void sets_interrupted() {
  SetsThread* thread = t_sets;
  if (t_thread.mode == Mode::gate) t_thread.mode = Mode::gate_interrupted;
  if (!thread) return;
  if (thread->observing) thread->tainted = true;
  if (thread->log) thread->log->missed(SetGap::signal);
}

}  // namespace contrafact::agent_native
