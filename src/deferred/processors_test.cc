#include "deferred/processors.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <random>
#include <semaphore>
#include <thread>
#include <vector>

#include "deferred/environment_testing.h"
#include "deferred/hand_over_costs.h"

namespace contrafact::deferred {
namespace {

using namespace std::chrono_literals;

INSTANTIATE_TEST_SUITE_P(Deferred, EveryProcessor, testing::ValuesIn(kKinds), name_of);

TEST_P(EveryProcessor, MakesEachCallOnceFromManyThreads) {
  constexpr uint32_t kThreads = 6;
  constexpr uint64_t kCalls = 6'000;
  Journal journal(kThreads, kCalls);
  {
    auto environment = record_into(journal, make(GetParam()), {.capacity = 100});
    std::vector<std::thread> threads;
    for (uint32_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        std::minstd_rand random(t + 1);
        for (uint64_t done = 0; done < kCalls; done += kCalls / 20) {
          produce(*environment, t, done, done + kCalls / 20);
          if (random() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 500));
          if (random() % 8 == 0) environment->process_current_buffer();
        }
      });
    }
    for (auto& thread : threads) thread.join();
  }
  expect_each_once(journal);
  if (GetParam() == Kind::kSynchronous) {
    for (const auto& order : journal.order) EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  }
}

TEST_P(EveryProcessor, CheckpointsAreNeitherEarlyNorLost) {
  constexpr uint32_t kThreads = 4;
  constexpr uint64_t kCalls = 4'000, kStep = 250;
  Journal journal(kThreads, kCalls);
  auto environment = record_into(journal, make(GetParam()), {.capacity = 64});
  std::vector<std::thread> threads;
  std::atomic<uint64_t> early{0};
  for (uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::vector<Checkpoint> checkpoints;
      for (uint64_t done = 0; done < kCalls; done += kStep) {
        produce(*environment, t, done, done + kStep);
        const Checkpoint checkpoint = environment->create_checkpoint();
        checkpoints.push_back(checkpoint);
        if (done / kStep % 3 == t % 3) checkpoint.await_processed();
        if (!checkpoint.is_processed()) continue;
        for (uint64_t i = 0; i < done + kStep; ++i) early += journal.times[t][i] != 1;
      }
      checkpoints.back().await_processed();
      for (const Checkpoint& checkpoint : checkpoints) early += !checkpoint.is_processed();
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(early, 0u);
  environment.reset();
  expect_each_once(journal);
}

TEST_P(EveryProcessor, KeepsTheMemoryBoundAndDropsNothing) {
  constexpr uint32_t kThreads = 4;
  constexpr uint64_t kCalls = 20'000;
  constexpr uint64_t kMemory = 24 << 10;  // less than a buffer of the capacity for each thread
  Journal journal(kThreads, kCalls);
  auto environment = record_into(journal, make(GetParam()), {.capacity = 256, .memory_bytes_max = kMemory});
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < kThreads; ++t) threads.emplace_back([&, t] { produce(*environment, t, 0, kCalls); });
  for (auto& thread : threads) thread.join();
  environment->stop();
  const Engine::Statistics statistics = environment->statistics();
  constexpr uint64_t kSmall = 1024;  // bytes of a buffer of 16 calls, at most
  EXPECT_LE(statistics.memory_bytes_max, kMemory + kThreads * kSmall);
  EXPECT_GT(statistics.memory_bytes_max, 0u);
  EXPECT_EQ(statistics.calls, kThreads * kCalls);
  EXPECT_EQ(statistics.calls_dropped, 0u);
  if (GetParam() != Kind::kSynchronous) {
    EXPECT_GT(statistics.buffers_run_at_the_bound, 0u);
  }
  expect_each_once(journal);
}

// ---- checkpoints

