#include "translate/translator.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/clock.h"
#include "translate/accesses.h"
#include "translate/block_builder.h"
#include "translate/cuts.h"
#include "translate/processor.h"
#include "translate/raw_system_call.h"
#include "translate/signal_safe_lock.h"
#include "translate/slow_path.h"
#include "translate/system_calls.h"

namespace contrafact::translate {

namespace {

constexpr size_t kStubBytesMax = 256;
constexpr size_t kBuilderBytes = sizeof(BlockBuilder);
static_assert(kBuilderBytes < 16 << 10, "it lies on the private stack");

int32_t state_offset() {
  uint64_t base;
  __asm__("mov %%fs:0, %0" : "=r"(base));  // the thread's control block begins with its own address
  return static_cast<int32_t>(reinterpret_cast<uint64_t>(&t_thread) - base);
}

bool is_on_own_stack(const Thread& thread, uint64_t stack_pointer) {
  return stack_pointer > thread.stack_begin && stack_pointer <= thread.stack_end;
}

}  // namespace

base::Result<std::unique_ptr<Translator>> Translator::create(const Options& options) {
  auto created = create_empty(options);
  if (created.ok() && options.translates) (*created)->regions_.read_loaded();
  return created;
}

base::Result<std::unique_ptr<Translator>> Translator::create_empty(const Options& options) {
  if (!options.translates) {
    std::unique_ptr<Translator> out(new Translator);
    out->options_ = options;
    out->disable();
    return out;
  }
  if (auto loaded = load_decoder(); !loaded) return loaded.error();
  std::unique_ptr<Translator> out(new Translator);
  out->options_ = options;
  out->xsave_mask_ = xsave_mask();
  if (has_shadow_stack())
    return base::Error{"read and write sets are not possible with a shadow stack (GLIBC_TUNABLES)"};
  auto cache = CodeCache::create(options.cache_bytes);
  if (!cache) return cache.error();
  out->cache_ = std::move(*cache);
  out->state_offset_ = state_offset();
  out->process_ = static_cast<int>(raw_system_call(SYS_getpid));
  if (auto made = out->make_stubs(); !made) return made.error();
  out->lives_.create();
  return out;
}

base::Result<std::unique_ptr<Translator>> Translator::create_in_child(const Translator& parent) {
  auto created = create_empty(parent.options_);
  if (!created) return created;
  Translator& out = **created;
  out.regions_.take_over(parent.regions_);
  std::copy_n(parent.gates_, parent.gate_count_, out.gates_);
  out.gate_count_ = parent.gate_count_;
  return created;
}

Translator::~Translator() = default;

base::Status Translator::make_stubs() {
  if (!cache_->has_room(kStubBytesMax, 0, 0)) return base::Error{"the code cache is too small"};
  const LocalOffsets locals(state_offset_);
  const uint64_t begin = cache_->begin_code(CodeCache::kNoGuest);
  Emitter emit(cache_->writable() + cache_->used(), begin, kStubBytesMax);
  slow_stub_ = emit.here();
  emit.store_local(locals.slot(3), rax);
  emit.load_local(rax, locals.thread());
  emit.jump_through(emit.here() + 6);
  emit.u64(reinterpret_cast<uint64_t>(&contrafact_translate_slow));
  contrafact_translate_continue = emit.here();
  emit.jump_local(locals.jump());
  cache_->add_code(emit.size());
  cache_->set_default_lookup(begin);  // its key is no address
  default_lookup_ = begin;
  stub_end_ = cache_->used();
  return {};
}

void Translator::add_gate(uint64_t function, uint64_t stand_in) {
  for (size_t i = 0; i < gate_count_; ++i) {
    if (gates_[i].function == function) return;
  }
  if (function != 0 && gate_count_ < kGatesMax) gates_[gate_count_++] = {function, stand_in};
}

bool Translator::attach(uint64_t stack_begin, uint64_t stack_end) {
  const KernelWork work(kernel_calls_);
  if (!work.is_allowed()) return false;
  Thread* thread = map_thread();
  if (!thread) return false;
  thread->xsave_mask = xsave_mask_;
  thread->translator = this;
  thread->stack_begin = stack_begin;
  thread->stack_end = stack_end;
  thread->state = &t_thread;
  thread->log_end = thread->log_top;
  t_thread = {};
  t_thread.log = thread->log_top;
  t_thread.thread = thread;
  SignalSafeGuard guard(lock_);
  thread->next = threads_;
  if (threads_) threads_->previous = thread;
  threads_ = thread;
  return true;
}

void Translator::detach() {
  const KernelWork work(kernel_calls_);
  if (!work.is_allowed()) {
    t_thread.thread = nullptr;
    return;
  }
  if (Thread* thread = t_thread.thread) {
    SignalSafeGuard guard(lock_);
    if (thread->next) thread->next->previous = thread->previous;
    (thread->previous ? thread->previous->next : threads_) = thread->next;
  }
  detach_in_child();
}

// Where another thread may have held the lock.
void Translator::detach_in_child() {
  Thread* thread = t_thread.thread;
  t_thread.thread = nullptr;
  if (thread && !kernel_calls_.are_forbidden()) unmap_thread(thread);
}

void Translator::begin_segment(uint64_t stack_pointer) {
  t_thread.thread->blocks.begin();
  restart_segment(stack_pointer);
}

void Translator::restart_segment(uint64_t stack_pointer) {
  Thread& thread = *t_thread.thread;
  t_thread.log = thread.log_end = thread.log_top;
  t_thread.left = Reason::none;
  thread.segment_begin_sp = stack_pointer;
  t_thread.minus_frame = -stack_pointer;
  thread.segment.begin();
}

namespace {

void hide_own_stack(Thread& thread, uint64_t stack_pointer) {
  if (is_on_own_stack(thread, stack_pointer) && is_on_own_stack(thread, thread.segment_begin_sp)) {
    thread.segment.set_private(thread.stack_begin, std::min(stack_pointer, thread.segment_begin_sp));
  }
}

}  // namespace

size_t Translator::cut_segment(uint64_t begin, uint64_t end, uint64_t ticks_min, uint64_t earliest) {
  Thread& thread = *t_thread.thread;
  while (!find_cuts(thread, t_thread.log, begin, end, ticks_min, earliest)) ticks_min *= 2;
  return thread.cut_count;
}

std::span<const Access> Translator::next_part(uint64_t stack_pointer, Cut* cut, bool* overflown) {
  Thread& thread = *t_thread.thread;
  *cut = thread.cuts[--thread.cut_count];
  hide_own_stack(thread, stack_pointer);
  thread.segment.add_log(cut->log, thread.log_end);
  thread.log_end = cut->log;
  return named_ranges(thread, overflown);
}

std::span<const Access> Translator::end_segment(uint64_t stack_pointer, bool* overflown) {
  Thread& thread = *t_thread.thread;
  hide_own_stack(thread, stack_pointer);
  flush_log(thread);
  return named_ranges(thread, overflown);
}

std::span<const Access> Translator::named_ranges(Thread& thread, bool* overflown) {
  *overflown = thread.segment.overflown();
  const std::span<const Access> ranges = thread.segment.ranges();
  if (!lives_.any()) return ranges;
  const size_t count = thread.blocks.name(ranges, thread.named, Segment::kRangesMax, lives_);
  *overflown = *overflown || count > Segment::kRangesMax;
  return std::span(thread.named).first(std::min<size_t>(count, Segment::kRangesMax));
}

void Translator::note_allocated(const void* block, uint64_t bytes) {
  t_thread.thread->blocks.allocated(reinterpret_cast<uint64_t>(block), bytes, lives_);
}

void Translator::note_freed(const void* block, uint64_t bytes) {
  t_thread.thread->blocks.freed(reinterpret_cast<uint64_t>(block), bytes, lives_);
}

void Translator::stream_to(AccessSink* sink) {
  t_thread.thread->segment.stream_to(sink);
  pause_segment();
}

void Translator::flush() {
  flush_log(*t_thread.thread);
}

// Then no frame is one of the segment's: no distance has a highest byte of zero (BlockBuilder::log_point).
void Translator::pause_segment() {
  t_thread.thread->segment.pause();
  t_thread.minus_frame = uint64_t{1} << 56;
}

void Translator::note(const void* begin, uint64_t length_bytes, uint32_t flags) {
  flush_log(*t_thread.thread);
  t_thread.thread->segment.add(reinterpret_cast<uint64_t>(begin), length_bytes, flags);
}

void Translator::note_system_call(const long* call, long result) {
  flush_log(*t_thread.thread);
  if (system_call_kind(call) == SystemCallKind::unknown) note_gap(Reason::unknown_effect);
  add_system_call_accesses(call, result, t_thread.thread->segment);
  add_kernel_state(call, result, process_, open_files_, t_thread.thread->segment);
}

void Translator::note_kernel_state(const long* call, long result) {
  flush_log(*t_thread.thread);
  add_kernel_state(call, result, process_, open_files_, t_thread.thread->segment);
}

void Translator::note_moved(uint64_t block, uint64_t bytes, uint16_t life) {
  t_thread.thread->blocks.gone(block, bytes, life);
}

// Also before an access is added by hand: no cut may come between the log's accesses and that one.
void Translator::flush_log(Thread& thread) {
  const uint64_t log = t_thread.log, end = thread.log_end;
  t_thread.log = thread.log_end = thread.log_top;
  thread.segment.add_log(log, end);
}

uint64_t Translator::enter(uint64_t return_address) {
  t_thread.mode = Mode::in_cache;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (door_.wants_attention() && !may_enter()) [[unlikely]]
    return return_address;
  const uint64_t code =
      std::atomic_ref(const_cast<uint64_t&>(cache_->lookup_table()[return_address % CodeCache::kLookups]))
          .load(std::memory_order_acquire);
  uint64_t key;
  std::memcpy(&key, reinterpret_cast<const void*>(code - 8), sizeof key);
  if (key == return_address) return code;
  t_thread.target = return_address;
  t_thread.link = 0;
  t_thread.request = Request::dispatch;
  return slow_stub_;
}

bool Translator::may_enter() {
  t_thread.mode = Mode::native;
  if (door_.is_disabled()) {
    note_gap(Reason::disabled);
    return false;
  }
  if (const int64_t now_ns = base::monotonic_ns(); door_.is_time_to_look(now_ns)) try_clear(now_ns);
  t_thread.mode = Mode::in_cache;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (!door_.is_closed()) return true;
  t_thread.mode = Mode::native;
  note_gap(Reason::cache_full);
  return false;
}

void Translator::clear() {
  const KernelWork work(kernel_calls_);
  if (!work.is_allowed() || !is_usable()) return;
  SignalSafeGuard guard(lock_);
  door_.want_clear();
}

void Translator::try_clear(int64_t now_ns) {
  const KernelWork work(kernel_calls_);
  if (!work.is_allowed() || !is_usable()) return;
  SignalSafeGuard guard(lock_);
  if (!door_.try_close(now_ns, threads_, process_)) return;
  cache_->clear(stub_end_, default_lookup_);
  clears_.fetch_add(1, std::memory_order_relaxed);
  door_.open();
}

// The marks of threads lie on pages of ours, which stay while they are in the list.
bool Translator::any_thread_asks_kernel() {
  SignalSafeGuard guard(lock_);
  bool any = false;
  for (Thread* thread = threads_; thread; thread = thread->next) {
    std::atomic_ref(thread->may_not_ask).store(1);
    any = any || (thread != t_thread.thread && std::atomic_ref(thread->asks_kernel).load() != 0);
  }
  return any;
}

void Translator::forbid_kernel_calls() {
  disable();
  kernel_calls_.forbid();
  const int64_t until_ns = base::monotonic_ns() + kForbidMs * 1'000'000;
  for (;;) {
    const bool is_busy =
        kernel_calls_.is_busy();  // looked at first: a thread that was being attached is in the list then
    const bool is_asking = any_thread_asks_kernel();
    if ((!is_busy && !is_asking) || base::monotonic_ns() >= until_ns) return;
    const timespec nap{0, 100'000};
    raw_system_call(SYS_nanosleep, reinterpret_cast<long>(&nap), 0);
  }
}

// A thread that forbids them meanwhile waits, and sets the marks again.
bool Translator::allow_kernel_calls() {
  const KernelCalls::Busy busy(kernel_calls_);
  if (!kernel_calls_.is_forbidden_once()) {  // by another one: the guard takes system calls
    if (kernel_calls_.allow()) door_.enable();
    return false;
  }
  SignalSafeGuard guard(lock_);
  if (!kernel_calls_.allow()) return false;
  for (Thread* thread = threads_; thread; thread = thread->next) std::atomic_ref(thread->may_not_ask).store(0);
  door_.enable();
  return !kernel_calls_.are_forbidden();
}

void Translator::note_gap(Reason reason) {
  if (t_thread.left == Reason::none) t_thread.left = reason;
  if (AccessSink* sink = t_thread.thread ? t_thread.thread->segment.sink() : nullptr) sink->missed(reason);
  left_[static_cast<size_t>(reason)].fetch_add(1, std::memory_order_relaxed);
}

// The thread goes on natively at its target.
void Translator::leave(Reason reason) {
  note_gap(reason);
  t_thread.jump = t_thread.target;
  t_thread.mode = Mode::native;
  t_thread.is_outside = 1;
}

void Translator::serve(Thread& thread) {
  t_thread.mode = Mode::slow;
  thread.registers[rax] = t_thread.slot[3];
  switch (t_thread.request) {
    case Request::dispatch:
      return serve_dispatch();
    case Request::log_full:
      return serve_log_full(thread);
    case Request::before_instruction:
      return serve_instruction(thread);
    case Request::after_system_call:
      after_system_call(thread);
      t_thread.mode = Mode::in_cache;
      return;
    case Request::leave:
      return leave(Reason::unsupported);
  }
}

void Translator::serve_dispatch() {
  Reason reason = Reason::none;
  const uint64_t code = resolve(t_thread.target, reason);
  if (code == 0) return leave(reason);
  t_thread.jump = code;
  t_thread.mode = Mode::in_cache;
}

Reason Translator::full_segment(const Thread& thread) const {
  if (!thread.segment.gathers()) return Reason::none;
  if (thread.segment.accesses() > options_.segment_accesses_max) return Reason::long_section;
  return thread.segment.overflown() ? Reason::overflow : Reason::none;
}

// A log cannot be cut into parts once it is flushed.
void Translator::before_flush(const Thread& thread) {
  if (options_.before_flush && thread.segment.gathers()) options_.before_flush(thread.registers[rsp]);
}

void Translator::serve_log_full(Thread& thread) {
  before_flush(thread);
  flush_log(thread);
  if (const Reason full = full_segment(thread); full != Reason::none) {
    if (!thread.segment.sink()) return leave(full);
    if (t_thread.left == Reason::none) t_thread.left = full;
    pause_segment();
  }
  const AccessSink* sink = thread.segment.sink();
  if (sink && !thread.segment.gathers() && !sink->is_wanted()) return leave(Reason::not_wanted);
  t_thread.mode = Mode::in_cache;
}

void Translator::serve_instruction(Thread& thread) {
  before_flush(thread);
  flush_log(thread);
  Instruction instruction;
  if (!decode(t_thread.target, ZYDIS_MAX_INSTRUCTION_LENGTH, instruction)) return leave(Reason::unsupported);
  if (instruction.code.mnemonic == ZYDIS_MNEMONIC_SYSCALL) {
    if (!before_system_call(thread)) return leave(Reason::system_call);
  } else if (!add_hooked_accesses(instruction, thread)) {
    note_gap(Reason::gather);
  }
  t_thread.mode = Mode::in_cache;
}

bool Translator::before_system_call(Thread& thread) {
  thread.system_call[0] = static_cast<long>(thread.registers[rax]);
  constexpr Register kArguments[] = {rdi, rsi, rdx, r10, r8, r9};
  for (int i = 0; i < 6; ++i) thread.system_call[i + 1] = static_cast<long>(thread.registers[kArguments[i]]);
  const SystemCallKind kind = system_call_kind(thread.system_call);
  // A child made by vfork restricts itself alone.
  if (restricts_system_calls(thread.system_call) && raw_system_call(SYS_getpid) == process_) forbid_kernel_calls();
  if (kind == SystemCallKind::unknown) note_gap(Reason::unknown_effect);
  if (kind == SystemCallKind::leave) return false;
  thread.system_call_expected = expect(thread.system_call);
  return thread.system_call_runs = true;
}

void Translator::after_system_call(Thread& thread) {
  flush_log(thread);
  const auto result = static_cast<long>(thread.registers[rax]);
  thread.system_call_runs = false;
  add_system_call_accesses(thread.system_call, result, thread.segment);
  add_kernel_state(thread.system_call, result, process_, open_files_, thread.segment);
  MappingChange changes[kMappingChangesMax];
  change_mappings(thread.system_call, thread.system_call_expected,
                  {changes, mapping_changes(thread.system_call, result, changes)});
}

uint32_t Translator::expect(const long* call) {
  MappingChange changes[kMappingChangesMax];
  const size_t count = possible_mapping_changes(call, changes);
  if (count == 0) return 0;
  const KernelWork work(kernel_calls_);
  if (!work.is_allowed() || !is_usable()) return 0;
  SignalSafeGuard guard(lock_);
  uint32_t expected = 0;
  for (size_t i = 0; i < count; ++i) {
    const bool is_known =
        regions_.begin_pending(changes[i], [this](uint64_t begin, uint64_t end) { remove_code(begin, end); });
    if (is_known) expected |= 1u << i;
  }
  return expected;
}

void Translator::invalidate_by(const long* call, long result, uint32_t expected) {
  MappingChange changes[kMappingChangesMax];
  change_mappings(call, expected, {changes, mapping_changes(call, result, changes)});
  if (call[0] != SYS_mmap) return;  // most calls touch nothing that threads share
  const KernelWork work(kernel_calls_);
  if (!work.is_allowed() || !maps_file_code(call, result) || !is_usable()) return;
  SignalSafeGuard guard(lock_);
  regions_.add_file_code(static_cast<uint64_t>(result), static_cast<uint64_t>(result) + static_cast<uint64_t>(call[2]));
}

// If nothing was known before a call that only took memory away, what is known now came later, with other memory.
void Translator::change_mappings(const long* call, uint32_t expected, std::span<const MappingChange> made) {
  if (expected == 0 && (made.empty() || !maps_elsewhere(call))) return;
  const KernelWork work(kernel_calls_);
  if (!work.is_allowed() || !is_usable()) return;
  SignalSafeGuard guard(lock_);
  MappingChange possible[kMappingChangesMax];
  const size_t count = possible_mapping_changes(call, possible);
  for (size_t i = 0; i < count; ++i) {
    if ((expected >> i & 1) != 0) regions_.end_pending(possible[i]);
  }
  for (const MappingChange& change : made) {
    regions_.change(change, [this](uint64_t begin, uint64_t end) { remove_code(begin, end); });
  }
}

void Translator::remove_code(uint64_t begin, uint64_t end) {
  removed_.fetch_add(cache_->remove(begin, end), std::memory_order_relaxed);
}

// A child made by a bare clone has its parent's lock, in whatever state, and shares its code's memory. A child made by
// vfork shares all memory, so nothing is disabled here.
bool Translator::is_usable() const {
  return !door_.is_disabled() && raw_system_call(SYS_getpid) == process_;
}

uint64_t Translator::resolve(uint64_t guest, Reason& reason) {
  if (!is_usable()) {
    reason = Reason::disabled;
    return 0;
  }
  SignalSafeGuard guard(lock_);
  uint64_t code = cache_->find(guest);
  if (code == 0) code = translate(guest, reason);
  if (code == 0) return 0;
  cache_->set_lookup(guest, code);
  if (t_thread.link != 0) {
    const auto link = static_cast<uint32_t>(t_thread.link - 1);
    std::atomic_ref(cache_->links()[link]).store(code, std::memory_order_release);
  }
  return code;
}

uint64_t Translator::translate(uint64_t guest, Reason& reason) {
  if (!cache_->has_room(BlockBuilder::kCodeBytesMax, BlockBuilder::kMarksMax, BlockBuilder::kLinksMax)) {
    door_.want_clear();
    reason = Reason::cache_full;
    return 0;
  }
  BlockBuilder builder(*cache_, regions_, LocalOffsets(state_offset_), slow_stub_);
  for (size_t i = 0; i < gate_count_; ++i) {
    if (gates_[i].function == guest) return builder.call_and_return(guest, gates_[i].stand_in);
  }
  Region region = regions_.at(guest);
  if (!is_code(region.kind)) {  // as far as is known: a library may have come, where another one was before
    regions_.learn(guest, [this](uint64_t begin, uint64_t end) { remove_code(begin, end); });
    region = regions_.at(guest);
  }
  if (region.kind == CodeKind::native) return builder.call_out(guest);
  if (is_code(region.kind)) return builder.translate(guest, region);
  reason = Reason::generated_code;
  return 0;
}

// In a signal's handler on the thread that was in the cache: reads what only this thread writes, and published blocks.
bool Translator::fix_context(ucontext_t* context) {
  if (!cache_) return false;
  auto& registers = context->uc_mcontext.gregs;
  const auto pc = static_cast<uint64_t>(registers[REG_RIP]);
  const Block* block = cache_->find_block(pc);
  if (!block) {
    if (!fix_slow_path(pc, slow_stub_, registers)) return false;
    registers[REG_RIP] = static_cast<greg_t>(t_thread.target);
    go_on_natively();
    return true;
  }
  const Mark* mark = cache_->mark_at(*block, pc);
  if (!mark) return false;
  for (int slot = 0; slot < 4; ++slot) {
    const int reg = mark->spilled >> 4 * slot & 15;
    if (reg != rsp) registers[kContextOrder[reg]] = static_cast<greg_t>(t_thread.slot[slot]);
  }
  uint64_t guest = t_thread.target;
  if (mark->kind == Mark::at_offset) guest = block->guest + static_cast<uint64_t>(int64_t{mark->value});
  if (mark->kind == Mark::at_link)
    guest = cache_->link_info(block->first_link + static_cast<uint32_t>(mark->value)).guest;
  if (mark->kind == Mark::at_gate) {
    guest = block->guest;
    *reinterpret_cast<uint64_t*>(registers[REG_RSP]) = t_thread.gate_return;
  }
  if (mark->kind == Mark::after_gate) guest = t_thread.gate_return;
  registers[REG_RIP] = static_cast<greg_t>(guest);
  go_on_natively();
  return true;
}

// A system call that was interrupted before its effect was noted may have changed the program's code.
void Translator::go_on_natively() {
  Thread& thread = *t_thread.thread;
  std::atomic_ref(thread.asks_kernel).store(0);
  t_thread.mode = Mode::native;
  t_thread.is_outside = 1;
  note_gap(Reason::signal);
  if (!thread.system_call_runs) return;
  thread.system_call_runs = false;
  MappingChange changes[kMappingChangesMax];
  change_mappings(thread.system_call, thread.system_call_expected,
                  {changes, possible_mapping_changes(thread.system_call, changes)});
}

void Translator::begin_unload() {
  const KernelWork work(kernel_calls_);
  if (!work.is_allowed() || !is_usable()) return;
  SignalSafeGuard guard(lock_);
  regions_.begin_unload([this](uint64_t begin, uint64_t end) { remove_code(begin, end); });
}

void Translator::end_unload() {
  const KernelWork work(kernel_calls_);
  if (!work.is_allowed() || !is_usable()) return;
  SignalSafeGuard guard(lock_);
  regions_.end_unload([this](uint64_t begin, uint64_t end) { remove_code(begin, end); });
}

Statistics Translator::statistics() const {
  Statistics out;
  if (cache_) {
    out.blocks = cache_->block_count();
    out.code_bytes = cache_->used();
  }
  out.clears = clears_.load(std::memory_order_relaxed);
  out.removed_blocks = removed_.load(std::memory_order_relaxed);
  for (size_t i = 0; i < kReasons; ++i) out.left[i] = left_[i].load(std::memory_order_relaxed);
  return out;
}

}  // namespace contrafact::translate
