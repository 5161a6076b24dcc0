// Texts that are cut into calls of 16 bytes and put together again, through a buffer as they travel.
#include "recorder/texts.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <tuple>
#include <vector>

#include "base/check.h"
#include "deferred/batch.h"
#include "deferred/shared_area.h"
#include "recorder/addressed_calls.h"
#include "recorder/event_log.h"
#include "recorder/process_page.h"

namespace contrafact::recorder {
namespace {

using Taken = std::tuple<TextKind, uint32_t, std::string, std::string>;

class Texts : public testing::Test, public deferred::SharedDrainer::Owner {
 protected:
  explicit Texts(uint64_t memory_bytes_max = 4 << 20) {
    const uint64_t bytes = deferred::SharedArea::bytes_for(memory_bytes_max);
    auto made = deferred::SharedArea::create(memory_bytes_max);
    CHECK(made.ok());
    area_ = std::move(*deferred::SharedArea::map(*made, bytes));
    producers_ = std::make_unique<deferred::SharedProducers>(
        std::move(*deferred::SharedArea::open(*made, bytes, false)), trace_layout());
    close(*made);
    drainer_ = std::make_unique<deferred::SharedDrainer>(area_, trace_layout(), *this);
  }

  uint32_t begin_stream(const uint64_t (&words)[2]) override { return static_cast<uint32_t>(words[0]); }
  void end_stream(uint32_t stream) override { table_.forget(stream); }
  void take(deferred::Batch& batch) override {
    if (batch.dropped_before > 0) table_.forget(batch.stream);
    dropped_ += batch.dropped_before;
    for (uint32_t i = 0; i < batch.count; ++i) {
      ASSERT_EQ(batch.ids[i], kTextCall);
      table_.add(batch.stream,
                 static_cast<const uint32_t*>(batch.column[kOperandColumn]) + batch.cursor[kOperandColumn]);
      batch.cursor[kOperandColumn] += kTextWords;
    }
  }
  std::vector<Taken> pass() {
    drainer_->pass(false);
    return std::exchange(taken_, {});
  }