// Keeps buffers until it is told to run them.
class Hoard final : public Processor {
 public:
  void process(FilledBuffer buffer) override {
    std::lock_guard lock(mutex_);
    buffers_.push_back(std::move(buffer));
  }
  bool help(const Client* producer) override {
    std::unique_lock lock(mutex_);
    asked = true;
    if (!helping) return false;
    const auto found = std::find_if(buffers_.begin(), buffers_.end(), [&](const FilledBuffer& buffer) {
      return !producer || buffer.producer() == producer;
    });
    if (found == buffers_.end()) return false;
    FilledBuffer taken = std::move(*found);
    buffers_.erase(found);
    lock.unlock();
    taken.run();
    return true;
  }
  FilledBuffer take(size_t place) {
    std::lock_guard lock(mutex_);
    FilledBuffer taken = std::move(buffers_[place]);
    buffers_.erase(buffers_.begin() + static_cast<long>(place));
    return taken;
  }
  size_t size() const { return buffers_.size(); }
  std::atomic<bool> asked{false}, helping{false};

 private:
  std::mutex mutex_;
  std::vector<FilledBuffer> buffers_;
};

TEST(Engine, ALongQueueOfSmallBuffersKeepsTheMemoryBoundToo) {
  constexpr uint32_t kThreads = 200;
  constexpr uint64_t kRounds = 20;
  constexpr uint64_t kMemory = 16 << 10, kSmall = 1024;
  Sum sum;
  auto hoard = std::make_unique<Hoard>();
  Hoard& keeps = *hoard;
  auto environment = add_into(sum, std::move(hoard), {.capacity = 256, .memory_bytes_max = kMemory});
  // One after another: each begins without a buffer, and nothing is processed before it has to be.
  for (uint32_t t = 0; t < kThreads; ++t) {
    std::thread([&] {
      for (uint64_t i = 0; i < kRounds; ++i) {
        environment->defer<&Sum::add>(1);
        environment->process_current_buffer();
      }
    }).join();
  }
  const Engine::Statistics statistics = environment->statistics();
  EXPECT_LE(statistics.memory_bytes_max, kMemory + kSmall);
  EXPECT_GT(statistics.buffers_run_at_the_bound, 0u);
  EXPECT_GT(keeps.size(), 0u);
  keeps.helping = true;
  environment->stop();
  EXPECT_EQ(sum.sum, kThreads * kRounds);
}

TEST(Checkpoint, IsReachedOnlyWhenAllEarlierBuffersAre) {
  Sum sum;
  auto owned = std::make_unique<Hoard>();
  Hoard& hoard = *owned;
  auto environment = add_into(sum, std::move(owned), {.capacity = 10});
  std::vector<Checkpoint> checkpoints{environment->create_checkpoint()};
  EXPECT_TRUE(checkpoints[0].is_processed()) << "nothing was deferred before it";
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 5; ++j) environment->defer<&Sum::add>(1);
    checkpoints.push_back(environment->create_checkpoint());
  }
  ASSERT_EQ(hoard.size(), 4u);
  // The worst order: the last first.
  for (size_t left = 4; left > 1; --left) {
    hoard.take(left - 1).run();
    for (size_t i = 1; i <= 4; ++i) EXPECT_FALSE(checkpoints[i].is_processed());
  }
  hoard.take(0).run();
  for (const Checkpoint& checkpoint : checkpoints) EXPECT_TRUE(checkpoint.is_processed());
  checkpoints.back().await_processed();
  environment.reset();
  EXPECT_TRUE(checkpoints.back().is_processed()) << "also after the environment's end";
}

TEST(Checkpoint, AForkedChildDoesNotWait) {
  Sum sum;
  auto hoard = std::make_unique<Hoard>();
  Hoard& keeps = *hoard;
  auto environment = add_into(sum, std::move(hoard));
  environment->defer<&Sum::add>(1);
  const Checkpoint before = environment->create_checkpoint();
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    before.await_processed();
    const Checkpoint after = environment->create_checkpoint();
    after.await_processed();
    _exit(before.is_processed() || after.is_processed() || sum.sum != 0);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(before.is_processed());
  keeps.helping = true;
  before.await_processed();
  EXPECT_EQ(sum.sum, 1u);
}

