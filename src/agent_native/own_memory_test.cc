#include "agent_native/own_memory.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstring>
#include <ctime>
#include <map>
#include <random>
#include <thread>
#include <vector>

namespace contrafact::agent_native {
namespace {

constexpr size_t kSizes[] = {0, 1, 15, 16, 17, 48, 100, 1000, 8176, 8177, 10'000, 70'000};
constexpr size_t kAlignments[] = {1, 8, 16, 64, 4096};

// Random blocks of one thread, each full of a byte of its own.
void use(OwnMemory& memory, uint32_t seed, int rounds) {
  std::minstd_rand random(seed);
  struct Block {
    unsigned char* at;
    size_t bytes;
    unsigned char value;
  };
  std::vector<Block> blocks;
  for (int i = 0; i < rounds; ++i) {
    if (blocks.size() < 50 && random() % 2 == 0) {
      const size_t bytes = kSizes[random() % std::size(kSizes)],
                   alignment = kAlignments[random() % std::size(kAlignments)];
      auto* const at = static_cast<unsigned char*>(memory.allocate(bytes, alignment));
      ASSERT_NE(at, nullptr);
      ASSERT_EQ(reinterpret_cast<uintptr_t>(at) % alignment, 0u);
      const auto value = static_cast<unsigned char>(random());
      std::memset(at, value, bytes);
      blocks.push_back({at, bytes, value});
    } else if (!blocks.empty()) {
      const size_t chosen = random() % blocks.size();
      const Block block = blocks[chosen];
      for (size_t k = 0; k < block.bytes; ++k) ASSERT_EQ(block.at[k], block.value);
      memory.release(block.at);
      blocks[chosen] = blocks.back();
      blocks.pop_back();
    }
  }
  for (const Block& block : blocks) memory.release(block.at);
}

TEST(OwnMemory, BlocksAreAlignedAndApart) {
  static constinit OwnMemory memory;
  use(memory, 1, 20'000);
}

TEST(OwnMemory, IsUsedByThreadsAtOnce) {
  static constinit OwnMemory memory;
  std::vector<std::thread> threads;
  for (uint32_t seed = 1; seed <= 4; ++seed) threads.emplace_back([seed] { use(memory, seed, 20'000); });
  for (std::thread& thread : threads) thread.join();
}

TEST(OwnMemory, SmallBlocksAreHandedOutAgain) {
  static constinit OwnMemory memory;
  void* const first = memory.allocate(100, 16);
  memory.release(first);
  EXPECT_EQ(memory.allocate(100, 16), first);
}

TEST(OwnMemory, TooMuchIsRefused) {
  static constinit OwnMemory memory;
  EXPECT_EQ(memory.allocate(SIZE_MAX, 16), nullptr);
  EXPECT_EQ(memory.allocate(size_t{1} << 60, 16), nullptr);
}

constinit OwnMemory g_interrupted;
volatile int g_handled = 0;

// A handler that comes at any instruction uses it, too.
TEST(OwnMemory, IsUsedInHandlers) {
  std::signal(SIGALRM, [](int) {
    void* blocks[20];
    for (size_t i = 0; i < 20; ++i) blocks[i] = g_interrupted.allocate(16 << (i % 7), 16);
    for (void* block : blocks) g_interrupted.release(block);
    g_handled = g_handled + 1;
  });
  timer_t timer;
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGALRM;
  ASSERT_EQ(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
  const itimerspec every{{0, 50'000}, {0, 50'000}};
  timer_settime(timer, 0, &every, nullptr);
  for (uint32_t seed = 1; g_handled < 200; ++seed) use(g_interrupted, seed, 1000);
  timer_delete(timer);
  std::signal(SIGALRM, SIG_DFL);
}

}  // namespace
}  // namespace contrafact::agent_native
