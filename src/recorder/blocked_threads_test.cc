// Reads from the kernel which system call a thread is blocked in.
#include "recorder/blocked_threads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <thread>

#include "base/clock.h"

namespace contrafact::recorder {
namespace {

TEST(BlockedThreads, LinesAreReadOrPassedOver) {
  const auto blocked = system_call_in("202 0x7f12 0x80 0x2 0x0 0x0 0xffffffff 0x7ffc0 0x401005\n");
  ASSERT_TRUE(blocked);
  EXPECT_EQ(blocked->system_call, 202u);
  EXPECT_EQ(blocked->first_argument, 0x7f12u);
  EXPECT_EQ(blocked->code, 0x401005u);
  for (const char* line :
       {"running\n", "-1 0x7ffc0 0x401005\n", "", "202\n", "202 0x1 0x2 0x3 0x4 0x5 0x6 0x7\n", "x 0x1"})
    EXPECT_FALSE(system_call_in(line)) << line;
}

int g_word = 1;

TEST(BlockedThreads, AThreadInAFutexOfItsOwnIsFound) {
  const pid_t child = fork();
  if (child == 0) {
    for (;;) {
      long result = SYS_futex;
      register long timeout __asm__("r10") = 0;
      __asm__ volatile("syscall"
                       : "+a"(result)
                       : "D"(&g_word), "S"(FUTEX_WAIT_PRIVATE), "d"(1), "r"(timeout)
                       : "rcx", "r11", "memory");
    }
  }
  ASSERT_GT(child, 0);
  BlockedThreads threads(child);
  // A sanitizer has a thread of its own in each process.
  std::optional<BlockedThread> found;
  const int64_t begin_ns = base::monotonic_ns();
  for (int64_t now_ns = begin_ns; !found && now_ns - begin_ns < 60'000'000'000; now_ns = base::monotonic_ns()) {
    for (const BlockedThread& thread : threads.look(now_ns)) {
      if (thread.os_tid == static_cast<uint32_t>(child)) found = thread;
    }
    threads.found(true);
    std::this_thread::yield();
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->system_call, static_cast<uint32_t>(SYS_futex));
  EXPECT_EQ(found->first_argument, reinterpret_cast<uint64_t>(&g_word));
}

TEST(BlockedThreads, LooksAreSeldomWhereNothingIsFound) {
  BlockedThreads threads(getpid());
  int64_t now_ns = int64_t{1} << 40;
  EXPECT_THAT(threads.look(now_ns), testing::SizeIs(testing::Ge(0u)));
  for (int i = 0; i < 10; ++i) threads.found(false);
  EXPECT_TRUE(threads.look(now_ns + BlockedThreads::kSeldomNs - 1).empty());
}

}  // namespace
}  // namespace contrafact::recorder
