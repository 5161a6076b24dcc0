// Instructions whose accesses are not those of one operand: strings, bit strings, gathers, scatters.
#include <gtest/gtest.h>
#include <immintrin.h>

#include <cstring>

#include "translate/accesses_for_test.h"

namespace contrafact::translate {
namespace {

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

}  // namespace
}  // namespace contrafact::translate
