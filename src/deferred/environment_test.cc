#include "deferred/environment.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <future>
#include <latch>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "deferred/environment_testing.h"

namespace contrafact::deferred {
namespace {

using namespace std::chrono_literals;

class EnvironmentWithEachProcessor : public EveryProcessor {};
INSTANTIATE_TEST_SUITE_P(Deferred, EnvironmentWithEachProcessor, testing::ValuesIn(kKinds), name_of);

// Nobody passes before it is opened.
struct Gate {
  void pass() {
    reached.release();
    open.acquire();
    ++passed;
  }
  std::counting_semaphore<> reached{0}, open{0};
  std::atomic<unsigned> passed{0};
};

// ---- the ends of threads and environments

TEST_P(EnvironmentWithEachProcessor, AThreadsLastBufferIsSubmittedHoweverItEnds) {
  Sum sum;
  auto environment = add_into(sum, make(GetParam()));
  std::thread([&] { environment->defer<&Sum::add>(1); }).join();
  std::async(std::launch::async, [&] {
    environment->defer<&Sum::add>(10);
    throw std::runtime_error("end of thread");
  }).wait();
  std::thread([&] {
    environment->defer<&Sum::add>(100);
    pthread_exit(nullptr);
  }).join();
  std::thread([&] {
    struct AtThreadEnd {
      SumEnvironment& environment;
      ~AtThreadEnd() { environment.defer<&Sum::add>(1000); }
    };
    thread_local std::unique_ptr<AtThreadEnd> at_end;
    at_end.reset(new AtThreadEnd{*environment});
  }).join();
  while (environment->statistics().calls < 4) std::this_thread::sleep_for(1ms);  // before the environment ends
  EXPECT_EQ(sum.sum, 1111u);
}

TEST_P(EnvironmentWithEachProcessor, TheEnvironmentsEndWaitsForThreadsThatLiveOn) {
  Sum sum;
  std::latch deferred(3), ended(1);
  std::vector<std::thread> threads;
  auto environment = add_into(sum, make(GetParam()));
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 10 + t; ++i) environment->defer<&Sum::add>(1);
      deferred.count_down();
      ended.wait();  // and end only after the environment
    });
  }
  deferred.wait();
  environment->defer<&Sum::add>(100);
  environment.reset();
  EXPECT_EQ(sum.sum, 133u);
  ended.count_down();
  for (auto& thread : threads) thread.join();
}

TEST_P(EnvironmentWithEachProcessor, EnvironmentsOfOneClassSideBySide) {
  constexpr size_t kEnvironments = 2 * kCachedClients + 3;
  std::vector<Sum> sums(kEnvironments);
  std::vector<std::unique_ptr<SumEnvironment>> environments;
  for (Sum& sum : sums) environments.push_back(add_into(sum, make(GetParam()), {.capacity = 7}));
  const auto defer_to_all = [&] {
    for (uint64_t i = 0; i < 200; ++i) {
      for (size_t e = 0; e < kEnvironments; ++e) environments[e]->defer<&Sum::add>(e + 1);
    }
  };
  std::thread other(defer_to_all);
  defer_to_all();
  other.join();
  environments.erase(environments.begin());  // the others go on
  environments[0]->defer<&Sum::add>(1'000'000);
  environments.clear();
  for (size_t e = 0; e < kEnvironments; ++e) EXPECT_EQ(sums[e].sum, 400 * (e + 1) + (e == 1 ? 1'000'000 : 0));
}

TEST(Environment, ManyShortLivedEnvironmentsAndThreads) {
  for (int round = 0; round < 300; ++round) {
    Sum sum;
    {
      auto environment = add_into(sum, make(kKinds[round % 4]), {.capacity = 2});
      std::thread thread([&] {
        for (int i = 0; i < 5; ++i) environment->defer<&Sum::add>(1);
      });
      environment->defer<&Sum::add>(1);
      thread.join();
    }
    ASSERT_EQ(sum.sum, 6u);
  }
}

TEST(Environment, ClientsOfEndedThreadsAreUsedAgain) {
  Sum sum;
  auto environment = add_into(sum, synchronous());
  for (int t = 0; t < 1000; ++t) std::thread([&] { environment->defer<&Sum::add>(1); }).join();
  EXPECT_EQ(sum.sum, 1000u);
  EXPECT_LT(environment->statistics().memory_bytes_max, 1u << 20) << "one thread's buffers, again and again";
}

