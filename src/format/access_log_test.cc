#include "format/access_log.h"

#include <gtest/gtest.h>

#include <random>

#include "format/testing.h"

namespace contrafact::format {
namespace {

constexpr uint32_t kLogRead = kAccessRead, kLogWrite = kAccessWrite | kAccessChanged;

std::vector<uint8_t> encoded(std::span<const LoggedAccess> accesses) {
  AccessEncoder encoder;
  std::vector<uint8_t> bytes(accesses.size() * AccessEncoder::kBytesMax);
  uint8_t* out = bytes.data();
  for (const LoggedAccess& access : accesses) out = encoder.put(out, access);
  bytes.resize(static_cast<size_t>(out - bytes.data()));
  return bytes;
}

std::vector<LoggedAccess> decoded(std::span<const uint8_t> bytes, bool* good = nullptr) {
  AccessDecoder decoder(bytes);
  std::vector<LoggedAccess> out;
  for (LoggedAccess access; decoder.next(access);) out.push_back(access);
  if (good) *good = decoder.good();
  return out;
}

TEST(AccessLog, AnyAccessesComeBackInTheirOrder) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 200; ++round) {
    std::vector<LoggedAccess> accesses;
    for (int i = 0; i < 300; ++i) {
      LoggedAccess access{random() >> random() % 64, static_cast<uint32_t>(random() >> (32 + random() % 32)),
                          static_cast<uint32_t>(1 + random() % kAccessFlags)};
      if (is_sound(access)) accesses.push_back(access);
    }
    ASSERT_EQ(decoded(encoded(accesses)), accesses);
  }
}

// A loop that reads two arrays and writes a third: each access is where its array's step leads.
TEST(AccessLog, WalksWithAFixedStepAreOneByteEach) {
  std::vector<LoggedAccess> accesses;
  for (uint64_t i = 0; i < 1000; ++i) {
    accesses.push_back({0x5555'0000'0000 + 8 * i, 8, kLogRead});
    accesses.push_back({0x7fff'0000'0000 - 4 * i, 4, kLogRead});
    accesses.push_back({0x7f00'0000'0000 + i, 1, kLogWrite});
  }
  const std::vector<uint8_t> bytes = encoded(accesses);
  EXPECT_LE(bytes.size(), accesses.size() + 3 * (7 + 2));
  EXPECT_EQ(decoded(bytes), accesses);
}

TEST(AccessLog, WhateverTheBytesAreTheyAreReadOrRefused) {
  std::mt19937 random(6);
  for (int round = 0; round < 3000; ++round) {
    std::vector<uint8_t> bytes(random() % 60);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    bool good = false;
    const std::vector<LoggedAccess> accesses = decoded(bytes, &good);
    for (const LoggedAccess& access : accesses) ASSERT_TRUE(is_sound(access));
    if (!good) continue;
    ASSERT_EQ(decoded(encoded(accesses)), accesses);
  }
  bool good = true;
  EXPECT_TRUE(decoded(std::vector<uint8_t>{0x80 | 1 << 3 | 2 << 5}, &good).empty());  // its distance is cut off
  EXPECT_FALSE(good);
}

struct Chunks : Visitor {
  std::vector<AccessChunk> chunks;
  std::vector<std::vector<LoggedAccess>> accesses;
  size_t missing = 0;
  bool wants_access_chunks() const override { return true; }
  void on_access_chunks(uint32_t first, std::span<const AccessChunk> rows) override {
    missing += first - chunks.size();
    for (const AccessChunk& row : rows) {
      chunks.push_back(row);
      accesses.push_back(decoded(row.bytes));
    }
  }
};

TEST(AccessLog, SurvivesTheFile) {
  const std::vector<LoggedAccess> some{{0x1000, 8, kLogRead},
                                       {0x1008, 8, kLogWrite},
                                       {UINT64_MAX - 8, 8, kAccessFlags & ~(kAccessCommutative | kAccessBits)}};
  const std::vector<uint8_t> some_bytes = encoded(some);
  const AccessChunk rows[] = {{.thread = 3, .begin_ns = -5, .end_ns = 70, .accesses = 3, .bytes = some_bytes},
                              {.thread = 0, .gap = SetGap::signal, .begin_ns = 9, .end_ns = 9, .lost = 12}};
  std::vector<uint8_t> bytes;
  auto writer = Writer::create(std::make_unique<MemorySink>(bytes));
  for (int i = 0; i < 2; ++i) EXPECT_TRUE((*writer)->add_access_chunks(rows).ok());
  EXPECT_TRUE((*writer)->finish({"exit"}).ok());
  const auto reader = Reader::from_bytes(bytes, "test");
  ASSERT_TRUE(reader.ok());
  Chunks read;
  EXPECT_EQ(reader->read(read).blocks_damaged, 0u);
  ASSERT_EQ(read.chunks.size(), 4u);
  EXPECT_EQ(read.accesses[2], some);
  EXPECT_EQ(read.chunks[2].thread, 3u);
  EXPECT_EQ(read.chunks[2].begin_ns, -5);
  EXPECT_EQ(read.chunks[2].end_ns, 70);
  EXPECT_EQ(read.chunks[3].gap, SetGap::signal);
  EXPECT_EQ(read.chunks[3].lost, 12u);
  EXPECT_TRUE(read.accesses[3].empty());
}

}  // namespace
}  // namespace contrafact::format
