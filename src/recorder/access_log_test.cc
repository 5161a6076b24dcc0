#include "recorder/access_log.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <random>

#include "format/reader.h"

namespace contrafact::recorder {
namespace {

std::vector<std::array<uint32_t, kAccessLogWords>> calls_of(const AccessChunkHead& head,
                                                            std::span<const uint8_t> bytes) {
  std::vector<uint8_t> all(sizeof head + (bytes.size() + 15) / 16 * 16);
  std::memcpy(all.data(), &head, sizeof head);
  std::ranges::copy(bytes, all.begin() + sizeof head);
  std::vector<std::array<uint32_t, kAccessLogWords>> calls(all.size() / 16);
  std::memcpy(calls.data(), all.data(), all.size());
  return calls;
}

TEST(AccessLogTable, PutsTheChunksOfManyStreamsTogether) {
  AccessLogTable table;
  std::vector<uint8_t> bytes(100);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i);
  const auto first = calls_of({1, 2, 50, 100, 0, 0}, bytes);
  const auto second = calls_of({3, 4, 10, 16, 5, 6}, std::span(bytes).first(16));
  const auto empty = calls_of({5, 6, 0, 0, 0, 9}, {});
  for (size_t i = 0; i < first.size(); ++i) {  // interleaved
    table.add(1, first[i].data());
    if (i < second.size()) table.add(2, second[i].data());
    if (i < empty.size()) table.add(3, empty[i].data());
  }
  const auto chunks = table.take_new();
  ASSERT_EQ(chunks.size(), 3u);
  EXPECT_EQ(chunks[0].thread, 3u);
  EXPECT_EQ(chunks[0].lost, 9u);
  EXPECT_EQ(chunks[1].thread, 2u);
  EXPECT_EQ(chunks[1].gap, format::SetGap::signal);
  EXPECT_EQ(chunks[1].bytes.size(), 16u);
  EXPECT_EQ(chunks[2].begin_ns, 1);
  EXPECT_EQ(chunks[2].end_ns, 2);
  EXPECT_EQ(chunks[2].accesses, 50u);
  EXPECT_TRUE(std::ranges::equal(chunks[2].bytes, bytes));
  EXPECT_TRUE(table.take_new().empty());
}

// The thread ends a chunk that was cut short, and begins the next one anew.
TEST(AccessLogTable, AChunkThatWasCutShortIsForgotten) {
  AccessLogTable table;
  const std::vector<uint8_t> bytes(64, 7);
  const auto calls = calls_of({1, 2, 50, 64, 0, 0}, bytes);
  for (size_t cut = 0; cut < calls.size(); ++cut) {
    for (size_t i = 0; i < cut; ++i) table.add(1, calls[i].data());
    table.forget(1);
    for (const auto& call : calls) table.add(1, call.data());
    ASSERT_EQ(table.take_new().size(), 1u) << cut;
  }
  const auto wrong = calls_of({5, 2, 50, 0, 0, 0}, {});  // ends before it begins
  for (const auto& call : wrong) table.add(1, call.data());
  EXPECT_TRUE(table.take_new().empty());
}

struct Chunks : format::Visitor {
  std::vector<std::vector<uint8_t>> bytes;
  uint64_t accesses = 0, lost = 0;
  bool wants_access_chunks() const override { return true; }
  void on_access_chunks(uint32_t /*first*/, std::span<const format::AccessChunk> chunks) override {
    for (const format::AccessChunk& chunk : chunks) {
      bytes.emplace_back(chunk.bytes.begin(), chunk.bytes.end());
      accesses += chunk.accesses;
      lost += chunk.lost;
    }
  }
};

// More than the buffers hold: each chunk in the file is whole, and all others were reported lost.
TEST(AccessLog, WhatThereIsNoRoomForIsCounted) {
  const std::string path = testing::TempDir() + "/access_log_test." + std::to_string(getpid()) + ".cft";
  // The drainer, held up until more was appended than the buffers hold: else it takes all where appending is slow.
  std::atomic<bool> held_up{true};
  auto recorder = Recorder::start({.output_path = path,
                                   .memory_bytes_max = 1 << 20,
                                   .cpu_switches = false,
                                   .facts = {},
                                   .each_pass = [&](Recorder&) { held_up.wait(true); }});
  ASSERT_TRUE(recorder.ok()) << recorder.error().message;
  Client* client = (*recorder)->attach({});
  std::mt19937 random(4);
  uint64_t sent = 0, lost = 0;
  uint32_t lost_before = 0;
  std::vector<uint8_t> bytes(40'000);
  for (uint32_t i = 0; i < 2000; ++i) {
    if (i == 1000) {
      held_up = false;
      held_up.notify_all();
      (*recorder)->flush();
    }
    std::ranges::fill(bytes, static_cast<uint8_t>(i));
    const auto length = static_cast<uint32_t>(1 + random() % (bytes.size() - 16));
    const AccessChunkHead head{i, i + 1, length, length, 0, lost_before};
    sent += length;
    if (append_access_chunk(client, head, bytes.data())) {
      lost_before = 0;
    } else {
      lost_before += length;
      lost += length;
    }
  }
  const uint64_t unsaid = lost_before;
  (*recorder)->stop("exit");
  const auto reader = format::Reader::open(path);
  ASSERT_TRUE(reader.ok());
  Chunks chunks;
  EXPECT_EQ(reader->read(chunks).blocks_damaged, 0u);
  EXPECT_GT(lost, 0u);
  EXPECT_EQ(chunks.accesses, sent - lost);
  EXPECT_EQ(chunks.lost, lost - unsaid);
  for (const std::vector<uint8_t>& one : chunks.bytes) {
    ASSERT_TRUE(std::ranges::all_of(one, [&](uint8_t byte) { return byte == one[0]; }));
  }
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace contrafact::recorder
