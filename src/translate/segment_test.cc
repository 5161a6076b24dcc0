#include "translate/segment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "translate/log.h"
#include "translate/thread.h"

namespace contrafact::translate {

bool operator==(const Access& x, const Access& y) {
  return x.begin == y.begin && x.length_bytes == y.length_bytes && x.flags == y.flags;
}

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr uint32_t kChangingWrite = kAccessWrite | kAccessChanged;

class SegmentTest : public testing::Test {
 protected:
  void SetUp() override { segment_->begin(); }
  std::vector<Access> ranges() {
    const auto span = segment_->ranges();
    return {span.begin(), span.end()};
  }
  std::unique_ptr<Segment> segment_ = std::make_unique<Segment>();
};

TEST_F(SegmentTest, EqualAccessesAreOneRangeWithAllTheirFlags) {
  segment_->add(1000, 8, kAccessRead);
  segment_->add(2000, 4, kAccessWrite);
  segment_->add(1000, 8, kChangingWrite);
  EXPECT_THAT(ranges(), ElementsAre(Access{1000, 8, kAccessRead | kChangingWrite}, Access{2000, 4, kAccessWrite}));
}

TEST_F(SegmentTest, CommutativeOnlyAmongItsLike) {
  const uint32_t adding = kAccessRead | kChangingWrite | kAccessCommutative;
  segment_->add(1000, 8, adding);
  segment_->add(1000, 8, adding);
  segment_->add(2000, 8, adding);
  segment_->add(2000, 8, kAccessRead);
  segment_->add(3000, 8, adding | kAccessSetsBits);
  segment_->add(3000, 8, adding | kAccessSetsBits);
  segment_->add(4000, 8, adding | kAccessSetsBits);
  segment_->add(4000, 8, adding);
  EXPECT_THAT(ranges(),
              ElementsAre(Access{1000, 8, adding}, Access{2000, 8, kAccessRead | kChangingWrite},
                          Access{3000, 8, adding | kAccessSetsBits}, Access{4000, 8, kAccessRead | kChangingWrite}));
}

TEST_F(SegmentTest, TheOwnStackIsLeftOut) {
  segment_->add(4999, 1, kAccessRead);
  segment_->add(5000, 8, kAccessRead);
  segment_->add(5996, 8, kAccessRead);
  segment_->set_private(5000, 6000);
  segment_->add(5992, 8, kAccessRead);
  segment_->add(5990, 12, kAccessRead);
  segment_->add(6000, 8, kAccessRead);
  EXPECT_THAT(ranges(), ElementsAre(Access{4999, 1, kAccessRead}, Access{6000, 4, kAccessRead},
                                    Access{6000, 2, kAccessRead}, Access{6000, 8, kAccessRead}));
}

TEST_F(SegmentTest, AWalkThroughMemoryIsOneRange) {
  for (uint64_t i = 0; i < 1000; ++i) {
    segment_->add(100'000 + 32 * i, 32, kAccessRead);
    segment_->add(900'000 - 32 * i, 32, kChangingWrite);
  }
  EXPECT_THAT(ranges(),
              ElementsAre(Access{100'000, 32'000, kAccessRead}, Access{900'000 - 32 * 999, 32'000, kChangingWrite}));
}

TEST_F(SegmentTest, MoreThanItHoldsIsSaid) {
  for (uint64_t i = 0; i < Segment::kRangesMax; ++i) segment_->add(1000 + 100 * i, 8, kAccessRead);
  EXPECT_FALSE(segment_->overflown());
  segment_->add(10, 8, kAccessRead);
  EXPECT_TRUE(segment_->overflown());
  EXPECT_EQ(ranges().size(), Segment::kRangesMax);
  segment_->begin();
  EXPECT_FALSE(segment_->overflown());
  EXPECT_THAT(ranges(), IsEmpty());
}

TEST_F(SegmentTest, ReadsTheLog) {
  struct {
    LogEntry copied_down, same_byte, other_byte;
    uint64_t read[2];
  } log = {{7000, kMetaString | kMetaRead | 4, 0, 6960, 0},            // ten elements of 4 bytes, downwards
           {3000, kMetaValues | kMetaWrite | 1, 0, 0x12, 0xffffff12},  // the register's upper bits do not count
           {3001, kMetaValues | kMetaWrite | 1, 0, 0x12, 0x13},
           {4000, kMetaRead | 8}};
  const auto begin = reinterpret_cast<uint64_t>(&log);
  segment_->add_log(begin, begin + sizeof log);
  EXPECT_EQ(segment_->accesses(), 4u);
  EXPECT_THAT(ranges(), ElementsAre(Access{6964, 40, kAccessRead}, Access{3000, 1, kAccessWrite},
                                    Access{3001, 1, kChangingWrite}, Access{4000, 8, kAccessRead}));
}

struct Seen final : AccessSink {
  std::vector<Access> accesses;
  int flushes = 0;
  void take(std::span<const Access> some) override { accesses.insert(accesses.end(), some.begin(), some.end()); }
  void flushed() override { ++flushes; }
  void missed(Reason) override {}
  bool is_wanted() const override { return true; }
};

// Entries lie in the log newest first; the sink gets them as they happened, repeated ones and those of the own stack
// included.
TEST_F(SegmentTest, ASinkHasEveryAccessInItsOrder) {
  std::vector<Access> expected;
  std::vector<LogEntry> log;
  for (uint64_t i = 0; i < 300; ++i) {
    const uint64_t address = 5000 + i % 7 * 8;
    log.insert(log.begin(), {address, 8 | kMetaWrite | kMetaValues, 0, i, i % 2 == 0 ? i : i + 1});
    expected.push_back({address, 8, i % 2 == 0 ? kAccessWrite : kChangingWrite});
  }
  log.insert(log.begin(), {0x1000, 2 | kMetaRead | kMetaString, 0, 0x1010, 0});
  expected.push_back({0x1000, 16, kAccessRead});
  log.insert(log.begin(), {16, 4 | kMetaRead | kMetaLocal, 0, 0, 0});
  expected.push_back({reinterpret_cast<uint64_t>(__builtin_thread_pointer()) + 16, 4, kAccessRead});
  Seen seen;
  segment_->stream_to(&seen);
  segment_->pause();
  segment_->set_private(5000, 6000);
  const auto begin = reinterpret_cast<uint64_t>(log.data());
  segment_->add_log(begin, begin + log.size() * sizeof(LogEntry));
  segment_->add(70, 3, kAccessRead);
  expected.push_back({70, 3, kAccessRead});
  EXPECT_EQ(seen.accesses, expected);
  EXPECT_EQ(seen.flushes, 1);
  EXPECT_THAT(ranges(), IsEmpty());  // paused
  segment_->begin();
  segment_->add_log(begin, begin + log.size() * sizeof(LogEntry));
  EXPECT_EQ(ranges().size(), 9u);
}

// Vector code walks through an array in one step, and code that reads it again in another.
TEST_F(SegmentTest, ASecondWalkThroughTheSameMemoryTakesNoRoom) {
  for (int pass = 0; pass < 3; ++pass) {
    const uint64_t step = pass == 1 ? 16 : 8;
    for (uint64_t at = 0; at < 6000 * 8; at += step) {
      segment_->add(0x10000 + at, step, kAccessRead);
      segment_->add(0x10000 + at + (pass == 2 ? 8 : 0), step, kChangingWrite);
    }
  }
  EXPECT_FALSE(segment_->overflown());
  uint64_t bytes = 0;
  for (const Access& range : segment_->ranges()) {
    if ((range.flags & kAccessWrite) != 0) bytes += range.length_bytes;
  }
  EXPECT_GE(bytes, 6000u * 8);
  // What lies apart cannot be merged.
  segment_->begin();
  for (uint64_t at = 0; at < 2 * Segment::kRangesMax; ++at) segment_->add(0x10000 + at * 64, 8, kAccessRead);
  EXPECT_TRUE(segment_->overflown());
}

// Each element is read and then written, some with the value that it has; the log is read newest first.
TEST_F(SegmentTest, ManyWalksThatChangeWhatTheyReadTakeNoRoom) {
  for (int pass = 0; pass < 50; ++pass) {
    for (uint64_t i = 2 * Segment::kRangesMax; i > 0; --i) {
      segment_->add(0x10000 + 4 * i, 4, pass == 0 && i % 97 == 0 ? kAccessWrite : kChangingWrite);
      segment_->add(0x10000 + 4 * i, 4, kAccessRead);
      segment_->add(0x80000 + 4 * i, 4, kAccessRead);
    }
    ASSERT_FALSE(segment_->overflown()) << pass;
  }
  const std::vector<Access> all = ranges();
  const auto is_written = [&](uint64_t at) {
    return std::ranges::any_of(all, [at](const Access& range) {
      return (range.flags & kChangingWrite) == kChangingWrite && at >= range.begin &&
             at < range.begin + range.length_bytes;
    });
  };
  for (uint64_t i = 1; i <= 2 * Segment::kRangesMax; ++i) ASSERT_TRUE(is_written(0x10000 + 4 * i)) << i;
  EXPECT_FALSE(is_written(0x80004));
}

}  // namespace
}  // namespace contrafact::translate
