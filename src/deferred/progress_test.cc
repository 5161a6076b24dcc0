#include "deferred/progress.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "deferred/interleavings.h"

namespace contrafact::deferred {
namespace {

TEST(CheckpointLedger, CountsConsecutiveBuffersInEveryOrderOfCompletion) {
  for (size_t buffers = 1; buffers <= 7; ++buffers) {
    std::vector<uint64_t> order(buffers);
    std::iota(order.begin(), order.end(), 1);
    do {
      CheckpointLedger ledger;
      std::vector<bool> done(buffers + 2);
      for (const uint64_t number : order) {
        done[number] = true;
        uint64_t consecutive = 0;
        while (done[consecutive + 1]) ++consecutive;
        ASSERT_EQ(ledger.complete(number), consecutive);
      }
      ASSERT_EQ(ledger.consecutive(), buffers);
      ASSERT_EQ(ledger.early(), 0u);
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

#if defined(__SANITIZE_THREAD__)
#define SKIP_UNDER_TSAN GTEST_SKIP() << "fibers: one real thread, and ThreadSanitizer cannot follow their stacks"
#else
#define SKIP_UNDER_TSAN static_cast<void>(0)
#endif

using Sync = InterleavedSync;

using TestedProgress = BasicProgress<Sync>;
using TestedUnfinished = BasicUnfinished<Sync>;
using Program = Interleavings::Program;
using Found = Interleavings::Found;

constexpr uint64_t kBuffersMax = 4;

// Buffers of one producer, all submitted, and what has become of them.
template <typename Progress>
struct Model {
  Model(uint64_t buffers, bool ends) : buffers(buffers), ends(ends) {
    for (uint64_t i = 0; i < buffers; ++i) unfinished.began();
  }

  const uint64_t buffers;
  const bool ends;  // whether some thread waits for `unfinished`; the others need not count then
  Progress progress;
  TestedUnfinished unfinished;
  Sync::Atomic<uint32_t> queue{0};  // a bit for each buffer; its lock is held within one step
  std::array<bool, kBuffersMax + 1> made{};

  // Between two buffers a thread knows only which it runs next.
  void run(uint64_t number) {
    Interleavings::current()->forget(number);
    if (made[number]) Interleavings::current()->fail("a buffer was run twice");
    made[number] = true;
    progress.complete(number);
    if (ends) unfinished.ended();
  }
  bool help() {
    const uint32_t queued = queue.update([](uint32_t all) { return all & (all - 1); });
    if (queued != 0) run(std::countr_zero(queued));
    return queued != 0;
  }
  void put_back(uint64_t number) {
    queue.update([&](uint32_t all) { return all | 1u << number; });
  }
  void await(uint64_t number) {
    progress.await(number, [&] { return help(); });
    for (uint64_t i = 1; i <= number; ++i) {
      if (!made[i]) Interleavings::current()->fail("a checkpoint was reached early");
    }
  }
  // What the Adaptive processor's consumer does with a buffer; then it never gets a core again.
  void consume_part_and_starve(uint64_t number) {
    if (!progress.awaited() && !(ends && unfinished.awaited())) return run(number);
    put_back(number);
    progress.nudge();
    if (ends) unfinished.nudge();
  }
  bool all_made() const {
    return std::count(made.begin(), made.end(), true) == static_cast<long>(buffers) && progress.is_processed(buffers);
  }
};

// A model and its threads, each of which is given the model.
template <typename Progress = TestedProgress>
Found search(uint64_t buffers, std::vector<std::function<void(Model<Progress>&)>> threads, bool ends = false) {
  const Found found = Interleavings::search([&] {
    auto model = std::make_shared<Model<Progress>>(buffers, ends);
    Program program;
    for (const auto& thread : threads) program.threads.push_back([model, thread] { thread(*model); });
    program.holds_at_the_end = [model] { return model->all_made(); };
    return program;
  });
  std::printf("%s: %llu executions, %llu states\n", testing::UnitTest::GetInstance()->current_test_info()->name(),
              static_cast<unsigned long long>(found.executions), static_cast<unsigned long long>(found.states));
  return found;
}

template <typename Progress>
auto runs(std::vector<uint64_t> numbers) {
  return [numbers](Model<Progress>& model) {
    for (const uint64_t number : numbers) model.run(number);
  };
}
auto awaits(uint64_t number) {
  return [number](Model<TestedProgress>& model) { model.await(number); };
}
auto consumes_and_starves(uint64_t number) {
  return [number](Model<TestedProgress>& model) { model.consume_part_and_starve(number); };
}
constexpr auto kEnds = [](Model<TestedProgress>& model) {
  model.unfinished.await_all([&] { return model.help(); });
  for (uint64_t i = 1; i <= model.buffers; ++i) {
    if (!model.made[i]) Interleavings::current()->fail("the end came early");
  }
};

// Two threads share buffers 1 to 3 in every way and order, while a third waits for each of them.
TEST(Progress, AWaiterIsNeitherEarlyNorLostWhateverFinishesFirst) {
  SKIP_UNDER_TSAN;
  std::vector<uint64_t> order{1, 2, 3};
  do {
    const std::vector<uint64_t> one{order[0]}, other{order[1], order[2]};
    for (uint64_t number = 1; number <= 3; ++number) {
      const Found found = search<>(3, {runs<TestedProgress>(one), runs<TestedProgress>(other), awaits(number)});
      ASSERT_EQ(found.failure, "");
      ASSERT_GT(found.executions, 1u);
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(Progress, TwoWaitersAtDifferentCheckpoints) {
  SKIP_UNDER_TSAN;
  for (const auto& order : {std::vector<uint64_t>{2, 1}, std::vector<uint64_t>{1, 2}}) {
    EXPECT_EQ(search<>(2, {runs<TestedProgress>(order), awaits(1), awaits(2)}).failure, "");
  }
}

// One thread finishes all in the worst order: each of the last goes onto the heap.
TEST(Progress, TheWorstOrder) {
  SKIP_UNDER_TSAN;
  EXPECT_EQ(search<>(4, {runs<TestedProgress>({4, 3, 2, 1}), awaits(4), awaits(1)}).failure, "");
}

TEST(Progress, AWaiterHelpsWhereTheConsumerIsStarved) {
  SKIP_UNDER_TSAN;
  EXPECT_EQ(search<>(1, {consumes_and_starves(1), awaits(1)}).failure, "");
  EXPECT_EQ(search<>(2, {consumes_and_starves(2), consumes_and_starves(1), awaits(2)}).failure, "");
  EXPECT_EQ(search<>(2, {consumes_and_starves(1), runs<TestedProgress>({2}), awaits(2)}).failure, "");
}

TEST(Unfinished, TheEndWaitsForAllAndHelps) {
  SKIP_UNDER_TSAN;
  EXPECT_EQ(search<>(2, {runs<TestedProgress>({2}), runs<TestedProgress>({1}), kEnds}, true).failure, "");
  EXPECT_EQ(search<>(2, {consumes_and_starves(2), consumes_and_starves(1), kEnds}, true).failure, "");
}

// The search sees the mistakes that one could make here.
enum class Mistake { kLooksForWaitersTooEarly, kReadsEventsTooLate, kTakesTheLargestNumber };

template <Mistake mistake>
struct Mistaken {
  void complete(uint64_t number) {
    const bool was_awaited = awaited();
    {
      std::lock_guard lock(mutex);
      const uint64_t consecutive = ledger.complete(number);
      largest = std::max(largest, number);
      processed.store(mistake == Mistake::kTakesTheLargestNumber ? largest : consecutive);
    }
    if (mistake == Mistake::kLooksForWaitersTooEarly ? was_awaited : awaited()) {
      events.fetch_add(1);
      events.notify_all();
    }
  }
  bool awaited() const { return waiters.load() != 0; }
  bool is_processed(uint64_t number) const { return processed.load() >= number; }
  template <typename Help>
  void await(uint64_t number, Help help) {
    waiters.fetch_add(1);
    for (;;) {
      uint32_t seen = events.load();
      if (is_processed(number)) break;
      if (help()) continue;
      if (mistake == Mistake::kReadsEventsTooLate) seen = events.load();
      events.wait(seen);
    }
    waiters.fetch_sub(1);
  }
  Sync::Mutex mutex;
  CheckpointLedger ledger;
  uint64_t largest = 0;
  Sync::Atomic<uint64_t> processed{0};
  Sync::Atomic<uint32_t> waiters{0}, events{0};
};

template <Mistake mistake>
std::string failure_of() {
  using Progress = Mistaken<mistake>;
  return search<Progress>(2, {runs<Progress>({2}), runs<Progress>({1}), [](Model<Progress>& model) { model.await(2); }})
      .failure;
}

TEST(Interleavings, FindMistakes) {
  SKIP_UNDER_TSAN;
  EXPECT_EQ(failure_of<Mistake::kLooksForWaitersTooEarly>(), "a thread sleeps for ever");
  EXPECT_EQ(failure_of<Mistake::kReadsEventsTooLate>(), "a thread sleeps for ever");
  EXPECT_EQ(failure_of<Mistake::kTakesTheLargestNumber>(), "a checkpoint was reached early");
}

}  // namespace
}  // namespace contrafact::deferred
