// Runs code natively and translated and compares what it did; and holds the accesses that were gathered against those
// that the code makes.
#include "translate/translator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <immintrin.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "translate/translate_for_test.h"

namespace contrafact::translate {
namespace {

constexpr uint32_t kReadOnly = kAccessRead;
constexpr uint32_t kChanging = kAccessWrite | kAccessChanged;

// All flags of accesses to any byte of the object.
template <typename T>
uint32_t flags_on(const Gathered& gathered, const T& object) {
  const auto begin = reinterpret_cast<uint64_t>(&object);
  uint32_t flags = 0;
  for (const Access& access : gathered.accesses) {
    if (access.begin < begin + sizeof(T) && access.begin + access.length_bytes > begin) flags |= access.flags;
  }
  return flags;
}

// Bytes of the object that were accessed.
template <typename T>
size_t bytes_on(const Gathered& gathered, const T& object) {
  const auto begin = reinterpret_cast<uint64_t>(&object);
  std::vector<bool> touched(sizeof(T));
  for (const Access& access : gathered.accesses) {
    for (uint64_t at = std::max(access.begin, begin);
         at < std::min(access.begin + access.length_bytes, begin + sizeof(T)); ++at) {
      touched[at - begin] = true;
    }
  }
  return static_cast<size_t>(std::count(touched.begin(), touched.end(), true));
}

struct alignas(64) Buffer {
  uint8_t bytes[256];
};
Buffer g_from, g_to, g_other;

void fill(Buffer& buffer, int seed) {
  for (size_t i = 0; i < sizeof buffer.bytes; ++i)
    buffer.bytes[i] = static_cast<uint8_t>(i * 7 + static_cast<size_t>(seed));
}

volatile long g_read = 7, g_written, g_silent = 3, g_added, g_untouched;

void touch_globals() {
  g_written = g_read;
  g_silent = 3;
  __asm__ volatile("addq $5, %0" : "+m"(g_added)::"cc");
}

TEST(Translator, GathersReadsAndWrites) {
  const Gathered gathered = translated(touch_globals);
  EXPECT_EQ(gathered.left, Reason::none);
  EXPECT_EQ(flags_on(gathered, g_read), kReadOnly);
  EXPECT_EQ(flags_on(gathered, g_written), kChanging);
  EXPECT_EQ(flags_on(gathered, g_silent), kAccessWrite);
  EXPECT_EQ(flags_on(gathered, g_added), kReadOnly | kChanging | kAccessCommutative);
  EXPECT_EQ(flags_on(gathered, g_untouched), 0u);
  EXPECT_EQ(g_written, 7);
}

TEST(Translator, AnAdditionWhoseOutcomeIsUsedDoesNotCommute) {
  bool zero = false;
  volatile long counter = 1;
  volatile long* const shared = &counter;
  const Gathered gathered = translated([&] {
    __asm__ volatile("lock decq %1\n\tsete %0" : "=r"(zero), "+m"(*shared)::"cc");
  });
  EXPECT_TRUE(zero);
  EXPECT_EQ(flags_on(gathered, counter), kReadOnly | kChanging);
}

TEST(Translator, RunsTheLibrary) {
  std::string text;
  const Gathered gathered = translated([&] {
    std::vector<int> numbers(1000);
    for (int i = 0; i < 1000; ++i) numbers[static_cast<size_t>(i)] = i * 7919 % 1000;
    std::sort(numbers.begin(), numbers.end());
    char buffer[100];
    snprintf(buffer, sizeof buffer, "%d %.3f %s", numbers[500], 3.14159, "text");
    text = buffer;
  });
  EXPECT_EQ(gathered.left, Reason::none);
  EXPECT_EQ(text, "500 3.142 text");
}

// Each addressing form: what is read is in the set, and only that.
#define FORM(name, setup, code, ...)                                     \
  TEST(AddressingForms, name) {                                          \
    fill(g_from, 1);                                                     \
    uint64_t native = 0, result = 0;                                     \
    const auto run = [](uint64_t& out) {                                 \
      setup;                                                             \
      __asm__ volatile(code : "=r"(out) : __VA_ARGS__ : "cc", "memory"); \
    };                                                                   \
    run(native);                                                         \
    const Gathered gathered = translated([&] { run(result); });          \
    EXPECT_EQ(result, native);                                           \
    EXPECT_EQ(gathered.left, Reason::none);                              \
    EXPECT_EQ(flags_on(gathered, g_from), kReadOnly);                    \
    EXPECT_EQ(bytes_on(gathered, g_from), 8u);                           \
  }

FORM(Base, , "mov (%1), %0", "r"(&g_from))
FORM(BaseRbp, , "push %%rbp\n\tmov %1, %%rbp\n\tmov 16(%%rbp), %0\n\tpop %%rbp", "r"(&g_from))
FORM(BaseR13, , "mov %1, %%r13\n\tmov (%%r13), %0", "r"(&g_from))
FORM(BaseR12, , "mov %1, %%r12\n\tmov 8(%%r12), %0", "r"(&g_from))
FORM(Displacement8, , "mov 24(%1), %0", "r"(&g_from))
FORM(Displacement32, , "mov -4096(%1), %0", "r"(reinterpret_cast<uint64_t>(&g_from) + 4096 + 8))
FORM(IndexScale8, , "mov 8(%1,%2,8), %0", "r"(&g_from), "r"(3L))
FORM(IndexOnly, , "mov 0(,%1,8), %0", "r"(reinterpret_cast<uint64_t>(&g_from) / 8))
FORM(BaseInScratchRax, , "mov %1, %%rax\n\tmov (%%rax), %%rax\n\tmov %%rax, %0", "r"(&g_from))
FORM(BaseInScratchRcx, , "mov %1, %%rcx\n\tmov $2, %%eax\n\tmov (%%rcx,%%rax,4), %%rcx\n\tmov %%rcx, %0", "r"(&g_from))
FORM(NegativeIndex, , "mov 64(%1,%2,2), %0", "r"(&g_from), "r"(-4L))
FORM(RipRelative, , "mov %P1(%%rip), %0", "X"(&g_from))
FORM(RipRelativeR8, , "mov %P1+8(%%rip), %%r8\n\tmov %%r8, %0", "X"(&g_from))
FORM(AlternateSegment, , "mov %%es:(%1), %0", "r"(&g_from))

// 32-bit addresses need memory below 4 GiB.
TEST(AddressingForms, Address32) {
  auto* low = static_cast<uint64_t*>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0));
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

// Others may reach it by a pointer; but what the C library has behind the thread pointer is nobody's business.
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
  const auto begin = [] { __asm__ volatile("movq $0, %0" : "=m"(*static_cast<volatile uint64_t*>(area + 1))); };
  add_restartable_area(reinterpret_cast<char*>(area) - static_cast<char*>(__builtin_thread_pointer()));
  const Gathered gathered = translated(begin);
  EXPECT_EQ(gathered.left, Reason::unsupported);
  add_restartable_area(0);
}

