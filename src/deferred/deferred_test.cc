#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>

#include "deferred/calls.h"
#include "deferred/drainer.h"

namespace contrafact::deferred {
namespace {

// What every producer's calls must look like: 0, 1, 2, ... with a second argument computed from the first.
struct Checker {
  void plain(uint64_t sequence) { see(sequence); }
  void pair(uint64_t sequence, uint32_t a, uint32_t b) {
    wrong += a != static_cast<uint32_t>(sequence * 3) || b != static_cast<uint32_t>(sequence * 5);
    see(sequence);
  }
  void see(uint64_t sequence) {
    wrong += sequence != next;
    next = sequence + 1;
    ++seen;
  }
  uint64_t next = 0, seen = 0, wrong = 0;
};
using CheckerCalls = Calls<&Checker::plain, &Checker::pair>;

struct Gathering : Consumer {
  explicit Gathering(size_t streams) : checkers(streams), dropped(streams) {}
  void take(Batch& batch) override {
    std::this_thread::sleep_for(delay);
    Checker& checker = checkers[batch.stream];
    // Sequence numbers count dropped calls too, so that a drop reported too late or too early is found.
    checker.next += batch.dropped_before;
    dropped[batch.stream] += batch.dropped_before;
    CheckerCalls::run(checker, batch);
  }
  std::vector<Checker> checkers;
  std::vector<uint64_t> dropped;
  std::chrono::microseconds delay{0};
};

uint64_t produce_numbers(Client& client, uint64_t first, uint64_t count) {
  uint64_t dropped = 0;
  for (uint64_t i = first; i < first + count; ++i) {
    const bool kept = i % 3 == 0 ? CheckerCalls::defer<&Checker::plain>(client, i)
                                 : CheckerCalls::defer<&Checker::pair>(client, i, static_cast<uint32_t>(i * 3),
                                                                       static_cast<uint32_t>(i * 5));
    dropped += !kept;
  }
  return dropped;
}

std::unique_ptr<Drainer> start(Consumer& consumer, uint64_t memory_bytes_max, uint32_t interval_ms = 1) {
  auto drainer = Drainer::start(
      {.layout = CheckerCalls::layout(), .memory_bytes_max = memory_bytes_max, .interval_ms = interval_ms}, consumer);
  EXPECT_TRUE(drainer.ok());
  return std::move(*drainer);
}

TEST(Calls, GivesEachDistinctTypeOneColumn) {
  static_assert(std::is_same_v<CheckerCalls::Columns, std::tuple<uint64_t, uint32_t>>);
  constexpr Layout layout = CheckerCalls::layout();
  EXPECT_EQ(layout.element_bytes[0], 8);
  EXPECT_EQ(layout.elements_per_call[0], 1);
  EXPECT_EQ(layout.element_bytes[1], 4);
  EXPECT_EQ(layout.elements_per_call[1], 2);
  EXPECT_EQ(layout.element_bytes[2], 0);
}

TEST(Drainer, TakesEveryCallOnceAndInOrderFromManyThreads) {
  constexpr int kThreads = 8;
  constexpr uint64_t kCalls = 100'000;
  Gathering gathering(kThreads);
  auto drainer = start(gathering, 64 << 20);
  std::vector<std::thread> threads;
  std::atomic<uint64_t> dropped{0};
  for (uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Client* client = drainer->attach(t);
      uint64_t lost = 0;
      for (uint64_t done = 0; done < kCalls; done += kCalls / 10) {
        lost += produce_numbers(*client, done, kCalls / 10);
        std::this_thread::sleep_for(std::chrono::milliseconds(t % 4));
      }
      dropped += lost;
      if (t % 2 == 0) drainer->detach(client);  // the others end with the process, as daemon threads do
    });
  }
  for (auto& thread : threads) thread.join();
  drainer->stop();
  uint64_t seen = 0, reported = 0;
  for (uint32_t t = 0; t < kThreads; ++t) {
    EXPECT_EQ(gathering.checkers[t].wrong, 0u);
    seen += gathering.checkers[t].seen;
    reported += gathering.dropped[t];
  }
  EXPECT_EQ(reported, dropped);
  EXPECT_EQ(seen + reported, kThreads * kCalls);
}

TEST(Drainer, TakesFromBuffersThatAreNotFull) {
  Gathering gathering(1);
  auto drainer = start(gathering, 1 << 20, 1000);
  Client* client = drainer->attach(0);
  for (uint64_t i = 0; i < 200; ++i) {
    produce_numbers(*client, i, 1);
    if (i % 50 == 0) {
      drainer->flush();
      EXPECT_EQ(gathering.checkers[0].seen, i + 1);
    }
  }
  drainer->stop();
  EXPECT_EQ(gathering.checkers[0].seen, 200u);
  EXPECT_EQ(gathering.checkers[0].wrong, 0u);
}

