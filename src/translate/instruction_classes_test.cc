// A table of instructions, one for each class and form of operand that the decoder is believed to know: run natively
// and translated, they give the same result and the same memory, and the set holds as many bytes as they read and
// write.
#include <cpuid.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <string_view>
#include <vector>

#include "translate/accesses_for_test.h"

namespace contrafact::translate {
namespace {

constexpr size_t kAny = SIZE_MAX;  // the set holds more than is accessed: masks are not looked at

struct Case {
  uint64_t (*code)(const void* from, void* to);
  size_t read_bytes;         // of `from`
  size_t written_bytes;      // of `to`
  const char* needs = "";    // a feature of the processor
  size_t to_read_bytes = 0;  // of `to`, too
};

bool has(std::string_view feature) {
  if (feature.empty()) return true;
  if (feature == "sse4.1") return __builtin_cpu_supports("sse4.1");
  if (feature == "avx2") return __builtin_cpu_supports("avx2");
  if (feature == "avx512f") return __builtin_cpu_supports("avx512f");
  if (feature == "rdtscp") {
    uint32_t a, b, c, d;
    return __get_cpuid(0x80000001, &a, &b, &c, &d) != 0 && (d >> 27 & 1) != 0;
  }
  if (feature == "movbe") return __builtin_cpu_supports("movbe");
  if (feature == "lahf") {
    uint32_t a, b, c, d;
    return __get_cpuid(0x80000001, &a, &b, &c, &d) != 0 && (c & 1) != 0;
  }
  if (feature == "cmpxchg16b") return __builtin_cpu_supports("cmpxchg16b");
  return false;
}

void compare(const Case& test) {
  if (!has(test.needs)) GTEST_SKIP() << "this processor has no " << test.needs;
  fill(g_from, 1);
  fill(g_to, 50);
  const uint64_t native = test.code(&g_from, &g_to);
  const Buffer written = g_to;
  fill(g_to, 50);
  uint64_t result = 0;
  const Gathered gathered = translated([&] { result = test.code(&g_from, &g_to); });
  EXPECT_EQ(result, native);
  EXPECT_EQ(std::memcmp(&written, &g_to, sizeof written), 0);
  EXPECT_EQ(gathered.left, Reason::none);
  const auto expect_bytes = [&](const Buffer& buffer, uint32_t flag, size_t bytes) {
    Gathered of_kind = gathered;
    std::erase_if(of_kind.accesses, [flag](const Access& access) { return (access.flags & flag) == 0; });
    const size_t found = bytes_on(of_kind, buffer);
    if (bytes == kAny) {
      EXPECT_GT(found, 0u);
    } else {
      EXPECT_EQ(found, bytes);
    }
  };
  expect_bytes(g_from, kAccessRead, test.read_bytes);
  expect_bytes(g_from, kAccessWrite, 0);
  expect_bytes(g_to, kAccessWrite, test.written_bytes);
  expect_bytes(g_to, kAccessRead, test.to_read_bytes);
}

// CLASS(NAME, INSTRUCTIONS, BYTES READ, BYTES WRITTEN [, FEATURE [, BYTES READ OF WHAT IS WRITTEN]]). In a function of
// its own: nothing but these instructions and the return; `from` in rdi, `to` in rsi.
#define CLASS(name, text, ...)                                     \
  __attribute__((naked)) uint64_t run_##name(const void*, void*) { \
    __asm__(text "\n\tret");                                       \
  }                                                                \
  TEST(InstructionClasses, name) {                                 \
    compare({run_##name, __VA_ARGS__});                            \
  }

// The stack pointer, as the base and as the register that changes.
CLASS(PushMemory, "push (%rdi)\n\tpop %rax", 8, 0)
CLASS(PopMemory, "push $-7\n\tpop (%rsi)\n\txor %eax, %eax", 0, 8)
CLASS(PopAtTheStackPointer, "push $5\n\tpush $7\n\tpop (%rsp)\n\tpop %rax", 0, 0)
CLASS(PushAtTheStackPointer, "push $5\n\tpush (%rsp)\n\tpop %rax\n\tpop %rcx\n\tadd %rcx, %rax", 0, 0)
CLASS(StackIndexed, "push $9\n\tmov $8, %ecx\n\tmov -8(%rsp,%rcx), %rax\n\tpop %rcx", 0, 0)
CLASS(EnterLeave, "enter $16, $0\n\tmov (%rdi), %rax\n\tmov %rax, -8(%rbp)\n\tadd -8(%rbp), %rax\n\tleave", 8, 0)
CLASS(PushPopFlags, "stc\n\tpushfq\n\tclc\n\tpopfq\n\tsetc %al\n\tmovzbl %al, %eax", 0, 0)
CLASS(Push16, "pushw (%rdi)\n\tpopw %ax\n\tmovzwl %ax, %eax", 2, 0)
CLASS(AlignsTheStack, "mov %rsp, %rdx\n\tand $-64, %rsp\n\tpush (%rdi)\n\tpop %rax\n\tmov %rdx, %rsp", 8, 0)
// Forms of addresses that the C++ compiler does not write.
CLASS(Xlat, "push %rbx\n\tmov %rdi, %rbx\n\tmov $5, %eax\n\txlatb\n\tpop %rbx\n\tmovzbl %al, %eax", 1, 0)
CLASS(AddressAndPrefixes, "xor %eax, %eax\n\t.byte 0x3e, 0x48, 0x8b, 0x07", 8, 0)
CLASS(LoadAddress, "lea 3(%rdi,%rdi,2), %rax\n\tsub %rdi, %rax\n\tsub %rdi, %rax\n\tsub %rdi, %rax", 0, 0)
CLASS(Nop, "nopw 8(%rdi)\n\tprefetcht0 (%rdi)\n\txor %eax, %eax", 0, 0)
// Read, modify, write.
CLASS(Exchange, "mov (%rdi), %rax\n\txchg %rax, (%rsi)", 8, 8, "", 8)
CLASS(ExchangeAdd, "mov (%rdi), %eax\n\tlock xaddl %eax, 4(%rsi)", 4, 4, "", 4)
CLASS(CompareExchange, "mov (%rsi), %rax\n\tmov (%rdi), %rcx\n\tlock cmpxchg %rcx, (%rsi)\n\tsetz %al", 8, 8, "", 8)
CLASS(CompareExchange8,
      "push %rbx\n\tmov (%rsi), %eax\n\tmov 4(%rsi), %edx\n\tmov (%rdi), %ebx\n\tmov 4(%rdi), %ecx\n\t"
      "lock cmpxchg8b (%rsi)\n\tsetz %al\n\tmovzbl %al, %eax\n\tpop %rbx",
      8, 8, "", 8)
CLASS(CompareExchange16,
      "push %rbx\n\tmov (%rsi), %rax\n\tmov 8(%rsi), %rdx\n\tmov (%rdi), %rbx\n\tmov 8(%rdi), %rcx\n\t"
      "lock cmpxchg16b (%rsi)\n\tsetz %al\n\tmovzbl %al, %eax\n\tpop %rbx",
      16, 16, "cmpxchg16b", 16)
CLASS(ShiftDouble, "mov (%rdi), %rax\n\tmov $9, %ecx\n\tshld %cl, %rax, (%rsi)", 8, 8, "", 8)
CLASS(BitTestImmediate, "btsl $35, (%rsi)\n\tbtl $3, (%rdi)\n\tsetc %al\n\tmovzbl %al, %eax", 4, 4, "", 4)
CLASS(Bytes, "movb 3(%rdi), %ah\n\tmovb %ah, 5(%rsi)\n\tmovzbl %ah, %eax", 1, 1)
CLASS(SwapOnTheWay, "movbe (%rdi), %rax\n\tmovbe %eax, (%rsi)", 8, 4, "movbe")
// Divisions and multiplications with implicit registers.
CLASS(Divide, "mov $1000, %eax\n\txor %edx, %edx\n\torl $1, (%rsi)\n\tdivl (%rsi)", 0, 4, "", 4)
CLASS(Multiply, "mov $77, %eax\n\tmulq (%rdi)\n\tadd %rdx, %rax", 8, 0)
// Strings in each size, with and without a count.
CLASS(LoadString, "mov %rdi, %rsi\n\tlodsq\n\tlodsb", 9, 0)
CLASS(MoveString, "xchg %rdi, %rsi\n\tmovsw\n\tmovsq\n\txor %eax, %eax", 10, 10)
CLASS(StoreString, "mov %rsi, %rdi\n\tmov $0x1234567, %eax\n\tmov $5, %ecx\n\trep stosl", 0, 20)
CLASS(CompareString, "mov $20, %ecx\n\trepe cmpsb\n\tmov %rcx, %rax", kAny, 0, "", kAny)
CLASS(RepeatedLoad, "mov %rdi, %rsi\n\tmov $3, %ecx\n\trep lodsl", 12, 0)
// Control.
CLASS(CallsThroughMemory,
      "lea 1f(%rip), %rax\n\tmov %rax, (%rsi)\n\tcall *(%rsi)\n\tmovq $0, (%rsi)\n\tjmp 2f\n"
      "1:\tmov $41, %eax\n\tret\n2:",
      0, 8, "", 8)
CLASS(CallsRelativeToTheStack,
      "lea 1f(%rip), %rax\n\tpush %rax\n\tcall *(%rsp)\n\tpop %rcx\n\tjmp 2f\n"
      "1:\tmov $42, %eax\n\tret\n2:",
      0, 0)
CLASS(JumpsThroughATable,
      "lea 1f(%rip), %rax\n\tlea 2f(%rip), %rcx\n\tmov %rax, (%rsi)\n\tmov %rcx, 8(%rsi)\n\t"
      "mov $1, %edx\n\tmov $0, %eax\n\tjmp *(%rsi,%rdx,8)\n1:\tmov $1, %eax\n2:\tadd $2, %eax\n\t"
      "movq $0, (%rsi)\n\tmovq $0, 8(%rsi)",
      0, 16, "", 8)
CLASS(LoopsOnConditions,
      "mov $9, %ecx\n\txor %eax, %eax\n1:\tinc %eax\n\tcmp $4, %eax\n\tloopne 1b\n"
      "2:\tinc %eax\n\tcmp %eax, %eax\n\tloope 2b\n\tjecxz 3f\n\tmov $99, %eax\n3:",
      0, 0)
// Every condition, taken and not: a bit of the result for each jump.
CLASS(Conditions,
      "xor %eax, %eax\n\txor %edx, %edx\n1:\tmov %edx, %ecx\n\tpush %rdx\n\tmov %edx, %ecx\n\tand $0xd5, %ecx\n\t"
      "bt $8, %edx\n\tmov $0, %edx\n\tjnc 2f\n\tmov $0x800, %edx\n2:\tor %edx, %ecx\n\tpush %rcx\n\tpopfq\n\t"
      "jo 3f\n\tinc %rax\n3:\tpush %rcx\n\tpopfq\n\tjno 3f\n\tadd $2, %rax\n3:\tpush %rcx\n\tpopfq\n\t"
      "jb 3f\n\tadd $4, %rax\n3:\tpush %rcx\n\tpopfq\n\tjae 3f\n\tadd $8, %rax\n3:\tpush %rcx\n\tpopfq\n\t"
      "je 3f\n\tadd $16, %rax\n3:\tpush %rcx\n\tpopfq\n\tjne 3f\n\tadd $32, %rax\n3:\tpush %rcx\n\tpopfq\n\t"
      "jbe 3f\n\tadd $64, %rax\n3:\tpush %rcx\n\tpopfq\n\tja 3f\n\tadd $128, %rax\n3:\tpush %rcx\n\tpopfq\n\t"
      "js 3f\n\tadd $256, %rax\n3:\tpush %rcx\n\tpopfq\n\tjns 3f\n\tadd $512, %rax\n3:\tpush %rcx\n\tpopfq\n\t"
      "jp 3f\n\tadd $1024, %rax\n3:\tpush %rcx\n\tpopfq\n\tjnp 3f\n\tadd $2048, %rax\n3:\tpush %rcx\n\tpopfq\n\t"
      "jl 3f\n\tadd $4096, %rax\n3:\tpush %rcx\n\tpopfq\n\tjge 3f\n\tadd $8192, %rax\n3:\tpush %rcx\n\tpopfq\n\t"
      "jle 3f\n\tadd $16384, %rax\n3:\tpush %rcx\n\tpopfq\n\tjg 3f\n\tadd $32768, %rax\n3:\tpop %rdx\n\t"
      "rol $7, %rax\n\tinc %edx\n\tcmp $512, %edx\n\tjne 1b",
      0, 0)
// The x87.
CLASS(Float80, "fldl (%rdi)\n\tfstpt (%rsi)\n\tfldt (%rsi)\n\tfstp %st(0)\n\txor %eax, %eax", 8, 10, "", 10)
CLASS(FloatInteger, "fildq (%rdi)\n\tfistpll (%rsi)\n\txor %eax, %eax", 8, 8)
CLASS(FloatControl, "fnstcw (%rsi)\n\tfldcw (%rsi)\n\txor %eax, %eax", 0, 2, "", 2)
CLASS(FloatDecimal, "fildl (%rdi)\n\tfbstp (%rsi)\n\txor %eax, %eax", 4, 10)
// Vectors.
CLASS(Scalar, "movss (%rdi), %xmm0\n\tmovsd 8(%rdi), %xmm1\n\tmovss %xmm0, (%rsi)\n\txor %eax, %eax", 12, 4)
CLASS(HalfVector, "movhps (%rdi), %xmm0\n\tmovhps %xmm0, 8(%rsi)\n\txor %eax, %eax", 8, 8)
CLASS(Extract, "movups (%rdi), %xmm0\n\tpextrb $3, %xmm0, (%rsi)\n\txor %eax, %eax", 16, 1, "sse4.1")
CLASS(NonTemporal, "movups (%rdi), %xmm0\n\tmovntdq %xmm0, 16(%rsi)\n\tsfence\n\txor %eax, %eax", 16, 16)
CLASS(ByteMask, "movups (%rdi), %xmm0\n\tmov %rsi, %rdi\n\tmaskmovdqu %xmm0, %xmm0\n\txor %eax, %eax", 16, 16)
CLASS(ControlAndStatus, "stmxcsr (%rsi)\n\tldmxcsr (%rsi)\n\txor %eax, %eax", 0, 4, "", 4)
CLASS(Broadcast, "vbroadcastss (%rdi), %ymm0\n\tvmovups %ymm0, (%rsi)\n\tvzeroupper\n\txor %eax, %eax", 4, 32, "avx2")
CLASS(Masked,
      "vmovups (%rdi), %ymm0\n\tvpcmpeqd %ymm1, %ymm1, %ymm1\n\tvpmaskmovd %ymm0, %ymm1, (%rsi)\n\tvzeroupper\n\t"
      "xor %eax, %eax",
      32, kAny, "avx2")
CLASS(Upper, "vmovups (%rdi), %ymm0\n\tvextracti128 $1, %ymm0, (%rsi)\n\tvzeroupper\n\txor %eax, %eax", 32, 16, "avx2")
CLASS(WideMasked,
      "mov $0x5555, %eax\n\tkmovw %eax, %k1\n\tvmovdqu32 (%rdi), %zmm0\n\tvmovdqu32 %zmm0, (%rsi){%k1}\n\t"
      "vzeroupper\n\txor %eax, %eax",
      64, kAny, "avx512f")
CLASS(WideBroadcast,
      "vpxor %xmm0, %xmm0, %xmm0\n\tvpaddd 4(%rdi){1to16}, %zmm0, %zmm1\n\tvmovdqu32 %zmm1, (%rsi)\n\t"
      "vzeroupper\n\txor %eax, %eax",
      4, 64, "avx512f")
CLASS(Compress,
      "mov $0x0f0f, %eax\n\tkmovw %eax, %k1\n\tvmovdqu32 (%rdi), %zmm0\n\tvpcompressd %zmm0, (%rsi){%k1}\n\t"
      "vzeroupper\n\txor %eax, %eax",
      64, kAny, "avx512f")
CLASS(MaskRegister, "kmovw (%rdi), %k1\n\tkmovw %k1, (%rsi)\n\tkmovw %k1, %eax", 2, 2, "avx512f")
// Without memory, but of the processor's state.
CLASS(Identification, "push %rbx\n\txor %eax, %eax\n\tcpuid\n\tmov %ebx, %eax\n\tpop %rbx", 0, 0)
CLASS(Clock, "rdtsc\n\trdtscp\n\txor %eax, %eax", 0, 0, "rdtscp")
CLASS(FlagsInAh, "xor %eax, %eax\n\tstc\n\tlahf\n\tclc\n\tsahf\n\tsetc %al", 0, 0, "lahf")

// Addresses that are part of the instruction: with all 64 bits, with 32, and as a displacement without a register.
TEST(InstructionClasses, AbsoluteAddresses) {
  constexpr uint64_t kPlace = 0x20000000;
  auto* words = static_cast<uint64_t*>(mmap(reinterpret_cast<void*>(kPlace), 4096, PROT_READ | PROT_WRITE,
                                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0));
  if (reinterpret_cast<uint64_t>(words) != kPlace) GTEST_SKIP() << "the place is taken";
  words[0] = 1;
  words[1] = 20;
  words[2] = 300;
  uint64_t sum = 0;
  const Gathered gathered = translated([&] {
    __asm__ volatile(
        "movabs 0x20000000, %%rax\n\tmov %%rax, %0\n\t"
        ".byte 0x67, 0x48, 0xa1\n\t.long 0x20000008\n\tadd %%rax, %0\n\t"
        "add 0x20000010, %0\n\tmov %0, %%rax\n\tmovabs %%rax, 0x20000018"
        : "=&r"(sum)::"rax", "memory", "cc");
  });
  EXPECT_EQ(sum, 321u);
  EXPECT_EQ(words[3], 321u);
  EXPECT_EQ(gathered.left, Reason::none);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(flags_on(gathered, words[i]), kReadOnly) << i;
  EXPECT_EQ(flags_on(gathered, words[3]), kChanging);
  munmap(words, 4096);
}

}  // namespace
}  // namespace contrafact::translate
