// Signals that interrupt translated code: what their handlers see, and how the program goes on.
#include <gtest/gtest.h>
#include <setjmp.h>
#include <sys/time.h>
#include <ucontext.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <numeric>
#include <vector>

#include "translate/translate_for_test.h"

namespace contrafact::translate {
namespace {

volatile sig_atomic_t g_handled;
volatile bool g_saw_cache;
void handler(int, siginfo_t*, void* context) {
  auto* machine = static_cast<ucontext_t*>(context);
  test_translator().fix_context(machine);
  if (test_translator().is_in_cache(static_cast<uint64_t>(machine->uc_mcontext.gregs[REG_RIP]))) g_saw_cache = true;
  g_handled = g_handled + 1;
}

// While it lives, SIGPROF comes after every `every_us` of CPU time.
class ProfilingSignals {
 public:
  ProfilingSignals(void (*on_signal)(int, siginfo_t*, void*), suseconds_t every_us) {
    struct sigaction action{};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigaction(SIGPROF, &action, &before_);
    set_timer(every_us);
  }
  ~ProfilingSignals() {
    set_timer(0);
    sigaction(SIGPROF, &before_, nullptr);
  }

 private:
  static void set_timer(suseconds_t every_us) {
    const itimerval timer{{0, every_us}, {0, every_us}};
    setitimer(ITIMER_PROF, &timer, nullptr);
  }
  struct sigaction before_{};
};

// Signals at every place of translated code: whatever the handler interrupts goes on natively, with the right
// registers.
TEST(Signals, FindTheProgramsOwnState) {
  g_saw_cache = false;
  int interrupted = 0;
  uint64_t expected = 0;
  const auto work = [](uint64_t& sum) {
    for (uint64_t i = 0; i < 300; ++i) {
      std::vector<uint64_t> numbers(64);
      std::iota(numbers.begin(), numbers.end(), i);
      char text[64];
      snprintf(text, sizeof text, "%lu %s", i, "x");
      for (const uint64_t n : numbers) sum = sum * 31 + n + static_cast<uint64_t>(text[0]);
    }
  };
  work(expected);
  {
    const ProfilingSignals signals(handler, 211);
    for (int round = 0; round < 400; ++round) {
      uint64_t sum = 0;
      const Gathered gathered = translated([&] { work(sum); });
      ASSERT_EQ(sum, expected);
      interrupted += gathered.left == Reason::signal;
    }
  }
  EXPECT_GT(g_handled, 10);
  EXPECT_GT(interrupted, 5);
  EXPECT_FALSE(g_saw_cache);
}

std::atomic<int> g_on_private_stack{0};
void stack_handler(int number, siginfo_t* info, void* context) {
  handler(number, info, context);
  const auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
  const auto sp = static_cast<uint64_t>(machine.gregs[REG_RSP]);
  const auto here = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  if (sp - here > 1 << 20 || t_thread.mode == Mode::slow) g_on_private_stack = g_on_private_stack + 1;
}

// Code that needs C++ all the time: no handler ever finds itself on the translator's stack, or C++ at work.
TEST(Signals, DoNotInterruptTheTranslator) {
  static uint64_t bits[4];
  const int handled_before = g_handled;
  g_saw_cache = false;
  int interrupted = 0;
  {
    const ProfilingSignals signals(stack_handler, 101);
    for (int round = 0; round < 3000; ++round) {
      uint64_t sum = 0;
      const Gathered gathered = translated([&] {
        for (uint64_t i = 0; i < 200; ++i) {
          __asm__ volatile("btsq %1, %0" : "+m"(bits[0]) : "r"(i % 256) : "cc", "memory");
          sum = sum * 31 + i;
        }
      });
      uint64_t expected = 0;
      for (uint64_t i = 0; i < 200; ++i) expected = expected * 31 + i;
      ASSERT_EQ(sum, expected);
      interrupted += gathered.left == Reason::signal;
    }
  }
  EXPECT_GT(g_handled, handled_before);
  EXPECT_GT(interrupted, 0);
  EXPECT_EQ(g_on_private_stack, 0);
  EXPECT_FALSE(g_saw_cache);
}

sigjmp_buf g_jump;
void fault_handler(int, siginfo_t*, void* context) {
  test_translator().fix_context(static_cast<ucontext_t*>(context));
  siglongjmp(g_jump, 1);
}

TEST(Signals, FaultsAndJumpsOut) {
  struct sigaction action{}, before;
  action.sa_sigaction = fault_handler;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, &before);
  int survived = 0;
  for (int i = 0; i < 5; ++i) {
    if (sigsetjmp(g_jump, 1) == 0) {
      translated([] { __asm__ volatile("movl $1, (%0)" ::"r"(nullptr) : "memory"); });
    } else {
      end_abandoned();
      ++survived;
    }
  }
  sigaction(SIGSEGV, &before, nullptr);
  EXPECT_EQ(survived, 5);
}

}  // namespace
}  // namespace contrafact::translate
