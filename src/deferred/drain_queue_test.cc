// A client's queue in one process, pass by pass: its producer and its reader take turns where the test says.
#include "deferred/drain_queue.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

#include "base/check.h"
#include "deferred/carrier.h"
#include "deferred/layout_for_test.h"

namespace contrafact::deferred {
namespace {

// Calls are numbered, the dropped ones too: the reader must get them in order, or the number that is missing.
class DrainQueue : public testing::Test, public Carrier, public Consumer {
 protected:
  void make_pool(uint64_t memory_bytes_max) {
    auto pool =
        BufferPool::create(one_number(), {.capacities = kDrainCapacities, .memory_bytes_max = memory_bytes_max});
    CHECK(pool.ok());
    pool_ = std::move(*pool);
    reader_ = std::make_unique<QueueReader>(*pool_, *this);
    client_ = clients_.attach(5);
  }
  contrafact_buffer* swap(Client& client) override {
    const Swapped swapped = swap_buffer(client, *pool_, state_);
    urge_ = swapped.urge;
    return swapped.buffer;
  }
  void attached(Client& client) override { state_.add(client); }
  void detached(Client&) override {}
  void take(Batch& batch) override {
    EXPECT_EQ(batch.stream, 5u);
    seen_ += batch.dropped_before;
    dropped_seen_ += batch.dropped_before;
    for (uint32_t i = 0; i < batch.count; ++i) EXPECT_EQ(batch.next<uint32_t>(0), seen_++);
  }

  bool append() {
    const uint32_t number = appended_++;
    contrafact_buffer* buffer = client_->buffer();
    if (buffer->committed >= buffer->capacity) buffer = client_->swap();
    if (!buffer) return ++dropped_, false;
    const uint32_t n = buffer->committed;
    reinterpret_cast<uint32_t*>(buffer->column[0])[buffer->cursor[0]++] = number;
    std::atomic_ref(buffer->committed).store(n + 1, std::memory_order_release);
    return true;
  }
  void pass(bool last = false) {
    state_.pass.fetch_add(1);
    ASSERT_TRUE(reader_->take(*client_, client_->stream(), last));
  }

  std::unique_ptr<BufferPool> pool_;
  std::unique_ptr<QueueReader> reader_;
  DrainState state_;
  ClientTable clients_{*this};
  Client* client_ = nullptr;
  Urge urge_ = Urge::none;
  uint32_t appended_ = 0, dropped_ = 0;   // the producer's
  uint32_t seen_ = 0, dropped_seen_ = 0;  // the reader's
};

TEST_F(DrainQueue, ANewClientIsHandedOverOnceAndHasNoBuffer) {
  make_pool(1 << 20);
  EXPECT_EQ(state_.take_new(), client_);
  EXPECT_EQ(state_.take_new(), nullptr);
  EXPECT_EQ(pool_->buffers_out(), 0);
  pass(true);
  EXPECT_EQ(seen_, 0u);
}

TEST_F(DrainQueue, EveryPassSeesWhatIsCommittedAndNothingTwice) {
  make_pool(1 << 20);
  for (uint32_t calls : {1, 62, 1, 1, 0, 63, 64, 65, 600, 5000}) {
    for (uint32_t i = 0; i < calls; ++i) ASSERT_TRUE(append());
    pass();
    ASSERT_EQ(seen_, appended_);
  }
  EXPECT_EQ(dropped_seen_, 0u);
  EXPECT_EQ(pool_->buffers_out(), 1) << "the current one";
  reader_->give_back(*client_);
  EXPECT_EQ(pool_->buffers_out(), 0);
}

TEST_F(DrainQueue, ABusyProducersBuffersGrow) {
  make_pool(1 << 20);
  for (int i = 0; i < 64 + 512 + 4096; ++i) ASSERT_TRUE(append());
  EXPECT_EQ(client_->buffer()->capacity, 4096u);
  EXPECT_EQ(client_->buffer()->committed, 4096u);
  for (int i = 0; i < 40; ++i) pass();
  ASSERT_TRUE(append());
  EXPECT_EQ(client_->buffer()->capacity, 512u) << "it lasted for long";
}

TEST_F(DrainQueue, ManyFullBuffersAskForAPass) {
  make_pool(1 << 20);
  int asked = 0;
  for (int i = 0; i < 64 + 512 + 4096 * 10; ++i) {
    ASSERT_TRUE(append());
    asked += std::exchange(urge_, Urge::none) == Urge::pass;
  }
  EXPECT_EQ(asked, 1);
}

// Room for one buffer: its producer uses it again once it was taken to the end.
TEST_F(DrainQueue, WithoutFreeBuffersAFullOneThatWasTakenIsUsedAgain) {
  make_pool(1024);
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 64; ++i) ASSERT_TRUE(append()) << round;
    EXPECT_EQ(pool_->buffers_out(), 1);
    EXPECT_FALSE(append()) << "not before it is taken";
    EXPECT_EQ(urge_, Urge::no_memory);
    pass();
    pass();  // nothing is taken again
  }
  pass(true);
  EXPECT_EQ(seen_, appended_);
  EXPECT_EQ(dropped_seen_, dropped_);
  EXPECT_EQ(dropped_, 10u);
}

TEST_F(DrainQueue, WhatIsDroppedAtTheEndIsSaidAtTheEnd) {
  make_pool(1024);
  for (int i = 0; i < 100; ++i) append();
  pass(true);
  EXPECT_EQ(seen_, 100u);
  EXPECT_EQ(dropped_seen_, 36u);
}

TEST_F(DrainQueue, AfterTheStopEverythingIsDropped) {
  make_pool(1 << 20);
  for (int i = 0; i < 64; ++i) ASSERT_TRUE(append());
  state_.stopped.store(true);
  EXPECT_FALSE(append());
  pass(true);
  EXPECT_EQ(seen_, 64u);
}

TEST_F(DrainQueue, InAnyOrderOfAppendingAndTaking) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    seen_ = dropped_seen_ = appended_ = dropped_ = 0;
    make_pool(1024 + random() % (16 << 10));
    for (int turn = 0; turn < 200; ++turn) {
      for (uint32_t calls = random() % 200; calls-- > 0;) append();
      pass();
    }
    pass(true);
    ASSERT_EQ(seen_, appended_) << seed;
    ASSERT_EQ(dropped_seen_, dropped_) << seed;
  }
}

}  // namespace
}  // namespace contrafact::deferred