TEST(Drainer, CountsWhatItDropsExactlyAndKeepsTheMemoryBound) {
  constexpr int kThreads = 4;
  constexpr uint64_t kCalls = 60'000;
  constexpr uint64_t kMemory = 64 << 10;
  Gathering gathering(kThreads);
  gathering.delay = std::chrono::microseconds(300);
  auto drainer = start(gathering, kMemory);
  std::vector<std::thread> threads;
  std::vector<uint64_t> dropped(kThreads);
  for (uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Client* client = drainer->attach(t);
      dropped[t] = produce_numbers(*client, 0, kCalls);
      if (t % 2 == 0) drainer->detach(client);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_LE(drainer->bytes_made(), kMemory);
  drainer->stop();
  uint64_t all_dropped = 0;
  for (uint32_t t = 0; t < kThreads; ++t) {
    EXPECT_EQ(gathering.dropped[t], dropped[t]);
    EXPECT_EQ(gathering.checkers[t].seen + dropped[t], kCalls);
    EXPECT_EQ(gathering.checkers[t].wrong, 0u) << "drops are reported where they happened";
    all_dropped += dropped[t];
  }
  EXPECT_GT(all_dropped, 0u);
}

// With memory for one buffer, its producer gets it back emptied again and again.
TEST(Drainer, AProducerGoesOnWithItsOwnDrainedBuffer) {
  Gathering gathering(1);
  auto drainer = start(gathering, 2'700, 1);
  Client* client = drainer->attach(0);
  uint64_t sent = 0;
  for (int round = 0; round < 20; ++round) {
    sent += 64;
    EXPECT_EQ(produce_numbers(*client, sent - 64, 64), 0u);
    drainer->flush();
  }
  EXPECT_EQ(drainer->buffers_out(), 1);
  drainer->stop();
  EXPECT_EQ(gathering.checkers[0].seen, sent);
  EXPECT_EQ(gathering.checkers[0].wrong, 0u);
}

TEST(Drainer, TenThousandShortLivedThreadsPileNothingUp) {
  constexpr uint32_t kThreads = 10'000;
  Gathering gathering(kThreads);
  auto drainer = start(gathering, 8 << 20, 2);
  std::vector<std::thread> spawners;
  std::atomic<uint32_t> next{0};
  for (int s = 0; s < 4; ++s) {
    spawners.emplace_back([&] {
      for (uint32_t t = next++; t < kThreads; t = next++) {
        std::thread([&, t] {
          Client* client = drainer->attach(t);
          produce_numbers(*client, 0, t % 100);
          drainer->detach(client);
        }).join();
      }
    });
  }
  for (auto& spawner : spawners) spawner.join();
  drainer->flush();
  EXPECT_EQ(drainer->buffers_out(), 0);
  EXPECT_LT(drainer->clients_made(), kThreads / 4);
  drainer->stop();
  for (uint32_t t = 0; t < kThreads; ++t) {
    ASSERT_EQ(gathering.checkers[t].seen, t % 100);
    ASSERT_EQ(gathering.checkers[t].wrong, 0u);
    ASSERT_EQ(gathering.dropped[t], 0u);
  }
}

TEST(Drainer, BusyThreadsGetLargerBuffers) {
  Gathering gathering(1);
  auto drainer = start(gathering, 8 << 20, 50);
  Client* client = drainer->attach(0);
  produce_numbers(*client, 0, 1);
  EXPECT_EQ(client->buffer()->capacity, kDrainCapacities[0]);
  produce_numbers(*client, 1, 10'000);
  EXPECT_EQ(client->buffer()->capacity, kDrainCapacities[2]);
}

TEST(Drainer, AProducerMayGoOnAfterTheStop) {
  Gathering gathering(1);
  auto drainer = start(gathering, 1 << 20);
  Client* client = drainer->attach(0);
  std::atomic<bool> end{false};
  std::atomic<uint64_t> sent{0};
  std::thread producer([&] {
    while (!end) {
      produce_numbers(*client, sent, 1);
      ++sent;
    }
  });
  while (sent < 1000) std::this_thread::yield();
  drainer->stop();
  drainer->stop();
  const uint64_t seen = gathering.checkers[0].seen;
  EXPECT_GE(seen + gathering.dropped[0], 1000u);
  end = true;
  producer.join();
  drainer->detach(client);
}

TEST(Drainer, AConsumerThatThrowsHarmsNobody) {
  struct Throwing : Consumer {
    void take(Batch&) override { throw std::runtime_error("no memory"); }
    void failed(const char* what) override { said = what; }
    void end() override { ended = true; }
    std::string said;
    bool ended = false;
  } throwing;
  auto drainer = start(throwing, 1 << 20);
  Client* client = drainer->attach(0);
  produce_numbers(*client, 0, 10'000);
  drainer->stop();
  produce_numbers(*client, 0, 10'000);
  EXPECT_EQ(throwing.said, "no memory");
  EXPECT_TRUE(throwing.ended);
}

TEST(BufferPool, NeedsSomeMemory) {
  constexpr uint32_t capacities[] = {64};
  EXPECT_FALSE(BufferPool::create(CheckerCalls::layout(), {.capacities = capacities, .memory_bytes_max = 0}).ok());
  auto tiny = BufferPool::create(CheckerCalls::layout(), {.capacities = capacities, .memory_bytes_max = 256});
  ASSERT_TRUE(tiny.ok());
  EXPECT_EQ((*tiny)->take(0), nullptr);
}

}  // namespace
}  // namespace contrafact::deferred
