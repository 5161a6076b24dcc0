// Jumps, calls, returns, exceptions: the thread stays in translated code, or leaves it as it should.
#include <gtest/gtest.h>
#include <setjmp.h>

#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "translate/accesses_for_test.h"

namespace contrafact::translate {
namespace {

extern "C" __attribute__((weak)) const ptrdiff_t __rseq_offset;

TEST(Control, RestartableSequencesRunNatively) {
  if (&__rseq_offset == nullptr) GTEST_SKIP() << "a C library without restartable sequences";
  const Gathered gathered = translated([] {
    __asm__ volatile("movq $0, %%fs:8(%0)" ::"r"(__rseq_offset) : "memory");  // none
  });
  EXPECT_EQ(gathered.left, Reason::unsupported);
}

// Registered by the program itself; a word of the thread's own stands for the description.
TEST(Control, RestartableSequencesOfTheProgramRunNatively) {
  static thread_local uint64_t area[4];
  const ptrdiff_t from_pointer = reinterpret_cast<char*>(area) - static_cast<char*>(__builtin_thread_pointer());
  add_restartable_area(from_pointer);
  const Gathered gathered = translated([&] { __asm__ volatile("movq $0, %%fs:8(%0)" ::"r"(from_pointer) : "memory"); });
  EXPECT_EQ(gathered.left, Reason::unsupported);
  add_restartable_area(0);
}

TEST(Control, LoopAndJrcxz) {
  long rounds = 0, skipped = 0;
  const Gathered gathered = translated([&] {
    __asm__ volatile(
        "mov $5, %%ecx\n\t"
        "1: incq %0\n\tloop 1b\n\t"
        "jrcxz 2f\n\t"
        "movq $99, %1\n\t"
        "2: incq %1"
        : "+r"(rounds), "+r"(skipped)::"rcx", "cc");
  });
  EXPECT_EQ(rounds, 5);
  EXPECT_EQ(skipped, 1);
  EXPECT_EQ(gathered.left, Reason::none);
}

__attribute__((naked)) long pops_its_argument() {
  __asm__("mov 8(%rsp), %rax\n\tret $8");
}

TEST(Control, ReturnThatPops) {
  long out = 0;
  const Gathered gathered = translated([&] {
    __asm__ volatile("sub $136, %%rsp\n\tpush $41\n\tcall *%1\n\tadd $136, %%rsp\n\tmov %%rax, %0"
                     : "=r"(out)
                     : "r"(pops_its_argument)
                     : "rax", "memory", "cc");
  });
  EXPECT_EQ(out, 41);
  EXPECT_EQ(gathered.left, Reason::none);
}

TEST(Control, TheRedZoneAndTheFlagsSurvive) {
  uint64_t zone = 0, carry = 0;
  translated([&] {
    __asm__ volatile(
        "movq $1234, -120(%%rsp)\n\t"
        "stc\n\t"
        "mov (%2), %%rdx\n\t"  // logged
        "mov %%rdx, 8(%2)\n\t"
        "setc %%dl\n\tmovzbl %%dl, %%edx\n\tmov %%rdx, %1\n\t"
        "mov -120(%%rsp), %0"
        : "=&r"(zone), "=&r"(carry)
        : "r"(g_from.bytes)
        : "rdx", "memory", "cc");
  });
  EXPECT_EQ(zone, 1234u);
  EXPECT_EQ(carry, 1u);
}

int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

extern "C" {
void contrafact_test_tail_call();
void (*contrafact_test_tail)() = [] {};
}
__asm__(R"(
  .text
  .p2align 4
contrafact_test_tail_call:
  jmpq *contrafact_test_tail(%rip)
  .p2align 4
)");

// It looks like a stub of the linkage table, but anybody may write the variable.
TEST(Control, ATailCallReadsItsVariable) {
  const Gathered gathered = translated(contrafact_test_tail_call);
  EXPECT_EQ(gathered.left, Reason::none);
  EXPECT_EQ(flags_on(gathered, contrafact_test_tail), kReadOnly);
}

TEST(Control, DeepCalls) {
  int out = 0;
  const Gathered gathered = translated([&] { out = fibonacci(20); });
  EXPECT_EQ(out, 6765);
  EXPECT_EQ(gathered.left, Reason::none);
}

TEST(Control, ExceptionsStayTranslated) {
  std::string caught;
  const Gathered gathered = translated([&] {
    try {
      std::vector<int>().at(3);
    } catch (const std::out_of_range& error) {
      caught = "range";
    }
  });
  EXPECT_EQ(caught, "range");
  EXPECT_EQ(gathered.left, Reason::none);
}

TEST(Control, ExceptionsLeaveTheSection) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_THROW(translated([] { throw std::runtime_error("out"); }), std::runtime_error);
    end_abandoned();
  }
}

TEST(Control, Longjmp) {
  volatile int rounds = 0;
  const Gathered gathered = translated([&] {
    jmp_buf buffer;
    if (setjmp(buffer) < 3) {
      rounds = rounds + 1;
      longjmp(buffer, rounds);
    }
  });
  EXPECT_EQ(rounds, 3);
  EXPECT_EQ(gathered.left, Reason::none);
}

}  // namespace
}  // namespace contrafact::translate
