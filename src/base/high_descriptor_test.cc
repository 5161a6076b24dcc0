#include "base/high_descriptor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace contrafact::base {
namespace {

// The limit of descriptors, set back at the end.
class Limit {
 public:
  explicit Limit(rlim_t most) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit limit{most, before_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  }
  ~Limit() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

bool is_null(int descriptor) {
  struct stat of_null, of_descriptor;
  return stat("/dev/null", &of_null) == 0 && fstat(descriptor, &of_descriptor) == 0 &&
         of_null.st_rdev == of_descriptor.st_rdev;
}

TEST(HighDescriptor, TakesTheHighestQuarterAndLeavesTheLowNumber) {
  const Limit limit(400);
  const int low = open("/dev/null", O_RDONLY);
  const int first = moved_high(low), second = moved_high(open("/dev/null", O_RDONLY));
  EXPECT_EQ(first, 300);
  EXPECT_EQ(second, 301);
  EXPECT_TRUE(is_null(first));
  EXPECT_EQ(fcntl(first, F_GETFD), FD_CLOEXEC);
  EXPECT_EQ(fcntl(low, F_GETFD), -1) << "still open";
  close(first);
  close(second);
}

TEST(HighDescriptor, StaysBelowAFewThousand) {
  rlimit most{};
  getrlimit(RLIMIT_NOFILE, &most);
  if (most.rlim_max < 8192) GTEST_SKIP() << "this process may have only " << most.rlim_max << " descriptors";
  const Limit limit(most.rlim_max);
  const int high = moved_high(open("/dev/null", O_RDONLY));
  EXPECT_EQ(high, 3072);
  close(high);
}

TEST(HighDescriptor, StaysWhereItIsIfNothingIsFree) {
  const int low = open("/dev/null", O_RDONLY);
  {
    const Limit limit(static_cast<rlim_t>(low) + 1);
    const int same = moved_high(low);
    EXPECT_EQ(same, low);
    EXPECT_TRUE(is_null(same));
    close(same);
  }
  EXPECT_EQ(moved_high(-1), -1);
}

}  // namespace
}  // namespace contrafact::base
