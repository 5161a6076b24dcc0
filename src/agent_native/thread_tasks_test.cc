#include "agent_native/thread_tasks.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace contrafact::agent_native {
namespace {

constexpr pthread_t kBase = 0x7f0000000000;  // handles are addresses of threads' blocks

TEST(ThreadTasks, AHandleNamesItsLatestTask) {
  auto tasks = std::make_unique<ThreadTasks>();
  EXPECT_EQ(tasks->of(kBase), ThreadTasks::kNone);
  tasks->set(kBase, 0);
  EXPECT_EQ(tasks->of(kBase), 0u);
  tasks->set(kBase, 7);
  EXPECT_EQ(tasks->of(kBase), 7u);
  tasks->forget(kBase);
  EXPECT_EQ(tasks->of(kBase), ThreadTasks::kNone);
  tasks->set(kBase, 9);
  tasks->forget(kBase, 7);  // another's by now
  EXPECT_EQ(tasks->of(kBase), 9u);
  tasks->forget(kBase, 9);
  EXPECT_EQ(tasks->of(kBase), ThreadTasks::kNone);
  tasks->forget(kBase + 64);  // never known
  EXPECT_EQ(tasks->of(kBase + 64), ThreadTasks::kNone);
}

// More than the table can hold: those that it has stay right, and the others are unknown.
TEST(ThreadTasks, OfMoreHandlesThanThereIsRoomFor) {
  auto tasks = std::make_unique<ThreadTasks>();
  constexpr uint32_t kThreads = 60'000;
  constexpr uint64_t kStackBytes = (8 << 20) + 4096;
  for (uint32_t i = 0; i < kThreads; ++i) tasks->set(kBase + i * kStackBytes, i);
  uint32_t known = 0;
  for (uint32_t i = 0; i < kThreads; ++i) {
    const uint32_t task = tasks->of(kBase + i * kStackBytes);
    if (task == ThreadTasks::kNone) continue;
    EXPECT_EQ(task, i);
    ++known;
  }
  EXPECT_GT(known, 20'000u);
  EXPECT_LT(known, kThreads);
}

TEST(ThreadTasks, OfThreadsThatAreMadeAtTheSameTime) {
  auto tasks = std::make_unique<ThreadTasks>();
  constexpr uint32_t kMakers = 4, kEach = 2000;
  std::vector<std::thread> makers;
  for (uint32_t maker = 0; maker < kMakers; ++maker) {
    makers.emplace_back([&, maker] {
      for (uint32_t i = 0; i < kEach; ++i) {
        // Makers take neighbouring places, and each task is also set by the thread itself.
        const pthread_t thread = kBase + (uint64_t{i} * kMakers + maker) * 4096;
        tasks->set(thread, i * kMakers + maker);
        tasks->set(thread, i * kMakers + maker);
      }
    });
  }
  for (std::thread& maker : makers) maker.join();
  for (uint32_t i = 0; i < kMakers * kEach; ++i) ASSERT_EQ(tasks->of(kBase + uint64_t{i} * 4096), i);
}

}  // namespace
}  // namespace contrafact::agent_native