TEST(Strings, RepMovsAndStos) {
  for (const bool down : {false, true}) {
    fill(g_from, 3);
    fill(g_to, 9);
    const Gathered gathered = translated([&] {
      const void* from = g_from.bytes + (down ? 99 : 0);
      void* to = g_to.bytes + (down ? 99 : 0);
      long count = 100;
      if (down) {
        __asm__ volatile("std\n\trep movsb\n\tcld" : "+S"(from), "+D"(to), "+c"(count)::"memory");
      } else {
        __asm__ volatile("rep movsb" : "+S"(from), "+D"(to), "+c"(count)::"memory");
      }
    });
    EXPECT_EQ(std::memcmp(g_from.bytes, g_to.bytes, 100), 0);
    EXPECT_EQ(flags_on(gathered, g_from), kReadOnly);
    EXPECT_EQ(flags_on(gathered, g_to), kChanging);
    EXPECT_EQ(bytes_on(gathered, g_from), 100u);
    EXPECT_EQ(bytes_on(gathered, g_to), 100u);
  }
}

TEST(Strings, RepneScasEndsEarly) {
  fill(g_from, 0);
  long left = 0;
  const Gathered gathered = translated([&] {
    const void* at = g_from.bytes;
    long count = 200;
    __asm__ volatile("repne scasb" : "+D"(at), "+c"(count) : "a"(g_from.bytes[40]) : "cc", "memory");
    left = count;
  });
  EXPECT_EQ(left, 200 - 41);
  EXPECT_EQ(bytes_on(gathered, g_from), 41u);
  EXPECT_EQ(flags_on(gathered, g_from), kReadOnly);
}

