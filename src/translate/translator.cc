#include "translate/translator.h"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "base/clock.h"
#include "translate/accesses.h"
#include "translate/block_builder.h"
#include "translate/log.h"
#include "translate/raw_system_call.h"
#include "translate/system_calls.h"

namespace contrafact::translate {

thread_local constinit ThreadState t_thread __attribute__((tls_model("initial-exec"))) = {};

namespace {

constexpr size_t kPageBytes = 4096;
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

// x87, SSE, AVX and AVX-512, as far as the system uses them: what C++ code may change. 0: no xsave.
uint64_t xsave_mask() {
  uint32_t a = 1, b, c, d;
  __asm__("cpuid" : "+a"(a), "=b"(b), "=c"(c), "=d"(d));
  constexpr uint32_t kOsXsave = 1 << 27;
  if ((c & kOsXsave) == 0) return 0;
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low & 0xe7;
}

// Translated code returns to other addresses than it was called from, which a shadow stack refuses.
bool has_shadow_stack() {
  uint64_t pointer = 0;
  __asm__("rdsspq %0" : "+r"(pointer));  // does nothing where there is none
  return pointer != 0;
}

}  // namespace

// Entered by a jump from the cache with the Thread in rax and the program's rax in slot 3; all else is the program's.
// Continues at ThreadState::jump through `contrafact_translate_continue`, a piece of code in the cache.
//
// Asynchronous signals are blocked while C++ works: a handler would find itself on the private stack, from which it can
// neither unwind nor be told where the program's stack ends. They come before or afterwards, at instructions at which
// fix_context() knows the program's state; the labels are for it. At all of them the program is at ThreadState::target.
extern "C" {
void contrafact_translate_slow();
extern const char contrafact_translate_saved[], contrafact_translate_blocked[], contrafact_translate_unblocked[],
    contrafact_translate_slow_end[];
// All but those that an instruction raises: SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV, SIGSYS.
extern const uint64_t contrafact_translate_blocked_signals __attribute__((visibility("hidden")));
const uint64_t contrafact_translate_blocked_signals =
    ~(uint64_t{1} << (SIGILL - 1) | uint64_t{1} << (SIGTRAP - 1) | uint64_t{1} << (SIGBUS - 1) |
      uint64_t{1} << (SIGFPE - 1) | uint64_t{1} << (SIGSEGV - 1) | uint64_t{1} << (SIGSYS - 1));
__attribute__((visibility("hidden"))) uint64_t contrafact_translate_continue = 0;
__attribute__((visibility("hidden"), used)) void contrafact_translate_serve(Thread* thread) {
  thread->translator->serve(*thread);
}
}
__asm__(R"(
  .text
  .hidden contrafact_translate_slow, contrafact_translate_saved, contrafact_translate_blocked
  .hidden contrafact_translate_unblocked, contrafact_translate_slow_end
  .globl contrafact_translate_saved, contrafact_translate_blocked, contrafact_translate_unblocked
  .globl contrafact_translate_slow_end
  .globl contrafact_translate_slow
  .type contrafact_translate_slow, @function
contrafact_translate_slow:
  movq %rcx, 4104(%rax)
  movq %rdx, 4112(%rax)
  movq %rbx, 4120(%rax)
  movq %rsp, 4128(%rax)
  movq %rbp, 4136(%rax)
  movq %rsi, 4144(%rax)
  movq %rdi, 4152(%rax)
  movq %r8, 4160(%rax)
  movq %r9, 4168(%rax)
  movq %r10, 4176(%rax)
  movq %r11, 4184(%rax)
  movq %r12, 4192(%rax)
  movq %r13, 4200(%rax)
  movq %r14, 4208(%rax)
  movq %r15, 4216(%rax)
contrafact_translate_saved:
  movq %rax, %rbx
  movl $14, %eax  # rt_sigprocmask(SIG_BLOCK, &blocked, &signal_mask, 8): on the program's stack, leaves the flags alone
  movl $0, %edi
  leaq contrafact_translate_blocked_signals(%rip), %rsi
  leaq 4240(%rbx), %rdx
  movl $8, %r10d
  syscall
contrafact_translate_blocked:
  movq %rbx, %rsp
  pushfq
  popq 4224(%rbx)
  cld
  movl 4232(%rbx), %eax
  xorl %edx, %edx
  xsave64 (%rbx)
  movq %rbx, %rdi
  call contrafact_translate_serve
  movl 4232(%rbx), %eax
  xorl %edx, %edx
  xrstor64 (%rbx)
  pushq 4224(%rbx)
  popfq
  movq 4128(%rbx), %rsp
  movl $14, %eax  # rt_sigprocmask(SIG_SETMASK, &signal_mask, null, 8): leaves the flags alone, as all that follows
  movl $2, %edi
  leaq 4240(%rbx), %rsi
  movl $0, %edx
  movl $8, %r10d
  syscall
contrafact_translate_unblocked:
  movq %rbx, %rax
  movq 4104(%rax), %rcx
  movq 4112(%rax), %rdx
  movq 4120(%rax), %rbx
  movq 4136(%rax), %rbp
  movq 4144(%rax), %rsi
  movq 4152(%rax), %rdi
  movq 4160(%rax), %r8
  movq 4168(%rax), %r9
  movq 4176(%rax), %r10
  movq 4184(%rax), %r11
  movq 4192(%rax), %r12
  movq 4200(%rax), %r13
  movq 4208(%rax), %r14
  movq 4216(%rax), %r15
  movq 4096(%rax), %rax
  jmpq *contrafact_translate_continue(%rip)
contrafact_translate_slow_end:
  .size contrafact_translate_slow, .-contrafact_translate_slow
)");

// Held with all signals blocked: a handler could otherwise ask for the lock again, or leave with it by longjmp.
class Translator::Guard {
 public:
  explicit Guard(std::atomic<int>& lock) : lock_(lock) {
    const uint64_t all = UINT64_MAX;
    raw_system_call(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&all), reinterpret_cast<long>(&before_), 8);
    int seen = 0;
    if (lock_.compare_exchange_strong(seen, 1, std::memory_order_acquire)) return;
    while (lock_.exchange(2, std::memory_order_acquire) != 0) {
      raw_system_call(SYS_futex, reinterpret_cast<long>(&lock_), FUTEX_WAIT_PRIVATE, 2);
    }
  }
  ~Guard() {
    if (lock_.exchange(0, std::memory_order_release) == 2) {
      raw_system_call(SYS_futex, reinterpret_cast<long>(&lock_), FUTEX_WAKE_PRIVATE, 1);
    }
    raw_system_call(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&before_), 0, 8);
  }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  std::atomic<int>& lock_;
  uint64_t before_ = 0;
};