  deferred::SharedArea area_;
  std::unique_ptr<deferred::SharedProducers> producers_;
  std::unique_ptr<deferred::SharedDrainer> drainer_;
  std::vector<Taken> taken_;
  uint32_t dropped_ = 0;
  TextTable table_{
      [this](uint32_t, const Text& text) { taken_.emplace_back(text.kind, text.number, text.key, text.value); }};
};

std::string letters(size_t count, char first) {
  std::string text(count, ' ');
  for (size_t i = 0; i < count; ++i) text[i] = static_cast<char>(first + i % 23);
  return text;
}

TEST_F(Texts, OfAllLengthsArrive) {
  Client* client = producers_->attach(1, 0);
  std::vector<Taken> sent;
  for (size_t key_bytes = 0; key_bytes <= 33; ++key_bytes) {
    for (size_t value_bytes = 0; value_bytes <= 33; ++value_bytes) {
      const auto number = static_cast<uint32_t>(key_bytes * 100 + value_bytes);
      const std::string key = letters(key_bytes, 'a'), value = letters(value_bytes, 'A');
      ASSERT_TRUE(append_text(client, TextKind::fact, number, key, value));
      sent.emplace_back(TextKind::fact, number, key, value);
    }
  }
  EXPECT_EQ(pass(), sent);
}

TEST_F(Texts, OfTwoThreadsDoNotMix) {
  Client* one = producers_->attach(1, 0);
  Client* other = producers_->attach(2, 0);
  const std::string value = letters(1000, 'a');
  ASSERT_TRUE(append_text(one, TextKind::fact, 0, "first", value));
  ASSERT_TRUE(append_text(other, TextKind::library, 7, {}, value));
  ASSERT_TRUE(append_text(one, TextKind::thread_name, 9, {}, "n"));
  EXPECT_EQ(pass(), (std::vector<Taken>{{TextKind::fact, 0, "first", value},
                                        {TextKind::thread_name, 9, "", "n"},
                                        {TextKind::library, 7, "", value}}));
}

TEST_F(Texts, ThatAreTakenWhileTheyAreAppended) {
  Client* client = producers_->attach(1, 0);
  const uint32_t head[4] = {static_cast<uint32_t>(TextKind::fact), 0, 3, 15};
  const std::string bytes = "keyand the value__";  // 18: two calls
  char rest[16] = {};
  bytes.copy(rest, 2, 16);
  Recorder::append_16_bytes(client, kTextCall, head);
  EXPECT_TRUE(pass().empty());
  Recorder::append_16_bytes(client, kTextCall, bytes.data());
  EXPECT_TRUE(pass().empty());
  Recorder::append_16_bytes(client, kTextCall, rest);
  EXPECT_EQ(pass(), (std::vector<Taken>{{TextKind::fact, 0, "key", "and the value__"}}));
}

TEST_F(Texts, ThatAreTooLongAreCut) {
  Client* client = producers_->attach(1, 0);
  const std::string key = letters(100, 'a'), value = letters(kTextBytesMax, 'A');
  ASSERT_TRUE(append_text(client, TextKind::fact, 0, key, value));
  ASSERT_TRUE(append_text(client, TextKind::fact, 0, value + value, "v"));
  ASSERT_TRUE(append_text(client, TextKind::fact, 0, "next", "one"));
  EXPECT_EQ(pass(), (std::vector<Taken>{{TextKind::fact, 0, key, value.substr(0, kTextBytesMax - 100)},
                                        {TextKind::fact, 0, value, ""},
                                        {TextKind::fact, 0, "next", "one"}}));
}

TEST_F(Texts, WhoseHeadMakesNoSenseArePassedOver) {
  Client* client = producers_->attach(1, 0);
  const uint32_t heads[][4] = {{0, 0, 1, 1},
                               {kTextKindLast + 1, 0, 1, 1},
                               {1, 0, kTextBytesMax + 1, 0},
                               {1, 0, 1, kTextBytesMax},
                               {1, 0, UINT32_MAX, UINT32_MAX}};
  for (const auto& head : heads) Recorder::append_16_bytes(client, kTextCall, head);
  ASSERT_TRUE(append_text(client, TextKind::fact, 0, "k", "v"));
  EXPECT_EQ(pass(), (std::vector<Taken>{{TextKind::fact, 0, "k", "v"}}));
}

class TextsInLittleMemory : public Texts {
 protected:
  TextsInLittleMemory() : Texts(64 << 10) {}
};

// Pieces behind the missing ones must not be taken for them.
TEST_F(TextsInLittleMemory, WhosePiecesAreLostAreLostAsAWhole) {
  Client* client = producers_->attach(1, 0);
  const std::string value = letters(10'000, 'a');
  uint32_t kept = 0;
  for (uint32_t i = 0; i < 20; ++i) kept += append_text(client, TextKind::fact, i, "k", value);
  ASSERT_LT(kept, 20u);
  std::vector<Taken> taken = pass();
  EXPECT_EQ(taken.size(), kept);
  for (const auto& [kind, number, key, text] : taken) EXPECT_EQ(text, value) << number;
  for (uint32_t i = 0; i < 5; ++i) {
    ASSERT_TRUE(append_text(client, TextKind::fact, 100 + i, "k", "after"));
    EXPECT_EQ(pass(), (std::vector<Taken>{{TextKind::fact, 100 + i, "k", "after"}}));
  }
  EXPECT_GT(dropped_, 0u);
}

TEST_F(Texts, OfAThreadThatEndedUnfinishedAreForgotten) {
  Client* client = producers_->attach(1, 0);
  const uint32_t head[4] = {static_cast<uint32_t>(TextKind::fact), 0, 3, 15};
  Recorder::append_16_bytes(client, kTextCall, head);
  producers_->detach(client);
  EXPECT_TRUE(pass().empty());
  client = producers_->attach(1, 0);
  ASSERT_TRUE(append_text(client, TextKind::fact, 0, "k", "v"));
  EXPECT_EQ(pass(), (std::vector<Taken>{{TextKind::fact, 0, "k", "v"}}));
}

}  // namespace
}  // namespace contrafact::recorder