TEST(Strings, CountOfZeroTouchesNothing) {
  const Gathered gathered = translated([&] {
    const void* from = g_from.bytes;
    void* to = g_to.bytes;
    long count = 0;
    __asm__ volatile("rep movsq" : "+S"(from), "+D"(to), "+c"(count)::"memory");
  });
  EXPECT_EQ(bytes_on(gathered, g_from) + bytes_on(gathered, g_to), 0u);
}

TEST(BitStrings, ReachBeyondTheOperand) {
  std::memset(&g_to, 0, sizeof g_to);
  const Gathered gathered = translated([&] {
    __asm__ volatile("btsq %1, %0" : "+m"(g_to.bytes[128]) : "r"(-200L) : "cc", "memory");
  });
  EXPECT_EQ(g_to.bytes[128 - 25], 1);
  EXPECT_EQ(flags_on(gathered, g_to.bytes[128 - 25]) & kAccessWrite, kAccessWrite);
  EXPECT_EQ(bytes_on(gathered, g_to), 8u);
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

namespace cuts {

volatile int first, second, third;

void write_first() {
  first = 1;
}
void write_second_slowly() {
  for (int i = 0; i < 2'000'000; ++i) __asm__ volatile("");
  second = 1;
}
void write_third() {
  third = 1;
}
size_t bytes(const std::vector<Access>& accesses, volatile int& object) {
  Gathered gathered;
  gathered.accesses = accesses;
  return bytes_on(gathered, object);
}

}  // namespace cuts

TEST(Parts, ALongCallHasAPartOfItsOwn) {
  constexpr uint64_t kTicksMin = 200'000;
  const Gathered gathered =
      translated_calls({cuts::write_first, cuts::write_first, cuts::write_second_slowly, cuts::write_third}, kTicksMin);
  EXPECT_EQ(gathered.left, Reason::none);
  ASSERT_GE(gathered.parts.size(), 2u);  // more where the thread lost its core
  const auto& before = gathered.parts[gathered.parts.size() - 2];
  const auto& slow = gathered.parts.back();
  EXPECT_EQ(cuts::bytes(slow, cuts::second), sizeof(int));
  EXPECT_EQ(cuts::bytes(slow, cuts::first) + cuts::bytes(slow, cuts::third), 0u);
  EXPECT_EQ(cuts::bytes(before, cuts::first), sizeof(int));
  EXPECT_EQ(cuts::bytes(gathered.accesses, cuts::third), sizeof(int));
  EXPECT_EQ(cuts::bytes(gathered.accesses, cuts::second), 0u);
}

TEST(Parts, ThereAreNoMoreThanFit) {
  std::vector<void (*)()> calls(3 * kCutsMax, cuts::write_second_slowly);
  calls.push_back(cuts::write_third);
  const Gathered gathered = translated_calls(calls, 1);
  EXPECT_LE(gathered.parts.size(), kCutsMax);
  size_t written = cuts::bytes(gathered.accesses, cuts::second);
  for (const auto& part : gathered.parts) written += cuts::bytes(part, cuts::second);
  EXPECT_GE(written, sizeof(int));
}

TEST(Parts, ShortCallsMakeNone) {
  const Gathered gathered = translated_calls({cuts::write_first, cuts::write_third}, uint64_t{1} << 40);
  EXPECT_TRUE(gathered.parts.empty());
  EXPECT_EQ(cuts::bytes(gathered.accesses, cuts::first), sizeof(int));
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

TEST(SystemCalls, WhatTheKernelWritesIsInTheSet) {
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  fill(g_from, 1);
  ssize_t got = 0;
  const Gathered gathered = translated([&] {
    const iovec parts[] = {{g_from.bytes, 10}, {g_other.bytes, 6}};
    got = writev(pipe_ends[1], parts, 2);
    got += read(pipe_ends[0], g_to.bytes, 100);
  });
  EXPECT_EQ(got, 32);
  EXPECT_EQ(flags_on(gathered, g_from), kReadOnly);
  EXPECT_EQ(bytes_on(gathered, g_from), 10u);
  EXPECT_EQ(flags_on(gathered, g_to), kChanging);
  EXPECT_EQ(bytes_on(gathered, g_to), 16u);
  EXPECT_EQ(gathered.left, Reason::none);
  close(pipe_ends[0]);
  close(pipe_ends[1]);
}

// The kernel's page runs in the program: what it writes is the program's.
TEST(SystemCalls, TheTimeIsWrittenByTheKernelsPage) {
  static timespec time;
  const Gathered gathered = translated([] { clock_gettime(CLOCK_MONOTONIC, &time); });
  EXPECT_GT(time.tv_sec + time.tv_nsec, 0);
  EXPECT_EQ(flags_on(gathered, time), kChanging);
  EXPECT_EQ(bytes_on(gathered, time), sizeof time);
  EXPECT_EQ(gathered.left, Reason::none);
}

TEST(SystemCalls, AddressesOfSocketsHaveTheLengthThatTheKernelSays) {
  const int socket_fd = socket(AF_INET6, SOCK_DGRAM, 0);
  ASSERT_GE(socket_fd, 0);
  static sockaddr_in6 address;
  static socklen_t bytes = sizeof address;
  const Gathered gathered = translated([&] { getsockname(socket_fd, reinterpret_cast<sockaddr*>(&address), &bytes); });
  EXPECT_EQ(flags_on(gathered, address), kChanging);
  EXPECT_EQ(bytes_on(gathered, address), sizeof(sockaddr_in6));
  close(socket_fd);
}

// A child of vfork uses its parent's memory: what it meets says nothing of its parent.
__attribute__((noinline)) void do_nothing() {
  __asm__ volatile("");
}

TEST(SystemCalls, VforkLeavesTheParentAsItIs) {
  static uint64_t entered;
  const pid_t child = vfork();
  if (child == 0) {
    entered = test_translator().enter(reinterpret_cast<uint64_t>(&do_nothing));
    t_thread.mode = Mode::native;
    test_translator().refresh();
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(test_translator().is_in_cache(entered));
  EXPECT_EQ(translated(do_nothing).left, Reason::none);
}

TEST(SystemCalls, ForkRunsNatively) {
  int status = -1;
  const Gathered gathered = translated([&] {
    const pid_t child = fork();
    if (child == 0) _exit(7);
    waitpid(child, &status, 0);
  });
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_EQ(gathered.left, Reason::system_call);
}

__attribute__((target("avx2"))) void gather_avx2(const int* base, int* out) {
  const __m256i index = _mm256_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14);
  const __m256i mask = _mm256_setr_epi32(-1, 0, -1, 0, -1, 0, -1, 0);
  const __m256i got = _mm256_mask_i32gather_epi32(_mm256_setzero_si256(), base, index, mask, 4);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), got);
}

