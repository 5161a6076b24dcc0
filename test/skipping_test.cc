// What not_measured_test.py reads: three skipped tests, among others that say more than ctest keeps unasked.
#include <gtest/gtest.h>

#include <cstdio>

TEST(Skipping, Says) {
  for (int i = 0; i < 200; ++i) std::printf("line %d of much that is printed\n", i);
}
TEST(Skipping, WithReason) {
  GTEST_SKIP() << "this processor has no such thing";
}
TEST(Skipping, Passes) {}
TEST(Skipping, WithoutReason) {
  GTEST_SKIP();
}
TEST(Skipping, ForNoise) {
  GTEST_SKIP() << "not measured: no core was idle";
}