TEST(Environment, CallsAfterTheStopAreDroppedAndCounted) {
  Sum sum;
  auto environment = add_into(sum, synchronous(), {.capacity = 4});
  environment->defer<&Sum::add>(1);
  environment->stop();
  EXPECT_EQ(sum.sum, 1u);
  bool dropped = false;
  for (int i = 0; i < 10; ++i) dropped = !environment->defer<&Sum::add>(1);
  EXPECT_TRUE(dropped);
  EXPECT_GT(environment->statistics().calls_dropped, 0u);
  std::thread([&] { EXPECT_FALSE(environment->defer<&Sum::add>(1)); }).join();
  EXPECT_EQ(sum.sum, 1u);
}

// The child has the thread that forked and no other; a consumer had a buffer in its hands, and more were waiting.
TEST_P(EnvironmentWithEachProcessor, AForkedChildGoesOnWithoutIt) {
  Gate gate;
  auto environment = created(Environment<&Gate::pass>::create(gate, make(GetParam()), {.capacity = 4}));
  std::thread other([&] {
    for (int i = 0; i < 12; ++i) environment->defer<&Gate::pass>();
  });
  gate.reached.acquire();
  const Checkpoint before = environment->create_checkpoint();
  for (int i = 0; i < 3; ++i) environment->defer<&Gate::pass>();
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    bool dropped = false;
    for (int i = 0; i < 100; ++i) dropped = !environment->defer<&Gate::pass>();
    const Checkpoint checkpoint = environment->create_checkpoint();
    checkpoint.await_processed();
    before.await_processed();
    environment.reset();
    _exit(dropped && gate.passed == 0 ? 0 : 1);
  }
  gate.open.release(1000);
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  other.join();
  environment->stop();
  EXPECT_EQ(gate.passed, 15u) << "the parent's calls are made, and those of the child are not";
}

// ---- capacity and memory

