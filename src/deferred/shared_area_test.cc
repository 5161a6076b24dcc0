// Calls that cross from one process to another. The two sides map the memory at different addresses, in one process or
// in two; or at one address, for ThreadSanitizer, which takes two views of the same memory for two memories.
#include "deferred/shared_area.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <thread>

#include "base/check.h"
#include "deferred/layout_for_test.h"

namespace contrafact::deferred {
namespace {

constexpr uint16_t kCall = 7;

// Numbers by the producer's first word.
class Numbers final : public SharedDrainer::Owner {
 public:
  uint32_t begin_stream(const uint64_t (&begin_words)[2]) override { return static_cast<uint32_t>(begin_words[0]); }
  void end_stream(uint32_t stream) override { ended.push_back(stream); }
  void take(Batch& batch) override {
    dropped += batch.dropped_before;
    for (uint32_t i = 0; i < batch.count; ++i) {
      EXPECT_EQ(batch.ids[i], kCall);
      taken[batch.stream].push_back(batch.next<uint32_t>(0));
    }
  }
  std::map<uint32_t, std::vector<uint32_t>> taken;
  std::vector<uint32_t> ended;
  uint64_t dropped = 0;
};

// False if the call was dropped.
bool append(Client* client, uint32_t number) {
  contrafact_buffer* buffer = client->buffer();
  if (buffer->committed >= buffer->capacity) buffer = client->swap();
  if (!buffer) return false;
  const uint32_t n = buffer->committed;
  reinterpret_cast<uint16_t*>(buffer->ids)[n] = kCall;
  reinterpret_cast<uint32_t*>(buffer->column[0])[buffer->cursor[0]++] = number;
  std::atomic_ref(buffer->committed).store(n + 1, std::memory_order_release);
  return true;
}

std::vector<uint32_t> up_to(uint32_t count) {
  std::vector<uint32_t> numbers(count);
  for (uint32_t i = 0; i < count; ++i) numbers[i] = i;
  return numbers;
}

class Shared : public testing::Test {
 protected:
  explicit Shared(uint64_t memory_bytes_max = 8 << 20) {
    auto made = SharedArea::create(memory_bytes_max);
    CHECK(made.ok());
    auto mapped = SharedArea::map(*made, SharedArea::bytes_for(memory_bytes_max));
    CHECK(mapped.ok());
    area_ = std::move(*mapped);
    drainer_ = std::make_unique<SharedDrainer>(area_, one_number(), numbers_);
    auto opened = SharedArea::open(*made, SharedArea::bytes_for(memory_bytes_max), false);
    CHECK(opened.ok());
    close(*made);
    producers_ = std::make_unique<SharedProducers>(std::move(*opened), one_number());
  }
  SharedArea area_;
  Numbers numbers_;
  std::unique_ptr<SharedDrainer> drainer_;
  std::unique_ptr<SharedProducers> producers_;
};

TEST_F(Shared, CallsArriveInOrderWhileTheirBufferIsFilled) {
  EXPECT_NE(&area_.header(), &producers_->header()) << "two views of the same memory";
  Client* client = producers_->attach(3, 0);
  for (uint32_t i = 0; i < 20'000; ++i) {
    ASSERT_TRUE(append(client, i));
    if (i % 777 == 0) drainer_->pass(false);
  }
  producers_->detach(client);
  drainer_->pass(false);
  EXPECT_EQ(numbers_.taken[3], up_to(20'000));
  EXPECT_EQ(numbers_.ended, std::vector<uint32_t>{3});
}

enum class Views { one, two };
constexpr Views kViews[] = {
    Views::one,
#ifndef __SANITIZE_THREAD__
    Views::two,
#endif
};

class SharedByThreads : public Shared, public testing::WithParamInterface<Views> {
 protected:
  SharedByThreads() {
    if (GetParam() == Views::one) {
      drainer_ = std::make_unique<SharedDrainer>(producers_->area(), one_number(), numbers_);
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Views, SharedByThreads, testing::ValuesIn(kViews),
                         [](const auto& views) { return views.param == Views::one ? "One" : "Two"; });

TEST_P(SharedByThreads, ThatComeAndGoUseTheirPlacesAgain) {
  for (uint32_t round = 0; round < 50; ++round) {
    std::vector<std::thread> threads;
    for (uint32_t thread = 0; thread < 8; ++thread) {
      threads.emplace_back([&, stream = round * 8 + thread] {
        Client* client = producers_->attach(stream, 0);
        for (uint32_t i = 0; i < 300; ++i) append(client, i);
        producers_->detach(client);
      });
    }
    drainer_->pass(false);
    for (std::thread& thread : threads) thread.join();
  }
  drainer_->pass(false);
  ASSERT_EQ(numbers_.taken.size(), 400u);
  for (const auto& [stream, taken] : numbers_.taken) EXPECT_EQ(taken, up_to(300)) << stream;
  EXPECT_LE(area_.header().clients_made.load(), 32u);
}

// Nothing but the drainer orders what the two threads do: the flags between them are relaxed, and both live throughout.
TEST_P(SharedByThreads, APlaceGoesFromOneThatLivesToAnother) {
  std::atomic<int> turn{0};
  const auto wait_for = [&turn](int wanted) {
    while (turn.load(std::memory_order_relaxed) != wanted) std::this_thread::yield();
  };
  Client* clients[2] = {};
  const auto produce = [&](int thread) {
    wait_for(2 * thread);
    clients[thread] = producers_->attach(static_cast<uint64_t>(thread), 0);
    for (uint32_t i = 0; i < 300; ++i) append(clients[thread], i);
    producers_->detach(clients[thread]);
    turn.store(2 * thread + 1, std::memory_order_relaxed);
    wait_for(4);
  };
  std::thread first(produce, 0), second(produce, 1);
  for (const int thread : {0, 1}) {
    wait_for(2 * thread + 1);
    // The end of the first, and the client, are seen in memory that no thread has waited for.
    while (numbers_.ended.size() < static_cast<size_t>(thread) + 1) drainer_->pass(false);
    turn.store(2 * thread + 2, std::memory_order_relaxed);
  }
  first.join();
  second.join();
  EXPECT_EQ(clients[0], clients[1]);
  for (const uint32_t thread : {0u, 1u}) EXPECT_EQ(numbers_.taken[thread], up_to(300));
}

// The process is killed the moment after it has committed its last call; nobody took anything before.
TEST_F(Shared, NothingIsLostWithTheProcess) {
  const pid_t child = fork();
  if (child == 0) {
    Client* client = producers_->attach(9, 0);
    for (uint32_t i = 0; i < 100'000; ++i) append(client, i);
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  drainer_->pass(true);
  EXPECT_EQ(numbers_.taken[9], up_to(100'000));
}

// There may be thousands of processes that hardly do anything.
TEST_F(Shared, AheadOfItsProducersLittleMemoryIsMadeResident) {
  const auto resident_bytes = [this] {
    constexpr size_t kPages = (8 << 20) / 4096;
    unsigned char pages[kPages];
    EXPECT_EQ(mincore(area_.pool_region(), kPages * 4096, pages), 0);
    return std::count_if(pages, pages + kPages, [](unsigned char page) { return page & 1; }) * 4096;
  };
  Client* client = producers_->attach(1, 0);
  append(client, 0);
  drainer_->pass(false);
  drainer_->prefault();
  EXPECT_GE(resident_bytes(), 128 << 10);
  EXPECT_LE(resident_bytes(), 512 << 10);
  for (uint32_t i = 1; i < 300'000; ++i) append(client, i);
  const auto used = static_cast<int64_t>(area_.header().pool.carved_bytes.load());
  drainer_->prefault();
  EXPECT_GT(resident_bytes(), used + (used < (2 << 20) ? used : 2 << 20) / 2) << used;
}

class SmallShared : public Shared {
 protected:
  SmallShared() : Shared(256 << 10) {}
};

// As if the draining process had died.
TEST_F(SmallShared, WithoutADrainerCallsAreDroppedAndCounted) {
  Client* client = producers_->attach(1, 0);
  uint32_t kept = 0;
  for (uint32_t i = 0; i < 200'000; ++i) kept += append(client, kept);
  EXPECT_LT(kept, 200'000u);
  EXPECT_GT(kept, 10'000u);
  drainer_->pass(true);
  EXPECT_EQ(numbers_.taken[1], up_to(kept));
  EXPECT_EQ(numbers_.dropped, 200'000 - kept);
}

// A program with a bug writes anywhere. The drainer reads none of it outside of the area, and comes back.
TEST_F(Shared, MemoryThatTheProgramOverwroteHarmsNobody) {
  uint64_t random = 1;
  const auto next = [&random] { return random = random * 6364136223846793005u + 1442695040888963407u; };
  uint32_t broken = 0;
  for (int round = 0; round < 300; ++round) {
    auto made = SharedArea::create(1 << 20);
    ASSERT_TRUE(made.ok());
    class Quiet final : public SharedDrainer::Owner {
      uint32_t begin_stream(const uint64_t (&)[2]) override { return 0; }
      void end_stream(uint32_t) override {}
      void take(Batch& batch) override {
        for (uint32_t i = 0; i < batch.count; ++i) sum += batch.ids[i] + batch.next<uint32_t>(0);
      }
      uint64_t sum = 0;
    } owner;
    auto area = SharedArea::map(*made, SharedArea::bytes_for(1 << 20));
    ASSERT_TRUE(area.ok());
    SharedDrainer drainer(*area, one_number(), owner);
    SharedProducers producers(*SharedArea::open(*made, SharedArea::bytes_for(1 << 20), false), one_number());
    close(*made);
    Client* client = producers.attach(0, 0);
    for (uint32_t i = 0; i < 2'000; ++i) append(client, i);
    // Some words of the client and of the first buffers.
    auto* words = reinterpret_cast<uint64_t*>(area->clients());
    auto* buffers = reinterpret_cast<uint64_t*>(area->pool_region());
    for (int i = 0; i < 8; ++i) {
      words[next() >> 33 & 63] = next() >> (next() >> 58);
      buffers[next() >> 33 & 63] = next() >> (next() >> 58);
    }
    drainer.pass(true);
    broken += drainer.broken_queues();
  }
  EXPECT_GT(broken, 100u);
}

TEST(SharedArea, OfAnotherVersionIsRefused) {
  auto made = SharedArea::create(1 << 20);
  ASSERT_TRUE(made.ok());
  SharedArea::map(*made, SharedArea::bytes_for(1 << 20))->header().magic ^= 1;
  const auto opened = SharedArea::open(*made, SharedArea::bytes_for(1 << 20), false);
  close(*made);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().message, "the memory to share is of another version of contrafact");
}

}  // namespace
}  // namespace contrafact::deferred
