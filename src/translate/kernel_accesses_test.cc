// System calls in translated code: the kernel's reads and writes are in the set.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "translate/accesses_for_test.h"

namespace contrafact::translate {
namespace {

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

// The code of the kernel's page runs in the program: its writes are the program's.
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

// A child of vfork uses its parent's memory, but its calls say nothing of its parent.
__attribute__((noinline)) void do_nothing() {
  __asm__ volatile("");
}

TEST(SystemCalls, VforkLeavesTheParentAsItIs) {
  if (is_emulated()) GTEST_SKIP() << "qemu-user gives a child of vfork memory of its own";
  static uint64_t entered;
  const pid_t child = vfork();
  if (child == 0) {
    entered = test_translator().enter(reinterpret_cast<uint64_t>(&do_nothing));
    t_thread.mode = Mode::native;
    test_translator().begin_unload();
    test_translator().end_unload();
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

}  // namespace
}  // namespace contrafact::translate