base::Result<std::unique_ptr<Translator>> Translator::create(const Options& options) {
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
  if (out->xsave_mask_ == 0) return base::Error{"read and write sets need a processor with xsave"};
  if (has_shadow_stack())
    return base::Error{"read and write sets are not possible with a shadow stack (GLIBC_TUNABLES)"};
  auto cache = CodeCache::create(options.cache_bytes);
  if (!cache) return cache.error();
  out->cache_ = std::move(*cache);
  out->state_offset_ = state_offset();
  out->process_ = static_cast<int>(raw_system_call(SYS_getpid));
  if (auto made = out->make_stubs(); !made) return made.error();
  return out;
}

base::Result<std::unique_ptr<Translator>> Translator::create_in_child(const Translator& parent) {
  auto created = create(parent.options_);
  if (!created) return created;
  Translator& out = **created;
  out.regions_.add_native_of(parent.regions_);
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

// One mapping: the log, aligned to its size; a page that may not be touched; the private stack; the Thread.
bool Translator::attach(uint64_t stack_begin, uint64_t stack_end) {
  const size_t thread_bytes = (sizeof(Thread) + kPageBytes - 1) / kPageBytes * kPageBytes;
  const size_t bytes = 2 * kLogBytes + kPageBytes + kPrivateStackBytes + thread_bytes;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  const auto mapping = reinterpret_cast<uint64_t>(memory);
  const uint64_t log = (mapping + kLogBytes - 1) / kLogBytes * kLogBytes;
  const uint64_t guard = log + kLogBytes;
  mprotect(reinterpret_cast<void*>(guard), kPageBytes, PROT_NONE);
  auto* thread = reinterpret_cast<Thread*>(guard + kPageBytes + kPrivateStackBytes);
  thread->xsave_mask = xsave_mask_;
  thread->translator = this;
  thread->log_top = log + kLogBytes - kEntryBytes;  // the second byte of the top's address would be zero
  thread->mapping = mapping;
  thread->mapping_bytes = bytes;
  t_thread = {};
  for (int i = 0; i < 4; ++i) t_thread.slot[i] = 0;
  t_thread.log = thread->log_end = thread->log_top;
  thread->stack_begin = stack_begin;
  thread->stack_end = stack_end;
  thread->state = &t_thread;
  t_thread.thread = thread;
  Guard held(lock_);
  thread->next = threads_;
  if (threads_) threads_->previous = thread;
  threads_ = thread;
  return true;
}

void Translator::detach() {
  if (Thread* thread = t_thread.thread) {
    Guard guard(lock_);
    if (thread->next) thread->next->previous = thread->previous;
    (thread->previous ? thread->previous->next : threads_) = thread->next;
  }
  detach_in_child();
}

// Where another thread may have had the lock.
void Translator::detach_in_child() {
  Thread* thread = t_thread.thread;
  t_thread.thread = nullptr;
  if (thread) munmap(reinterpret_cast<void*>(thread->mapping), thread->mapping_bytes);
}

void Translator::begin_segment(uint64_t stack_pointer) {
  Thread& thread = *t_thread.thread;
  t_thread.log = thread.log_end = thread.log_top;
  t_thread.left = Reason::none;
  thread.segment_begin_sp = stack_pointer;
  t_thread.minus_frame = -stack_pointer;
  thread.segment.begin();
}

namespace {

// From the newest point to the oldest; both ends of a stretch of `ticks_min` are cuts. False: too many.
bool find_cuts(Thread& thread, uint64_t begin, uint64_t end, uint64_t ticks_min, uint64_t earliest) {
  uint64_t log = t_thread.log;
  const auto is_far = [&](uint64_t earlier, uint64_t later) { return later > earlier && later - earlier >= ticks_min; };
  Cut last{0, end};
  bool has_last = true;  // the segment's end needs none
  thread.cut_count = 0;
  const auto add = [&](const Cut& cut) {
    if (thread.cut_count < kCutsMax) thread.cuts[thread.cut_count] = cut;
    return thread.cut_count++ < kCutsMax;
  };
  while (log < thread.log_end) {
    const auto& entry = *reinterpret_cast<const LogEntry*>(log);
    log += (entry.meta & kMetaLong) != 0 ? kLongEntryBytes : kEntryBytes;
    if ((entry.meta & kMetaPoint) == 0) continue;
    const Cut point{log, entry.address};
    if (point.clock < earliest) break;
    const bool is_cut = is_far(point.clock, last.clock);
    if (is_cut && ((!has_last && !add(last)) || !add(point))) return false;
    last = point;
    has_last = is_cut;
  }
  return has_last || !is_far(begin, last.clock) || add(last);
}

void hide_own_stack(Thread& thread, uint64_t stack_pointer) {
  if (is_on_own_stack(thread, stack_pointer) && is_on_own_stack(thread, thread.segment_begin_sp)) {
    thread.segment.set_private(thread.stack_begin, std::min(stack_pointer, thread.segment_begin_sp));
  }
}

}  // namespace

size_t Translator::cut_segment(uint64_t begin, uint64_t end, uint64_t ticks_min, uint64_t earliest) {
  Thread& thread = *t_thread.thread;
  while (!find_cuts(thread, begin, end, ticks_min, earliest)) ticks_min *= 2;
  return thread.cut_count;
}

std::span<const Access> Translator::next_part(uint64_t stack_pointer, uint64_t* clock, bool* overflown) {
  Thread& thread = *t_thread.thread;
  const Cut& cut = thread.cuts[--thread.cut_count];
  hide_own_stack(thread, stack_pointer);
  thread.segment.add_log(cut.log, thread.log_end);
  thread.log_end = cut.log;
  *clock = cut.clock;
  *overflown = thread.segment.overflown();
  return thread.segment.ranges();
}

std::span<const Access> Translator::end_segment(uint64_t stack_pointer, bool* overflown) {
  Thread& thread = *t_thread.thread;
  hide_own_stack(thread, stack_pointer);
  flush_log(thread);
  *overflown = thread.segment.overflown();
  return thread.segment.ranges();
}

void Translator::stream_to(AccessSink* sink) {
  t_thread.thread->segment.stream_to(sink);
  pause_segment();
}

void Translator::flush() {
  flush_log(*t_thread.thread);
}

// No frame is one of the segment's: no distance has a highest byte of zero then (BlockBuilder::log_point).
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
}

