#include "base/own_descriptors.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <thread>
#include <vector>

namespace contrafact::base {
namespace {

bool is_open(int descriptor) {
  return fcntl(descriptor, F_GETFD) >= 0;
}

bool has_close_range() {
  return syscall(SYS_close_range, ~0U, ~0U, 0) == 0;
}

TEST(OwnDescriptors, AThreadKeepsWhatTheOthersClose) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const int other = dup(ends[0]);
  bool kept = false, has_other = true, has_error = true;
  ssize_t written = -1;
  std::thread([&] {
    const std::vector<int> own{ends[1]};
    kept = keep_only(own);
    has_other = is_open(other) || is_open(ends[0]);
    has_error = is_open(STDERR_FILENO);
    written = write(ends[1], "x", 1);
  }).join();
  if (!has_close_range()) GTEST_SKIP() << "no close_range";
  EXPECT_TRUE(kept);
  EXPECT_FALSE(has_other);
  EXPECT_FALSE(has_error);
  EXPECT_EQ(written, 1);
  EXPECT_TRUE(is_open(other) && is_open(ends[0]) && is_open(ends[1]) && is_open(STDERR_FILENO));
  char byte;
  EXPECT_EQ(read(ends[0], &byte, 1), 1);
  for (const int descriptor : {ends[0], ends[1], other}) close(descriptor);
}

TEST(OwnDescriptors, TheProcesssCanBeBorrowed) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  bool kept = false;
  int borrowed = -1, error = 0;
  std::thread([&] {
    const std::vector<int> own{STDIN_FILENO};
    kept = keep_only(own);
    borrowed = borrow_from_process(ends[1]);
    error = errno;
    if (borrowed >= 0 && write(borrowed, "x", 1) != 1) borrowed = -2;
  }).join();
  if (!has_close_range()) GTEST_SKIP() << "no close_range";
  if (borrowed == -1 && (error == ENOSYS || error == EPERM)) GTEST_SKIP() << "no pidfd_getfd";
  ASSERT_TRUE(kept && borrowed >= 0);
  char byte = 0;
  EXPECT_EQ(read(ends[0], &byte, 1), 1);
  EXPECT_EQ(byte, 'x');
  close(ends[0]), close(ends[1]);
}

TEST(OwnDescriptors, NothingChangesWhereNothingIsKept) {
  EXPECT_FALSE(keep_only({}));
  EXPECT_TRUE(is_open(STDERR_FILENO));
}

}  // namespace
}  // namespace contrafact::base