TEST(Checkpoint, AWaiterRunsItsOwnBuffersAndLeavesOthersAlone) {
  Sum sum;
  auto owned = std::make_unique<Hoard>();
  Hoard& hoard = *owned;
  hoard.helping = true;
  auto environment = add_into(sum, std::move(owned), {.capacity = 10});
  std::thread([&] { environment->defer<&Sum::add>(1); }).join();
  for (int i = 0; i < 25; ++i) environment->defer<&Sum::add>(100);
  environment->create_checkpoint().await_processed();
  EXPECT_EQ(sum.sum, 2500u);
  EXPECT_EQ(hoard.size(), 1u);
  environment.reset();
  EXPECT_EQ(sum.sum, 2501u) << "the end helps with all";
}

// A consumer that never gets a core, as in the paper's section 4.3: here, one that another producer's call blocks.
class EachWithConsumers : public EveryProcessor {};
INSTANTIATE_TEST_SUITE_P(Deferred, EachWithConsumers, testing::Values(Kind::kPoolOfOne, Kind::kAdaptive), name_of);
TEST_P(EachWithConsumers, AWaiterDoesNotStarve) {
  struct Blocking {
    void call(std::binary_semaphore* gate) {
      if (gate) gate->acquire();
      ++made;
    }
    std::atomic<int> made{0};
  } blocking;
  using BlockingEnvironment = Environment<&Blocking::call>;
  auto environment = created(BlockingEnvironment::create(blocking, GetParam() == Kind::kAdaptive
                                                                       ? made(adaptive({.consumers = 1, .queue = 100}))
                                                                       : made(pool({.consumers = 1, .queue = 100}))));
  std::binary_semaphore gate(0);
  std::thread([&] {
    environment->defer<&Blocking::call>(&gate);
    environment->process_current_buffer();
  }).join();
  for (int i = 0; i < 10; ++i) {
    environment->defer<&Blocking::call>(nullptr);
    environment->create_checkpoint().await_processed();
  }
  EXPECT_EQ(blocking.made, 10);
  gate.release();
}

// A consumer of low priority puts back what a waiter needs.
TEST(Checkpoint, AWaiterTakesOverAHalfRunBuffer) {
  constexpr uint32_t kCalls = 3 * kCallsOfAPart;
  struct ByThread {
    void call() { ++(std::this_thread::get_id() == consumer ? by_consumer : by_waiter); }
    std::thread::id consumer = std::this_thread::get_id();
    uint32_t by_consumer = 0, by_waiter = 0;
  } calls;
  auto owned = std::make_unique<Hoard>();
  Hoard& hoard = *owned;
  auto environment = created(Environment<&ByThread::call>::create(calls, std::move(owned), {.capacity = kCalls}));
  std::thread waiter([&] {
    for (uint32_t i = 0; i < kCalls; ++i) environment->defer<&ByThread::call>();
    environment->create_checkpoint().await_processed();
  });
  while (!hoard.asked) std::this_thread::yield();  // the waiter found nothing to help with
  FilledBuffer buffer = hoard.take(0);
  EXPECT_FALSE(buffer.run_unless_awaited());
  EXPECT_EQ(calls.by_consumer, kCallsOfAPart);
  hoard.helping = true;
  Waiters waiters = buffer.waiters();
  hoard.process(std::move(buffer));
  waiters.nudge();
  waiter.join();
  EXPECT_EQ(calls.by_consumer, kCallsOfAPart);
  EXPECT_EQ(calls.by_waiter, kCalls - kCallsOfAPart);
}

// ---- synchronisers as arguments, deferring from deferred methods, users' processors, foreign producers

TEST_P(EveryProcessor, SemaphoresAndFuturesAsArguments) {
  struct Asking {
    void answer(std::promise<uint64_t>* promise, uint64_t n) { promise->set_value(n * 2); }
    void signal(std::binary_semaphore* done) { done->release(); }
  } asking;
  using AskingEnvironment = Environment<&Asking::answer, &Asking::signal>;
  auto environment = created(AskingEnvironment::create(asking, make(GetParam())));
  std::promise<uint64_t> promise;
  std::binary_semaphore done(0);
  environment->defer<&Asking::answer>(&promise, 21);
  environment->defer<&Asking::signal>(&done);
  environment->process_current_buffer();
  EXPECT_EQ(promise.get_future().get(), 42u);
  done.acquire();
}