TEST(Environment, ANewCapacityIsThatOfLaterBuffers) {
  Sum sum;
  auto environment = add_into(sum, synchronous(), {.capacity = 5});
  EXPECT_EQ(environment->capacity(), 5u);
  environment->defer<&Sum::add>(1);
  ASSERT_TRUE(environment->set_capacity(100'000).ok());
  EXPECT_EQ(environment->capacity(), 100'000u);
  for (int i = 0; i < 5; ++i) environment->defer<&Sum::add>(1);
  EXPECT_EQ(sum.sum, 5u) << "the buffer that was begun kept its capacity";
  for (int i = 0; i < 99'999; ++i) environment->defer<&Sum::add>(1);
  EXPECT_EQ(sum.sum, 5u);
  environment->defer<&Sum::add>(1);
  EXPECT_EQ(sum.sum, 100'005u);
  EXPECT_NE(environment->set_capacity(0).error().message.find("cannot hold 0 calls"), std::string::npos);
  EXPECT_FALSE(environment->set_capacity(Engine::kCapacityMax + 1).ok());
  EXPECT_EQ(environment->capacity(), 100'000u);
}

TEST(Environment, RefusesWhatCannotWork) {
  Sum sum;
  EXPECT_FALSE(SumEnvironment::create(sum, synchronous(), {.capacity = 0}).ok());
  EXPECT_FALSE(SumEnvironment::create(sum, synchronous(), {.memory_bytes_max = 0}).ok());
  EXPECT_NE(pool({.consumers = 1, .queue = 0}).error().message.find("queue of 0"), std::string::npos);
  EXPECT_NE(pool({.consumers = 0, .queue = 1}).error().message.find("0 consumers"), std::string::npos);
  EXPECT_NE(adaptive({.queue = 0}).error().message.find("queue of 0"), std::string::npos);
}

TEST(Environment, FreeBuffersOfOneCapacityMakeRoomForAnother) {
  Sum sum;
  auto environment = add_into(sum, synchronous(), {.capacity = 1000, .memory_bytes_max = 2 << 20});
  for (const uint32_t capacity : {1'000u, 100'000u, 3'000u, 100'000u, 50'000u}) {
    ASSERT_TRUE(environment->set_capacity(capacity).ok());
    environment->process_current_buffer();
    const uint64_t before = environment->statistics().buffers;
    for (uint32_t i = 0; i <= capacity; ++i) environment->defer<&Sum::add>(1);
    EXPECT_EQ(environment->statistics().buffers, before + 1) << "one buffer held " << capacity << " calls";
  }
  EXPECT_LE(environment->statistics().memory_bytes_max, 2u << 20);
}

// ---- coalescing and exceptions

struct Histogram {
  std::mutex mutex;
  std::unordered_map<uint64_t, uint64_t> counts;
  uint64_t merges = 0;
};
class Counting {
 public:
  explicit Counting(Histogram& shared) : shared_(shared) {}
  void before_processing() { own_.clear(); }
  void count(uint64_t key) { ++own_[key]; }
  void after_processing() {
    std::lock_guard lock(shared_.mutex);
    ++shared_.merges;
    for (const auto& [key, n] : own_) shared_.counts[key] += n;
  }

 private:
  Histogram& shared_;
  std::unordered_map<uint64_t, uint64_t> own_;  // no lock: no other buffer uses this object meanwhile
};
using CountingEnvironment = Environment<&Counting::count>;

TEST_P(EnvironmentWithEachProcessor, CoalescingMergesOnceForEachBuffer) {
  Histogram histogram;
  uint64_t buffers;
  {
    auto environment = created(CountingEnvironment::create_coalescing(
        [&] { return std::make_unique<Counting>(histogram); }, make(GetParam()), {.capacity = 500}));
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (uint64_t i = 0; i < 10'000; ++i) environment->defer<&Counting::count>(i % 10);
      });
    }
    for (auto& thread : threads) thread.join();
    environment->stop();
    buffers = environment->statistics().buffers;
  }
  EXPECT_EQ(buffers, 80u);
  EXPECT_EQ(histogram.merges, buffers);
  ASSERT_EQ(histogram.counts.size(), 10u);
  for (const auto& [key, count] : histogram.counts) EXPECT_EQ(count, 4'000u) << key;
}

struct Throwing {
  void call(uint64_t n) {
    if (n % 10 == 3) throw std::runtime_error("call " + std::to_string(n));
    if (n % 10 == 7) throw 7;
    ++made;
  }
  std::atomic<uint64_t> made{0};
};
using ThrowingEnvironment = Environment<&Throwing::call>;

TEST_P(EnvironmentWithEachProcessor, AnExceptionIsCountedAndTheOtherCallsGoOn) {
  Throwing throwing;
  auto environment = created(ThrowingEnvironment::create(throwing, make(GetParam()), {.capacity = 50}));
  EXPECT_EQ(environment->failures().first(), "");
  for (uint64_t i = 0; i < 1000; ++i) environment->defer<&Throwing::call>(i);
  environment->stop();
  EXPECT_EQ(throwing.made, 800u);
  EXPECT_EQ(environment->failures().count(), 200u);
  if (GetParam() == Kind::kSynchronous) {
    EXPECT_EQ(environment->failures().first(), "call 3");
  }
  EXPECT_NE(environment->failures().first(), "");
  EXPECT_EQ(environment->statistics().calls, 1000u);
}

TEST(Environment, ThrowingHooksAreCountedToo) {
  struct Hooks {
    void before_processing() {
      if (++shared->begun == 2) throw std::runtime_error("before");
    }
    void call() { ++shared->calls; }
    void after_processing() {
      if (shared->begun == 3) throw std::runtime_error("after");
    }
    struct Shared {
      int begun = 0, calls = 0;
    }* shared;
  };
  using HooksEnvironment = Environment<&Hooks::call>;
  Hooks::Shared shared;
  auto environment = created(HooksEnvironment::create_coalescing(
      [&] { return std::make_unique<Hooks>(Hooks{&shared}); }, synchronous(), {.capacity = 10}));
  for (int i = 0; i < 40; ++i) environment->defer<&Hooks::call>();
  const Checkpoint checkpoint = environment->create_checkpoint();
  EXPECT_TRUE(checkpoint.is_processed());
  EXPECT_EQ(shared.calls, 30);
  EXPECT_EQ(environment->failures().count(), 2u);
  EXPECT_EQ(environment->failures().calls_not_made(), 10u);
  EXPECT_EQ(environment->failures().first(), "before");
}

}  // namespace
}  // namespace contrafact::deferred
