#include "recorder/access_sets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "format/testing.h"

namespace contrafact::recorder {
namespace {

using format::AccessRange;
using format::Collected;
using format::kAccessChanged;
using format::kAccessRead;
using format::kAccessWrite;
using format::SetGap;
using testing::ElementsAre;

class AccessSetsTest : public testing::Test {
 protected:
  void start(uint32_t access_sets_max = 1000) {
    auto recorder =
        Recorder::start({.output_path = path_, .access_sets_max = access_sets_max, .cpu_switches = false, .facts = {}});
    ASSERT_TRUE(recorder.ok()) << recorder.error().message;
    recorder_ = std::move(*recorder);
  }
  Collected stop() {
    recorder_->stop("exit");
    Collected collected;
    auto reader = format::Reader::open(path_);
    EXPECT_TRUE(reader.ok());
    const format::ReadLoss loss = reader->read(collected);
    EXPECT_EQ(loss.blocks_damaged, 0u);
    return collected;
  }
  void TearDown() override { std::filesystem::remove(path_); }

  const std::string path_ = testing::TempDir() + "/access_sets_test." + std::to_string(getpid()) + ".cft";
  std::unique_ptr<Recorder> recorder_;
};

std::vector<uint32_t> set_ids(const Collected& collected) {
  std::vector<uint32_t> ids;
  for (const format::PlainEvent& event : collected.events) {
    if (event.kind == EventKind::accesses) ids.push_back(event.operands[0]);
  }
  return ids;
}

TEST_F(AccessSetsTest, EqualContentIsOneRowWhateverTheOrderAndTheThread) {
  start();
  Client* first = recorder_->attach({});
  Client* second = recorder_->attach({});
  AccessSetCache first_cache, second_cache;
  const AccessRange forward[] = {{0x1000, 8, kAccessRead}, {0x1008, 8, kAccessRead}, {0x1004, 4, kAccessWrite}};
  const AccessRange backward[] = {{0x1004, 4, kAccessWrite}, {0x1000, 16, kAccessRead}};
  append_accesses(first, first_cache, 10, SetGap::complete, forward);
  append_accesses(first, first_cache, 20, SetGap::complete, forward);
  append_accesses(first, first_cache, 30, SetGap::complete, {});
  append_accesses(first, first_cache, 40, SetGap::system_call, forward);
  recorder_->flush();
  append_accesses(second, second_cache, 50, SetGap::complete, backward);
  const Collected collected = stop();
  EXPECT_THAT(set_ids(collected), ElementsAre(0, 0, 1, 2, 0));
  ASSERT_EQ(collected.access_sets.size(), 3u);
  EXPECT_EQ(collected.access_sets.at(0).first, SetGap::complete);
  EXPECT_THAT(collected.access_sets.at(0).second,
              ElementsAre(AccessRange{0x1000, 4, kAccessRead}, AccessRange{0x1004, 4, kAccessRead | kAccessWrite},
                          AccessRange{0x1008, 8, kAccessRead}));
  EXPECT_TRUE(collected.access_sets.at(1).second.empty());
  EXPECT_EQ(collected.access_sets.at(2).first, SetGap::system_call);
}

TEST_F(AccessSetsTest, ALockEventAfterASetIsStillReadRight) {
  start();
  Client* client = recorder_->attach({});
  AccessSetCache cache;
  const AccessRange range[] = {{0x7fff'0000'1000, 8, kAccessWrite | kAccessChanged}};
  const uint64_t lock = 0x1234;
  for (int i = 0; i < 5000; ++i) {  // over several buffers
    Recorder::append_addressed(client, addressed_call(EventKind::lock_acquire), 10 * i, lock, lock >> 32, 7u, 0u);
    append_accesses(client, cache, 10 * i + 1, SetGap::complete, range);
    Recorder::append_addressed(client, addressed_call(EventKind::lock_release), 10 * i + 2, lock, lock >> 32, 7u, 0u);
  }
  const Collected collected = stop();
  ASSERT_EQ(collected.events.size(), 15'000u);
  EXPECT_EQ(collected.events[14'999].kind, EventKind::lock_release);
  EXPECT_EQ(collected.events[14'999].time_ns, 49'992);
  EXPECT_EQ(collected.access_sets.size(), 1u);
  EXPECT_THAT(collected.access_sets.at(0).second, ElementsAre(range[0]));
}

TEST_F(AccessSetsTest, WhatThereIsNoRoomForIsLostAndCountedNeverAnotherSet) {
  start(2);
  Client* client = recorder_->attach({});
  AccessSetCache cache;
  for (uint64_t i = 0; i < 5; ++i) {
    const AccessRange range[] = {{i * 100, 8, kAccessRead}};
    append_accesses(client, cache, 1, SetGap::complete, range);
    append_accesses(client, cache, 2, SetGap::complete, range);
  }
  const Collected collected = stop();
  EXPECT_THAT(set_ids(collected), ElementsAre(0, 0, 1, 1, 2, 2, 2, 2, 2, 2));
  EXPECT_EQ(collected.access_sets.at(2).first, SetGap::lost);
  EXPECT_EQ(collected.facts.at("access_sets.lost"), "6");
}

TEST_F(AccessSetsTest, ASetOfTooManyRangesIsCutAndSaysSo) {
  start();
  Client* client = recorder_->attach({});
  auto cache = std::make_unique<AccessSetCache>();
  std::vector<AccessRange> ranges;
  for (uint64_t i = 0; i <= kAccessRangesSentMax; ++i) ranges.push_back({i * 16, 8, kAccessRead});
  append_accesses(client, *cache, 1, SetGap::complete, ranges);
  const Collected collected = stop();
  ASSERT_EQ(collected.access_sets.size(), 1u);
  EXPECT_EQ(collected.access_sets.at(0).first, SetGap::overflow);
  EXPECT_EQ(collected.access_sets.at(0).second.size(), kAccessRangesSentMax);
}

}  // namespace
}  // namespace contrafact::recorder
