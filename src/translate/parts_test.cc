// Segments that are cut into parts.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "translate/accesses_for_test.h"

namespace contrafact::translate {
namespace {

namespace cuts {

volatile int first, second, third;

void write_first() {
  first = 1;
}
void write_second_slowly() {
  long rounds = 2'000'000;  // in a register, whatever the compiler does elsewhere: no access is made of them
  __asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(rounds)::"cc");
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
  if (is_emulated()) GTEST_SKIP() << "an emulator makes the first calls the long ones";
  constexpr uint64_t kTicksMin = 200'000;
  const Gathered gathered =
      translated_calls({cuts::write_first, cuts::write_first, cuts::write_second_slowly, cuts::write_third}, kTicksMin);
  EXPECT_EQ(gathered.left, Reason::none);
  // Another call has a part of its own if the thread lost its core during it: the slow call's part is not always the
  // last.
  const auto part_with = [&](volatile int& object) {
    return std::ranges::find_if(gathered.parts, [&](const auto& part) { return cuts::bytes(part, object) > 0; });
  };
  const auto found = part_with(cuts::second);
  ASSERT_NE(found, gathered.parts.end());
  ASSERT_NE(found, gathered.parts.begin());
  const auto& slow = *found;
  const auto& before = *(found - 1);
  EXPECT_EQ(cuts::bytes(slow, cuts::second), sizeof(int));
  EXPECT_EQ(cuts::bytes(slow, cuts::first) + cuts::bytes(slow, cuts::third), 0u);
  EXPECT_EQ(cuts::bytes(before, cuts::first), sizeof(int));
  const auto third = part_with(cuts::third);
  EXPECT_TRUE(third == gathered.parts.end() || third > found);
  EXPECT_EQ(cuts::bytes(third == gathered.parts.end() ? gathered.accesses : *third, cuts::third), sizeof(int));
  EXPECT_EQ(cuts::bytes(gathered.accesses, cuts::second), 0u);
  // The slow call lies between its call and the return from it, which is one place in the function that makes it.
  const auto at = static_cast<size_t>(found - gathered.parts.begin());
  const Cut &call = gathered.cuts[at - 1], &back = gathered.cuts[at];
  EXPECT_FALSE(call.is_after);
  EXPECT_TRUE(back.is_after);
  EXPECT_EQ(call.call, back.call);
  constexpr uint64_t kFunctionBytesMax = 4096;
  EXPECT_LT(call.call - reinterpret_cast<uint64_t>(&translated_calls), kFunctionBytesMax);
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

}  // namespace
}  // namespace contrafact::translate