// Each call defers two more, until a depth; the consumers themselves become producers, and the queue is short.
struct Tree {
  void node(uint32_t depth);
  std::atomic<uint64_t> nodes{0};
  Environment<&Tree::node>* environment = nullptr;
};
using TreeEnvironment = Environment<&Tree::node>;
void Tree::node(uint32_t depth) {
  ++nodes;
  for (int i = 0; depth > 0 && i < 2; ++i) environment->defer<&Tree::node>(depth - 1);
}

TEST_P(EveryProcessor, DeferredMethodsMayDefer) {
  Tree tree;
  auto environment = created(TreeEnvironment::create(tree, make(GetParam()), {.capacity = 20}));
  tree.environment = environment.get();
  environment->defer<&Tree::node>(12u);
  environment.reset();  // also for what consumers have deferred meanwhile
  EXPECT_EQ(tree.nodes, (1u << 13) - 1);
}

TEST(Environment, AProcessorOfTheUsers) {
  struct AThreadForEach : Processor {
    ~AThreadForEach() override {
      for (auto& thread : threads) thread.join();
    }
    void process(FilledBuffer buffer) override {
      std::lock_guard lock(mutex);
      threads.emplace_back([buffer = std::move(buffer)]() mutable { buffer.run(); });
    }
    std::mutex mutex;
    std::vector<std::thread> threads;
  };
  struct Forgetful : Processor {
    void process(FilledBuffer) override {}
  };
  for (const bool forgetful : {false, true}) {
    Sum sum;
    std::unique_ptr<Processor> processor = std::make_unique<AThreadForEach>();
    if (forgetful) processor = std::make_unique<Forgetful>();
    auto environment = add_into(sum, std::move(processor), {.capacity = 10});
    for (int i = 0; i < 105; ++i) environment->defer<&Sum::add>(1);
    environment.reset();
    EXPECT_EQ(sum.sum, 105u);
  }
}

// As code injected into a JVM does: plain stores, and swap() through a pointer.
TEST_P(EveryProcessor, AForeignProducerAppendsToTheSameBuffers) {
  constexpr uint64_t kCalls = 5'000;
  Journal journal(2, kCalls);
  auto environment = record_into(journal, make(GetParam()), {.capacity = 100}, false);
  Engine& engine = environment->engine();
  constexpr uint16_t kPlain = RecordingEnvironment::Calls::number_of<&Recording::plain>();
  constexpr size_t kProducers = RecordingEnvironment::Calls::column_of<uint32_t>();
  constexpr size_t kNumbers = RecordingEnvironment::Calls::column_of<uint64_t>();
  const auto append = [&](contrafact_buffer*& buffer, uint32_t producer, uint64_t number) {
    if (buffer->committed >= buffer->capacity) {
      buffer = reinterpret_cast<Client*>(buffer->owner)->swap();
      if (!buffer) return false;
    }
    const uint32_t n = buffer->committed;
    reinterpret_cast<uint16_t*>(buffer->ids)[n] = kPlain;
    reinterpret_cast<uint32_t*>(buffer->column[kProducers])[buffer->cursor[kProducers]++] = producer;
    reinterpret_cast<uint64_t*>(buffer->column[kNumbers])[buffer->cursor[kNumbers]++] = number;
    std::atomic_ref(buffer->committed).store(n + 1, std::memory_order_release);
    return true;
  };
  // The first detaches; the second appends while the engine stops, as a daemon thread does.
  std::thread([&] {
    Client* client = engine.attach(0);
    contrafact_buffer* buffer = client->buffer();
    for (uint64_t i = 0; i < kCalls; ++i) append(buffer, 0, i);
    engine.detach(client);
  }).join();
  std::atomic<uint64_t> appended{0};
  std::thread daemon([&] {
    contrafact_buffer* buffer = engine.attach(1)->buffer();
    for (uint64_t i = 0; i < kCalls; ++i) {
      if (!append(buffer, 1, i)) break;
      appended = i + 1;
    }
  });
  while (appended < kCalls / 2) std::this_thread::yield();
  const uint64_t before_the_stop = appended;
  engine.stop();
  uint64_t made_calls = 0;
  while (made_calls < kCalls && journal.times[1][made_calls] == 1) ++made_calls;
  daemon.join();
  EXPECT_GE(made_calls, before_the_stop);
  for (uint64_t i = made_calls; i < kCalls; ++i) ASSERT_EQ(journal.times[1][i], 0) << "the first so many, each once";
  for (const auto& times : journal.times[0]) ASSERT_EQ(times, 1);
  EXPECT_EQ(journal.broken_buffers, 0u);
}

