// Processes that restrict their system calls while, or before, their threads run translated: each would be killed for a
// call that its filter does not name. Each runs as a process of its own.
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <span>
#include <thread>
#include <vector>

#include "translate/raw_system_call.h"
#include "translate/system_calls.h"
#include "translate/translate_for_test.h"

namespace contrafact::translate {
namespace {

constexpr int kDone = 7;

// Only what ends a process, and lets a thread wait, is allowed.
struct Filter {
  sock_filter steps[6] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 3, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pause, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_yield, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{6, steps};
  Filter() { prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }
  long apply(long flags) const {
    return raw_system_call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, reinterpret_cast<long>(&program));
  }
};

[[noreturn]] void end_process(int status) {
  for (;;) raw_system_call(SYS_exit_group, status);
}

volatile uint64_t g_numbers[4096];
std::atomic<bool> g_stop{false};
std::atomic<int> g_running{0}, g_stopped{0};

// Nothing but translated code; and a log that fills up thousands of times a second.
void only_count() {
  uint64_t count = 0;
  while (!g_stop.load(std::memory_order_relaxed)) ++count;
  g_numbers[0] = count;
}
void fill_log() {
  for (uint64_t i = 0; !g_stop.load(std::memory_order_relaxed); ++i) g_numbers[i * 7 % 4096] = i;
}
// A thread whose accesses are streamed goes on translated, however many they are.
class Sink final : public AccessSink {
 public:
  void take(std::span<const Access>) override {}
  void flushed() override {}
  void missed(Reason) override {}
  bool is_wanted() const override { return true; }
};

void run_until_stopped(void (*body)()) {
  static Sink sink;
  if (!test_translator().attach(0, 0)) end_process(1);
  test_translator().stream_to(&sink);
  translated([&] {
    ++g_running;
    body();
    ++g_stopped;  // code that is met for the first time
    for (;;) raw_system_call(SYS_pause);
  });
}

void restrict_all_threads() {
  const Filter filter;
  std::vector<std::thread> threads;
  for (void (*body)() : {only_count, fill_log, fill_log, fill_log}) threads.emplace_back(run_until_stopped, body);
  while (g_running < 4) sched_yield();
  for (int i = 0; i < 20; ++i) sched_yield();
  test_translator().forbid_kernel_calls();
  if (filter.apply(SECCOMP_FILTER_FLAG_TSYNC) != 0) end_process(1);
  for (int i = 0; i < 20; ++i) sched_yield();
  g_stop = true;
  while (g_stopped < 4) sched_yield();
  end_process(kDone);
}

TEST(RestrictedDeathTest, AllThreadsLeaveTranslatedCodeWithoutASystemCall) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(restrict_all_threads(), testing::ExitedWithCode(kDone), "");
}

void restrict_oneself() {
  const Gathered before = translated([] { g_numbers[2] = 2; });
  if (before.left != Reason::none) end_process(1);
  test_translator().forbid_kernel_calls();
  if (Filter().apply(0) != 0) end_process(2);
  translated([] { g_numbers[3] = 3; });
  test_translator().begin_unload();
  test_translator().end_unload();
  const long unmapping[] = {SYS_munmap, 0, INT64_MAX, 0, 0, 0, 0};
  test_translator().invalidate_by(unmapping, 0, test_translator().expect(unmapping));
  test_translator().clear();
  test_translator().detach();
  const bool attached = test_translator().attach(0, 0);
  end_process(g_numbers[3] == 3 && !attached ? kDone : 3);
}

TEST(RestrictedDeathTest, NothingIsAskedOfTheKernelAfterwards) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(restrict_oneself(), testing::ExitedWithCode(kDone), "");
}

void fail_to_restrict() {
  Translator& translator = test_translator();
  for (const int others : {0, 1}) {
    for (int i = 0; i <= others; ++i) translator.forbid_kernel_calls();
    if (others == 1 && translator.allow_kernel_calls()) end_process(1);
    if (!translator.allow_kernel_calls()) end_process(2);
    const Gathered again = translated([] { g_numbers[2] = 2; });
    if (again.left != Reason::none) end_process(3);
  }
  translator.forbid_kernel_calls();
  translator.begin_unload();  // goes without
  if (translator.allow_kernel_calls()) end_process(4);
  const Gathered last = translated([] { g_numbers[3] = 3; });
  end_process(g_numbers[3] == 3 && last.left == Reason::disabled ? kDone : 5);
}

TEST(RestrictedDeathTest, ARestrictionThatFailsEndsNothingUnlessSomebodyWentWithout) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(fail_to_restrict(), testing::ExitedWithCode(kDone), "");
}

// By a bare system call, of which only translated code knows.
void restrict_from_translated_code() {
  static const Filter filter;
  long result = -1;
  translated([&] {
    result = filter.apply(0);
    for (int i = 0; i < 1000; ++i) g_numbers[i] = i;
  });
  translated([&] {
    for (int i = 0; i < 1000; ++i) g_numbers[i] = g_numbers[i] + 1;
  });
  end_process(result == 0 && g_numbers[999] == 1000 ? kDone : 1);
}

TEST(RestrictedDeathTest, ABareSystemCallInTranslatedCodeCounts) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(restrict_from_translated_code(), testing::ExitedWithCode(kDone), "");
}

TEST(Restricted, WhatOnlyAsksIsNoRestriction) {
  const auto restricts = [](long number, long a, long b, long c) {
    const long call[] = {number, a, b, c, 0, 0, 0};
    return restricts_system_calls(call);
  };
  EXPECT_TRUE(restricts(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, 0));
  EXPECT_TRUE(restricts(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, 4096));
  EXPECT_TRUE(restricts(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0));
  EXPECT_TRUE(restricts(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, 4096));
  EXPECT_FALSE(restricts(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 1, 0));
  EXPECT_FALSE(restricts(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, 0));
  EXPECT_FALSE(restricts(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, 4096));
  EXPECT_FALSE(restricts(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, 0));
  EXPECT_FALSE(restricts(SYS_prctl, PR_GET_SECCOMP, 0, 0));
}

}  // namespace
}  // namespace contrafact::translate