TEST(Vectors, GatherAvx2) {
  if (!__builtin_cpu_supports("avx2")) GTEST_SKIP() << "no AVX2 here";
  fill(g_from, 5);
  alignas(32) int native[8], out[8];
  gather_avx2(reinterpret_cast<const int*>(g_from.bytes), native);
  const Gathered gathered = translated([&] { gather_avx2(reinterpret_cast<const int*>(g_from.bytes), out); });
  EXPECT_EQ(std::memcmp(native, out, sizeof out), 0);
  EXPECT_EQ(gathered.left, Reason::none);
  EXPECT_EQ(bytes_on(gathered, g_from), 16u);  // four of eight elements
  EXPECT_EQ(flags_on(gathered, g_from), kReadOnly);
}

__attribute__((target("avx512f"))) void scatter_avx512(int* base) {
  const __m512i index = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  _mm512_mask_i32scatter_epi32(base, 0x00ff, index, _mm512_set1_epi32(0x01020304), 4);
}

TEST(Vectors, ScatterAvx512) {
  if (!__builtin_cpu_supports("avx512f")) GTEST_SKIP() << "no AVX-512 here";
  std::memset(&g_to, 0, sizeof g_to);
  const Gathered gathered = translated([] { scatter_avx512(reinterpret_cast<int*>(g_to.bytes)); });
  EXPECT_EQ(g_to.bytes[56], 4);
  EXPECT_EQ(g_to.bytes[64], 0);
  EXPECT_EQ(bytes_on(gathered, g_to), 32u);
  EXPECT_EQ(flags_on(gathered, g_to), kChanging);
}

