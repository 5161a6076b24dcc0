#include "translate/slow_path.h"

#include <signal.h>

#include "translate/translator.h"

namespace contrafact::translate {

// Asynchronous signals are blocked while C++ works: a handler would find itself on the private stack, from which it can
// neither unwind nor find where the program's stack ends. They come before or afterwards, at instructions at which
// fix_slow_path() knows the program's state; the labels are for it. At all of them the program is at
// ThreadState::target: so a thread that may not ask the kernel goes on there natively, without C++.
extern "C" {
extern const char contrafact_translate_saved[], contrafact_translate_blocked[], contrafact_translate_unblocked[],
    contrafact_translate_slow_end[];
// All but those that an instruction raises: SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV, SIGSYS.
extern const uint64_t contrafact_translate_blocked_signals __attribute__((visibility("hidden")));
const uint64_t contrafact_translate_blocked_signals =
    ~(uint64_t{1} << (SIGILL - 1) | uint64_t{1} << (SIGTRAP - 1) | uint64_t{1} << (SIGBUS - 1) |
      uint64_t{1} << (SIGFPE - 1) | uint64_t{1} << (SIGSEGV - 1) | uint64_t{1} << (SIGSYS - 1));
uint64_t contrafact_translate_continue = 0;
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
  movl $1, %ecx  # asks_kernel := 1, a barrier, may_not_ask? None of it changes the flags.
  xchgq %rcx, 4248(%rax)
  movq 4256(%rax), %rcx
  jrcxz 1f
  movq $0, 4248(%rax)
  movq 4264(%rax), %rdx  # Translator::leave(), at once: mode, left, is_outside, jump
  movl $0, 104(%rdx)
  movl $8, 112(%rdx)
  movb $1, 116(%rdx)
  movq 40(%rdx), %rcx
  movq %rcx, 48(%rdx)
  movq 24(%rdx), %rcx
  movq %rcx, 4096(%rax)
  movq 4104(%rax), %rcx
  movq 4112(%rax), %rdx
  movq 4096(%rax), %rax
  jmpq *contrafact_translate_continue(%rip)
1:
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
  xorl %edx, %edx
  movl 4232(%rbx), %eax  # the components; none: a processor without xsave
  testl %eax, %eax
  jz 1f
  xsave64 (%rbx)
  movq %rbx, %rdi
  call contrafact_translate_serve
  movl 4232(%rbx), %eax
  xorl %edx, %edx
  xrstor64 (%rbx)
  jmp 2f
1:
  fxsave64 (%rbx)
  movq %rbx, %rdi
  call contrafact_translate_serve
  fxrstor64 (%rbx)
2:
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
  movq $0, 4248(%rax)
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

}  // namespace contrafact::translate