// Also before anything is added by hand: no cut may come between what the log holds and that.
void Translator::flush_log(Thread& thread) {
  const uint64_t log = t_thread.log, end = thread.log_end;
  t_thread.log = thread.log_end = thread.log_top;
  thread.segment.add_log(log, end);
}

uint64_t Translator::enter(uint64_t return_address) {
  t_thread.mode = Mode::in_cache;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (attention_.load(std::memory_order_relaxed) && !may_enter()) [[unlikely]]
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

// The mode says that the thread enters before `closed_` is read, here and in enter(). try_clear() writes `closed_`
// before it reads the modes, and has the kernel order the two on all threads: so one of both sees the other.
bool Translator::may_enter() {
  t_thread.mode = Mode::native;
  if (disabled_.load(std::memory_order_relaxed)) {
    note_gap(Reason::disabled);
    return false;
  }
  if (const int64_t now_ns = base::monotonic_ns(); now_ns >= look_at_ns_.load(std::memory_order_relaxed)) {
    try_clear(now_ns);
  }
  t_thread.mode = Mode::in_cache;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (!closed_.load(std::memory_order_relaxed)) return true;
  t_thread.mode = Mode::native;
  note_gap(Reason::cache_full);
  return false;
}

void Translator::clear() {
  if (!is_usable()) return;
  Guard guard(lock_);
  want_clear();
}

// The kernel must be asked for its barriers before they are used; not by programs that never need them.
void Translator::want_clear() {
  if (wants_clear_) return;
  wants_clear_ = raw_system_call(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0 &&
                 raw_system_call(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE) == 0;
  if (wants_clear_) attention_.store(true, std::memory_order_relaxed);
}

void Translator::try_clear(int64_t now_ns) {
  if (!is_usable()) return;
  Guard guard(lock_);
  if (!wants_clear_) return;
  look_at_ns_.store(now_ns + kLookEveryNs, std::memory_order_relaxed);
  if (closed_.load(std::memory_order_relaxed) && now_ns > closed_until_ns_) {
    closed_.store(false, std::memory_order_relaxed);
    look_at_ns_.store(now_ns + kClearEveryNs, std::memory_order_relaxed);
    return;
  }
  if (!closed_.load(std::memory_order_relaxed)) closed_until_ns_ = now_ns + kClosedNs;
  closed_.store(true, std::memory_order_relaxed);
  raw_system_call(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED);
  if (!is_nobody_inside()) return;
  cache_->clear(stub_end_, default_lookup_);
  clears_.fetch_add(1, std::memory_order_relaxed);
  wants_clear_ = false;
  // Other cores forget what they fetched of the old code.
  raw_system_call(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE);
  attention_.store(false);
  if (disabled_.load()) attention_.store(true);
  closed_.store(false, std::memory_order_release);
}

// A thread that went without detach() may have left its memory: so it is the kernel that reads there.
bool Translator::is_nobody_inside() const {
  for (const Thread* thread = threads_; thread; thread = thread->next) {
    Mode mode = Mode::in_cache;
    const iovec to{&mode, sizeof mode};
    const iovec from{const_cast<Mode*>(&thread->state->mode), sizeof mode};
    const long got = raw_system_call(SYS_process_vm_readv, process_, reinterpret_cast<long>(&to), 1,
                                     reinterpret_cast<long>(&from), 1, 0);
    if (got != sizeof mode || mode != Mode::native) return false;
  }
  return true;
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

void Translator::serve_log_full(Thread& thread) {
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
  if (kind == SystemCallKind::unknown) note_gap(Reason::unknown_effect);
  thread.system_call_runs = kind != SystemCallKind::leave;
  return thread.system_call_runs;
}

void Translator::after_system_call(Thread& thread) {
  flush_log(thread);
  const auto result = static_cast<long>(thread.registers[rax]);
  thread.system_call_runs = false;
  add_system_call_accesses(thread.system_call, result, thread.segment);
  invalidate_by(thread.system_call, result);
}

void Translator::invalidate_by(const long* call, long result) {
  uint64_t begin[2], bytes[2];
  if (!changes_mappings(call, result, begin, bytes)) return;
  for (int i = 0; i < 2; ++i) invalidate(begin[i], begin[i] + bytes[i]);
}

// A child made by a bare clone has its parent's lock, in whatever state, and shares its code's memory; one of vfork has
// all of it, so nothing is disabled here.
bool Translator::is_usable() const {
  return !disabled_.load(std::memory_order_relaxed) && raw_system_call(SYS_getpid) == process_;
}

uint64_t Translator::resolve(uint64_t guest, Reason& reason) {
  if (!is_usable()) {
    reason = Reason::disabled;
    return 0;
  }
  Guard guard(lock_);
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
    want_clear();
    reason = Reason::cache_full;
    return 0;
  }
  BlockBuilder builder(*cache_, regions_, LocalOffsets(state_offset_), slow_stub_);
  for (size_t i = 0; i < gate_count_; ++i) {
    if (gates_[i].function == guest) return builder.call_and_return(guest, gates_[i].stand_in);
  }
  CodeRegions::Region region = regions_.at(guest);
  if (region.kind == CodeKind::none && regions_.may_refresh()) {
    refresh_locked();
    region = regions_.at(guest);
  }
  switch (region.kind) {
    case CodeKind::native:
      return builder.call_out(guest);
    case CodeKind::program:
    case CodeKind::runtime:
    case CodeKind::unlogged:
      return builder.translate(guest, region);
    case CodeKind::none:
    case CodeKind::constant:
    case CodeKind::generated:
      break;
  }
  reason = Reason::generated_code;
  return 0;
}

namespace {

constexpr int kContextOrder[kRegisters] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                           REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

// On the way into C++ or out of it. `stub` is where the code in the cache that leads there begins.
bool fix_slow_path(uint64_t pc, uint64_t stub, greg_t* registers) {
  const auto at = [](const auto& label) { return reinterpret_cast<uint64_t>(&label); };
  if (pc == stub || pc == contrafact_translate_continue) return true;  // all is the program's
  const bool enters = (pc > stub && pc < contrafact_translate_continue) ||
                      (pc >= at(contrafact_translate_slow) && pc <= at(contrafact_translate_blocked));
  const bool leaves = pc >= at(contrafact_translate_unblocked) && pc < at(contrafact_translate_slow_end);
  if (!enters && !leaves) return false;
  const Thread& thread = *t_thread.thread;
  if (leaves || (pc >= at(contrafact_translate_saved) && pc <= at(contrafact_translate_blocked))) {
    for (size_t i = 0; i < kRegisters; ++i) registers[kContextOrder[i]] = static_cast<greg_t>(thread.registers[i]);
  }
  if (enters) registers[REG_RAX] = static_cast<greg_t>(t_thread.slot[3]);
  return true;
}

}  // namespace

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
  t_thread.mode = Mode::native;
  t_thread.is_outside = 1;
  note_gap(Reason::signal);
  if (!thread.system_call_runs) return;
  thread.system_call_runs = false;
  uint64_t begin[2], bytes[2];
  constexpr long kAnyResult = 1;
  if (changes_mappings(thread.system_call, kAnyResult, begin, bytes)) refresh();
}

void Translator::invalidate(uint64_t begin, uint64_t end) {
  if (begin >= end || !is_usable()) return;
  Guard guard(lock_);
  if (!regions_.may_hold_code(begin, end)) return;
  removed_.fetch_add(cache_->remove(begin, end), std::memory_order_relaxed);
  if (!refresh_locked()) regions_.forget(begin, end);
}

void Translator::refresh() {
  if (!is_usable()) return;
  Guard guard(lock_);
  if (refresh_locked()) return;
  removed_.fetch_add(cache_->remove(0, UINT64_MAX), std::memory_order_relaxed);  // any of it may have gone
  regions_.forget(0, UINT64_MAX);
}

bool Translator::refresh_locked() {
  return regions_.refresh([this](uint64_t begin, uint64_t end) {
    removed_.fetch_add(cache_->remove(begin, end), std::memory_order_relaxed);
  });
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