__attribute__((target("avx512f"))) void copy_avx512(const uint8_t* from, uint8_t* to) {
  _mm512_storeu_si512(to + 64, _mm512_loadu_si512(from + 128));  // displacements in units of the vector's length
}

TEST(Vectors, CompressedDisplacement) {
  if (!__builtin_cpu_supports("avx512f")) GTEST_SKIP() << "no AVX-512 here";
  fill(g_from, 2);
  std::memset(&g_to, 0, sizeof g_to);
  const Gathered gathered = translated([] { copy_avx512(g_from.bytes, g_to.bytes); });
  EXPECT_EQ(std::memcmp(g_from.bytes + 128, g_to.bytes + 64, 64), 0);
  EXPECT_EQ(bytes_on(gathered, g_from), 64u);
  EXPECT_EQ(flags_on(gathered, g_from.bytes[128]), kReadOnly);
  EXPECT_EQ(flags_on(gathered, g_to.bytes[127]), kChanging);
}

// The log is larger than its memory; the set has more ranges than it may.
TEST(Bounds, ManyAccesses) {
  std::vector<long> numbers(1'600'000);
  long sum = 0;
  const auto add = [&](size_t count) {
    for (size_t i = 0; i < 16 * count; i += 16) sum += numbers[i] + 1;
  };
  Gathered gathered = translated([&] { add(100'000); });
  EXPECT_EQ(sum, 100'000);
  EXPECT_TRUE(gathered.overflown);
  EXPECT_EQ(gathered.left, Reason::overflow);
  gathered = translated([&] { add(100); });  // only that segment was given up
  EXPECT_FALSE(gathered.overflown);
  EXPECT_EQ(gathered.left, Reason::none);
  EXPECT_GE(bytes_on(gathered, numbers[16]), 8u);
}

TEST(Bounds, ALongSectionIsGivenUp) {
  volatile long counter = 0;
  const Gathered gathered = translated([&] {
    for (int i = 0; i < 2'000'000; ++i) counter = counter + 1;
  });
  EXPECT_EQ(counter, 2'000'000);
  EXPECT_EQ(gathered.left, Reason::long_section);
}

TEST(Bounds, ACopyIsOneRange) {
  static uint8_t from[100'000], to[100'000];
  std::memset(from, 3, sizeof from);
  const Gathered gathered = translated([&] { std::memcpy(to, from, sizeof to); });
  EXPECT_EQ(std::memcmp(from, to, sizeof to), 0);
  EXPECT_EQ(bytes_on(gathered, to), sizeof to);
  EXPECT_FALSE(gathered.overflown);
}

// A coroutine's stack is not the thread's: what lies below its stack pointer may be anybody's.
TEST(OwnStack, IsNotThatOfACoroutine) {
  translated([] {});  // attaches the thread
  fill(g_from, 1);
  Thread& thread = *t_thread.thread;
  thread.stack_begin = reinterpret_cast<uint64_t>(&g_from);
  thread.stack_end = thread.stack_begin + 1;
  const Gathered gathered = translated([] { g_to.bytes[0] = *const_cast<volatile uint8_t*>(g_from.bytes); });
  EXPECT_EQ(flags_on(gathered, g_from), kReadOnly);
  thread.stack_begin = thread.stack_end = 0;
}

TEST(OwnStack, HidesOnlyWhatLiesInIt) {
  static Segment segment;
  segment.begin();
  segment.add(2984, 16, kAccessWrite);  // the first of two that become one range
  segment.add(3000, 16, kAccessWrite);
  segment.add(1500, 8, kAccessWrite);  // lies within
  segment.set_private(1000, 2996);
  segment.add(2990, 10, kAccessRead);  // reaches out
  const auto ranges = segment.ranges();
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(ranges[0].begin, 2996u);
  EXPECT_EQ(ranges[0].length_bytes, 20u);
  EXPECT_EQ(ranges[1].begin, 2996u);
  EXPECT_EQ(ranges[1].length_bytes, 4u);
  segment.begin();
  segment.add(1500, 8, kAccessWrite);
  ASSERT_EQ(segment.ranges().size(), 1u);
}

// Of the frames that lie below where a segment began, those that still live where it ends are not its own.
TEST(OwnStack, HidesOnlyFramesThatHaveGone) {
  translated([] {});  // attaches the thread
  Thread& thread = *t_thread.thread;
  Translator& translator = test_translator();
  thread.stack_begin = 1000;
  thread.stack_end = 9000;
  const auto hidden = [&](uint64_t begin_sp, uint64_t end_sp, uint64_t address) {
    translator.begin_segment(begin_sp);
    translator.note(reinterpret_cast<void*>(address), 8, kAccessWrite);
    bool overflown;
    return translator.end_segment(end_sp, &overflown).empty();
  };
  EXPECT_TRUE(hidden(5000, 5000, 4000));
  EXPECT_FALSE(hidden(5000, 5000, 5000));
  EXPECT_FALSE(hidden(5000, 3000, 4000));  // its frame lives on
  EXPECT_FALSE(hidden(5000, 6000, 5500));  // its frame was there before
  EXPECT_TRUE(hidden(5000, 6000, 4000));
  EXPECT_FALSE(hidden(5000, 20'000, 4000));  // ends on another stack
  thread.stack_begin = thread.stack_end = 0;
}

TEST(Threads, RunAtOnce) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        int out = 0;
        const Gathered gathered = translated([&] { out = fibonacci(10) + static_cast<int>(std::to_string(i).size()); });
        if (out != 55 + (i < 10 ? 1 : i < 100 ? 2 : 3) || gathered.left != Reason::none) ++wrong;
      }
      test_translator().detach();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

// All code is forgotten, again and again, between their segments. How often that succeeds depends on who runs when, so
// the threads go on until it has often enough.
TEST(Threads, RunWhileTheCacheIsCleared) {
  const auto clears = [begin = test_translator().statistics().clears] {
    return test_translator().statistics().clears - begin;
  };
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  std::atomic<int> wrong{0}, inside{0};
  std::atomic<bool> enough{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; !enough; i = (i + 1) % 10) {
        int out = 0;
        const Gathered gathered = translated([&] { out = fibonacci(8) + static_cast<int>(std::to_string(i).size()); });
        if (out != 22) ++wrong;
        inside += gathered.left == Reason::none;
        if (i == 0) test_translator().clear();
      }
      test_translator().detach();
    });
  }
  while ((clears() < 4 || inside < 1'000) && std::chrono::steady_clock::now() < limit) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  enough = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GE(inside, 1'000);
  EXPECT_GE(clears(), 4u);
}

}  // namespace
}  // namespace contrafact::translate