TEST(Adaptive, NeverBlocksAProducer) {
  struct Blocking {
    void call(std::counting_semaphore<>* gate) {
      if (gate) gate->acquire();
      ++made;
    }
    std::atomic<int> made{0};
  } blocking;
  using BlockingEnvironment = Environment<&Blocking::call>;
  auto environment =
      created(BlockingEnvironment::create(blocking, made(adaptive({.consumers = 1, .queue = 1})), {.capacity = 1}));
  std::counting_semaphore<> gate(0);
  std::thread([&] { environment->defer<&Blocking::call>(&gate); }).join();
  // The consumer is stuck, and the queue has room for one: the producer makes nearly all of its calls itself.
  for (int i = 0; i < 1000; ++i) environment->defer<&Blocking::call>(nullptr);
  EXPECT_GE(blocking.made, 990);
  gate.release();
}

TEST(HandOverCosts, WhatIsNotKnownIsLearnt) {
  HandOverCosts costs;
  EXPECT_TRUE(costs.pays(10));
  costs.ran(1000, 1);
  EXPECT_TRUE(costs.pays(10));
  costs.handed_over(1'000'000);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(costs.pays(10), i == 0) << i;
}

TEST(HandOverCosts, ABufferOfFewOrCheapCallsIsRunInPlace) {
  HandOverCosts costs;
  costs.ran(10'000, 50'000);  // 5 ns a call
  costs.handed_over(2'000);
  EXPECT_TRUE(costs.pays(10'000));
  EXPECT_TRUE(costs.pays(401));
  int handed_over = 0;
  for (int i = 0; i < 640; ++i) handed_over += costs.pays(399);
  EXPECT_EQ(handed_over, 10);  // to learn
}

// A thread whose core was taken away meanwhile says little.
TEST(HandOverCosts, TheLeastOfTheLastCounts) {
  HandOverCosts costs;
  costs.handed_over(2'000);
  costs.ran(100, 100);
  for (int i = 0; i < 7; ++i) costs.ran(100, 9'000'000);
  costs.pays(100);  // one in 64
  EXPECT_FALSE(costs.pays(100));
  costs.ran(100, 9'000'000);  // now none of them is short
  EXPECT_TRUE(costs.pays(100));
}

TEST(Pool, BlocksAProducerWhileTheQueueIsFull) {
  struct Blocking {
    void call(std::counting_semaphore<>* gate) {
      gate->acquire();
      ++made;
    }
    std::atomic<int> made{0};
  } blocking;
  using BlockingEnvironment = Environment<&Blocking::call>;
  auto environment =
      created(BlockingEnvironment::create(blocking, made(pool({.consumers = 1, .queue = 2})), {.capacity = 1}));
  std::counting_semaphore<> gate(0);
  std::atomic<int> deferred{0};
  std::thread producer([&] {
    for (; deferred < 10; ++deferred) environment->defer<&Blocking::call>(&gate);
  });
  std::this_thread::sleep_for(50ms);
  EXPECT_LE(deferred, 1 + 2 + 2) << "one run, two queued, one being submitted, one being filled";
  gate.release(10);
  producer.join();
  environment.reset();
  EXPECT_EQ(blocking.made, 10);
}

}  // namespace
}  // namespace contrafact::deferred
