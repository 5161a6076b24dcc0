// Each form of an address: translated code does the same, and its accesses are in the set.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include "translate/accesses_for_test.h"

namespace contrafact::translate {
namespace {

// Each addressing form: the bytes that are read are in the set, and no others.
#define FORM_CLOBBERS "rax", "rcx", "r8", "r11", "r12", "r13", "cc", "memory"
#define FORM(name, code, ...)                                                                                 \
  TEST(AddressingForms, name) {                                                                               \
    fill(g_from, 1);                                                                                          \
    uint64_t native = 0, result = 0;                                                                          \
    const auto run = [](uint64_t& out) { __asm__ volatile(code : "=r"(out) : __VA_ARGS__ : FORM_CLOBBERS); }; \
    run(native);                                                                                              \
    const Gathered gathered = translated([&] { run(result); });                                               \
    EXPECT_EQ(result, native);                                                                                \
    EXPECT_EQ(gathered.left, Reason::none);                                                                   \
    EXPECT_EQ(flags_on(gathered, g_from), kReadOnly);                                                         \
    EXPECT_EQ(bytes_on(gathered, g_from), 8u);                                                                \
  }

FORM(Base, "mov (%1), %0", "r"(&g_from))
FORM(BaseRbp, "mov %%rbp, %%r11\n\tmov %1, %%rbp\n\tmov 16(%%rbp), %%r8\n\tmov %%r11, %%rbp\n\tmov %%r8, %0",
     "r"(&g_from))
FORM(BaseR13, "mov %1, %%r13\n\tmov (%%r13), %0", "r"(&g_from))
FORM(BaseR12, "mov %1, %%r12\n\tmov 8(%%r12), %0", "r"(&g_from))
FORM(Displacement8, "mov 24(%1), %0", "r"(&g_from))
FORM(Displacement32, "mov -4096(%1), %0", "r"(reinterpret_cast<uint64_t>(&g_from) + 4096 + 8))
FORM(IndexScale8, "mov 8(%1,%2,8), %0", "r"(&g_from), "r"(3L))
FORM(IndexOnly, "mov 0(,%1,8), %0", "r"(reinterpret_cast<uint64_t>(&g_from) / 8))
FORM(BaseInScratchRax, "mov %1, %%rax\n\tmov (%%rax), %%rax\n\tmov %%rax, %0", "r"(&g_from))
FORM(BaseInScratchRcx, "mov %1, %%rcx\n\tmov $2, %%eax\n\tmov (%%rcx,%%rax,4), %%rcx\n\tmov %%rcx, %0", "r"(&g_from))
FORM(NegativeIndex, "mov 64(%1,%2,2), %0", "r"(&g_from), "r"(-4L))
FORM(RipRelative, "mov %P1(%%rip), %0", "X"(&g_from))
FORM(RipRelativeR8, "mov %P1+8(%%rip), %%r8\n\tmov %%r8, %0", "X"(&g_from))
FORM(AlternateSegment, "mov %%es:(%1), %0", "r"(&g_from))

// 32-bit addresses need memory below 4 GiB.
TEST(AddressingForms, Address32) {
  auto* low = static_cast<uint64_t*>(mmap(reinterpret_cast<void*>(uint64_t{0x30000000}), 4096, PROT_READ | PROT_WRITE,
                                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0));
  ASSERT_NE(low, MAP_FAILED);
  low[3] = 0x1122334455667788;
  uint64_t out = 0;
  const Gathered gathered = translated([&] {
    const uint64_t dirty = reinterpret_cast<uint64_t>(low) | uint64_t{0xdead} << 48;
    __asm__ volatile("mov 24(%k1), %0" : "=r"(out) : "r"(dirty) : "memory");
  });
  EXPECT_EQ(out, 0x1122334455667788u);
  EXPECT_EQ(flags_on(gathered, low[3]), kReadOnly);
  munmap(low, 4096);
}

// Other threads may reach it by a pointer; but the C library's data behind the thread pointer is left out.
TEST(AddressingForms, ThreadLocalMemory) {
  static thread_local volatile int t_mine = 5;
  uint64_t guard = 0;
  Gathered gathered = translated([&] {
    t_mine = t_mine + 1;
    __asm__ volatile("mov %%fs:0x28, %0" : "=r"(guard));
  });
  EXPECT_EQ(t_mine, 6);
  EXPECT_EQ(gathered.left, Reason::none);
  EXPECT_EQ(flags_on(gathered, t_mine), kAccessRead | kAccessWrite | kAccessChanged);
  EXPECT_EQ(flags_on(gathered, static_cast<char*>(__builtin_thread_pointer())[0x28]), 0u);
  const int64_t from_pointer =
      reinterpret_cast<volatile char*>(&t_mine) - static_cast<char*>(__builtin_thread_pointer());
  int copied[2] = {};
  gathered = translated([&] {
    const void* from = reinterpret_cast<const void*>(from_pointer);
    void* to = copied;
    long count = sizeof(int);
    __asm__ volatile("rep movsb %%fs:(%%rsi), %%es:(%%rdi)" : "+S"(from), "+D"(to), "+c"(count)::"memory");
    __asm__ volatile("btl %1, %%fs:(%0)" ::"r"(from_pointer), "r"(3) : "cc");
  });
  EXPECT_EQ(copied[0], 6);
  EXPECT_EQ(gathered.left, Reason::none);
  EXPECT_EQ(flags_on(gathered, t_mine), kReadOnly);
}

TEST(AddressingForms, GsSegment) {
  uint64_t value = 77, out = 0;
  const Gathered gathered = translated([&] {
    __asm__ volatile("mov %%gs:(%1), %0" : "=r"(out) : "r"(&value) : "memory");  // its base is 0
  });
  EXPECT_EQ(out, 77u);
  EXPECT_EQ(flags_on(gathered, value), kReadOnly);
}

}  // namespace
}  // namespace contrafact::translate
