// The reader against damaged files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "format/testing.h"

namespace contrafact::format {
namespace {

struct Sample {
  std::vector<uint8_t> bytes;
  std::vector<PlainEvent> events;
};

Sample make_sample(uint32_t blocks = 6) {
  Sample sample;
  auto writer = Writer::create(std::make_unique<MemorySink>(sample.bytes));
  EventEncoder encoder;
  SyntheticLoad load(4, true);
  const std::vector<std::string_view> names{"main", "worker"};
  EXPECT_TRUE((*writer)->add_fact("pid", "1").ok());
  EXPECT_TRUE((*writer)->add_strings(names).ok());
  for (uint32_t i = 0; i < blocks; ++i) {
    load.pass(200, encoder, &sample.events);
    EXPECT_TRUE((*writer)->add_events(encoder).ok());
  }
  EXPECT_TRUE((*writer)->finish({"exit"}).ok());
  return sample;
}

std::vector<size_t> block_offsets(const std::vector<uint8_t>& bytes) {
  std::vector<size_t> offsets;
  for (size_t at = sizeof(FileHeader); at < bytes.size();) {
    offsets.push_back(at);
    BlockHeader header;
    std::memcpy(&header, &bytes[at], sizeof header);
    at += sizeof header + header.stored_bytes;
  }
  return offsets;
}

// Every event read is one that was written, in the order of its thread.
void expect_subsequence(const std::vector<PlainEvent>& read, const std::vector<PlainEvent>& written) {
  auto at = written.begin();
  for (const PlainEvent& event : read) {
    at = std::find(at, written.end(), event);
    ASSERT_NE(at, written.end());
    ++at;
  }
}

std::string open_error(std::vector<uint8_t> bytes) {
  const auto reader = Reader::from_bytes(std::move(bytes), "run.cft");
  return reader.ok() ? "opened" : reader.error().message;
}

TEST(ReaderErrors, SayWhatIsWrong) {
  EXPECT_EQ(open_error({}), "run.cft is empty: nothing was recorded");
  const std::string foreign = "run.cft is no Contrafact trace; contrafact record -o run.cft -- PROGRAM makes one";
  EXPECT_EQ(open_error({'h', 'e', 'l', 'l', 'o'}), foreign);
  EXPECT_EQ(open_error(std::vector<uint8_t>(100'000, 'C')), foreign);
  EXPECT_EQ(open_error({0x89, 'C', 'F', 'T'}), "run.cft is cut off within its header: it holds nothing");
  EXPECT_THAT(Reader::open("/nowhere/run.cft").error().message, testing::HasSubstr("/nowhere/run.cft"));
  auto bytes = make_sample().bytes;
  FileHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  header.version = kFormatVersion + 1;
  header.checksum = header_checksum(header);
  std::memcpy(bytes.data(), &header, sizeof header);
  EXPECT_THAT(open_error(bytes), testing::HasSubstr("run.cft was written by a newer Contrafact (format " +
                                                    std::to_string(kFormatVersion + 1)));
  for (const uint32_t older : {1, 2, 3}) {  // had fewer kinds of rows and events
    header.version = older;
    header.checksum = header_checksum(header);
    std::memcpy(bytes.data(), &header, sizeof header);
    EXPECT_EQ(open_error(bytes), "opened");
  }
}

TEST(ReaderDamage, CutAnywhereGivesTheBlocksBefore) {
  const Sample sample = make_sample(3);
  const auto offsets = block_offsets(sample.bytes);
  for (size_t size = sizeof(FileHeader); size < sample.bytes.size(); size += size % 7 + 1) {
    const auto reader =
        Reader::from_bytes({sample.bytes.begin(), sample.bytes.begin() + static_cast<ptrdiff_t>(size)}, "x");
    ASSERT_TRUE(reader.ok());
    Collected got;
    const ReadLoss loss = reader->read(got);
    EXPECT_TRUE(loss.cut_off);
    EXPECT_EQ(loss.blocks_damaged, 0u) << size;
    ASSERT_LE(got.events.size(), sample.events.size());
    EXPECT_TRUE(std::equal(got.events.begin(), got.events.end(), sample.events.begin()));
    // Whole blocks in front of the cut are all there.
    const auto whole =
        static_cast<size_t>(std::upper_bound(offsets.begin(), offsets.end(), size) - offsets.begin()) - 1;
    if (whole > 3) {
      EXPECT_GT(got.events.size(), 0u);
    }
  }
}

TEST(ReaderDamage, FlippedBitsCostOneBlockAndAreCounted) {
  const Sample sample = make_sample();
  std::mt19937_64 random(3);
  for (int round = 0; round < 300; ++round) {
    auto bytes = sample.bytes;
    const size_t at = random() % bytes.size();
    bytes[at] ^= static_cast<uint8_t>(1u << random() % 8);
    const auto reader = Reader::from_bytes(bytes, "x");
    ASSERT_TRUE(reader.ok()) << reader.error().message;
    Collected got;
    const ReadLoss loss = reader->read(got);
    EXPECT_FALSE(loss.notes.empty());
    EXPECT_LE(loss.blocks_missing, 1u);
    expect_subsequence(got.events, sample.events);
    if (at >= sizeof(FileHeader)) {
      EXPECT_TRUE(loss.blocks_damaged == 1u || loss.cut_off) << at;
      EXPECT_GT(loss.bytes_skipped, 0u);
    } else {
      EXPECT_EQ(got.events.size(), sample.events.size());
    }
  }
}

// The results of read_in_passes beyond those of read.
struct Outlined : Collected {
  size_t outlined = 0, holes = 0;
  void on_hole() override { ++holes; }
  void on_outline(const EventOutline& outline) override {
    EXPECT_TRUE(events.empty());
    for (const EventRun& run : outline.runs) outlined += run.end - run.begin;
  }
};

TEST(ReadInPasses, ShowsTheSameWithTheOutlinesBefore) {
  const Sample sample = make_sample();
  std::mt19937_64 random(4);
  for (int round = 0; round < 100; ++round) {
    auto bytes = sample.bytes;
    if (round > 0) bytes[random() % bytes.size()] ^= static_cast<uint8_t>(1u << random() % 8);
    if (round > 50) bytes.resize(random() % bytes.size());
    const auto reader = Reader::from_bytes(bytes, "x");
    if (!reader) continue;
    Collected once;
    Outlined twice;
    const ReadLoss loss = reader->read(once);
    const ReadLoss loss_of_two = reader->read_in_passes(twice);
    EXPECT_EQ(twice.events, once.events);
    EXPECT_EQ(twice.outlined, once.events.size());
    EXPECT_EQ(twice.facts, once.facts);
    EXPECT_EQ(twice.strings, once.strings);
    EXPECT_EQ(twice.trailers.size(), once.trailers.size());
    EXPECT_EQ(loss_of_two.notes, loss.notes);
    EXPECT_EQ(loss_of_two.bytes_skipped, loss.bytes_skipped);
    EXPECT_EQ(loss_of_two.cut_off, loss.cut_off);
  }
}

// A block with a true checksum and a last group that is a byte too short.
TEST(ReadInPasses, EventsThatBreakTheGrammarDoNotComeThoughTheirOutlineDid) {
  Sample sample = make_sample();
  const size_t at = block_offsets(sample.bytes)[4];
  BlockHeader header;
  std::memcpy(&header, &sample.bytes[at], sizeof header);
  ASSERT_EQ(static_cast<BlockType>(header.type), BlockType::events);
  const size_t payload_at = at + sizeof header;
  sample.bytes.erase(sample.bytes.begin() + static_cast<ptrdiff_t>(payload_at + --header.stored_bytes));
  header.checksum = block_checksum(header, std::span(sample.bytes).subspan(payload_at, header.stored_bytes));
  std::memcpy(&sample.bytes[at], &header, sizeof header);
  const auto reader = Reader::from_bytes(sample.bytes, "x");
  Outlined got;
  const ReadLoss loss = reader->read_in_passes(got);
  EXPECT_EQ(loss.blocks_damaged, 1u);
  EXPECT_EQ(loss.bytes_skipped, sizeof header + header.stored_bytes);
  EXPECT_EQ(got.outlined, sample.events.size());
  EXPECT_EQ(got.events.size(), sample.events.size() - header.count);
  expect_subsequence(got.events, sample.events);
}

// A block whose count is false, though its checksum is true, right behind a hole in the numbering.
TEST(ReadInPasses, EventsWithoutAnOutlineAreAHoleAndTheHoleBeforeThemIsCounted) {
  Sample sample = make_sample();
  const auto offsets = block_offsets(sample.bytes);
  BlockHeader header;
  std::memcpy(&header, &sample.bytes[offsets[4]], sizeof header);
  ASSERT_EQ(static_cast<BlockType>(header.type), BlockType::events);
  header.count = 0;
  const size_t payload_at = offsets[4] + sizeof header;
  header.checksum = block_checksum(header, std::span(sample.bytes).subspan(payload_at, header.stored_bytes));
  std::memcpy(&sample.bytes[offsets[4]], &header, sizeof header);
  sample.bytes.erase(sample.bytes.begin() + static_cast<ptrdiff_t>(offsets[3]),
                     sample.bytes.begin() + static_cast<ptrdiff_t>(offsets[4]));
  const auto reader = Reader::from_bytes(sample.bytes, "x");
  Outlined once, in_passes;
  const ReadLoss loss = reader->read(once);
  const ReadLoss loss_in_passes = reader->read_in_passes(in_passes);
  EXPECT_EQ(loss.blocks_missing, 1u);
  EXPECT_EQ(loss_in_passes.blocks_missing, 1u);
  EXPECT_EQ(loss.blocks_damaged, 1u);
  EXPECT_EQ(loss_in_passes.blocks_damaged, 1u);
  EXPECT_EQ(in_passes.events, once.events);
  EXPECT_EQ(once.holes, 2u);       // before the block and behind it
  EXPECT_EQ(in_passes.holes, 3u);  // and in the pass that leaves it out
  EXPECT_EQ(loss_in_passes.notes, loss.notes);
}

struct OrderOfKinds : Visitor {
  std::string order;
  void on_threads(ThreadId, std::span<const ThreadRow>) override { order += 't'; }
  void on_outline(const EventOutline&) override { order += 'o'; }
  void on_events(const EventBlock&) override { order += 'e'; }
};

TEST(ReadInPasses, AllRowsComeBeforeTheFirstOutline) {
  std::vector<uint8_t> bytes;
  auto writer = Writer::create(std::make_unique<MemorySink>(bytes));
  EventEncoder encoder;
  SyntheticLoad load(4, true);
  const ThreadRow row;
  for (int i = 0; i < 3; ++i) {
    load.pass(10, encoder);
    ASSERT_TRUE((*writer)->add_events(encoder).ok() && (*writer)->add_threads({&row, 1}).ok());
  }
  ASSERT_TRUE((*writer)->finish({"exit"}).ok());
  OrderOfKinds got;
  Reader::from_bytes(bytes, "x")->read_in_passes(got);
  EXPECT_EQ(got.order, "tttoooeee");
}

TEST(ReaderDamage, AMissingBlockIsCounted) {
  auto sample = make_sample();
  const auto offsets = block_offsets(sample.bytes);
  sample.bytes.erase(sample.bytes.begin() + static_cast<ptrdiff_t>(offsets[3]),
                     sample.bytes.begin() + static_cast<ptrdiff_t>(offsets[5]));
  Collected got;
  const ReadLoss loss = Reader::from_bytes(sample.bytes, "x")->read(got);
  EXPECT_EQ(loss.blocks_missing, 2u);
  EXPECT_FALSE(loss.cut_off);
  EXPECT_THAT(loss.notes, testing::Contains("2 blocks are missing"));
}

TEST(ReaderDamage, OverwrittenPartsAndGarbageAtTheEndAreSkipped) {
  auto sample = make_sample();
  const auto offsets = block_offsets(sample.bytes);
  std::fill(sample.bytes.begin() + static_cast<ptrdiff_t>(offsets[3]) + 5,
            sample.bytes.begin() + static_cast<ptrdiff_t>(offsets[5]) + 20, 0);
  sample.bytes.insert(sample.bytes.end(), 100, 'x');
  Collected got;
  const ReadLoss loss = Reader::from_bytes(sample.bytes, "x")->read(got);
  EXPECT_EQ(loss.blocks_damaged, 2u);
  EXPECT_EQ(loss.blocks_missing, 3u);
  EXPECT_FALSE(loss.cut_off);
  EXPECT_EQ(got.trailers.size(), 1u);
  expect_subsequence(got.events, sample.events);
}

// Markers with false lengths everywhere: the search must stay linear. This would take minutes otherwise.
TEST(ReaderDamage, MarkersWithFalseLengthsDoNotMakeTheSearchQuadratic) {
  auto sample = make_sample();
  BlockHeader header{};
  std::memcpy(header.marker, kMarker, sizeof kMarker);
  header.type = static_cast<uint8_t>(BlockType::events);
  header.stored_bytes = kBlockStoredBytesMax;
  const auto* first = reinterpret_cast<const uint8_t*>(&header);
  std::vector<uint8_t> bytes(sample.bytes);
  for (int i = 0; i < 600'000; ++i) bytes.insert(bytes.end(), first, first + sizeof header);
  Collected got;
  const ReadLoss loss = Reader::from_bytes(bytes, "x")->read(got);
  EXPECT_EQ(got.events.size(), sample.events.size());
  EXPECT_GE(loss.bytes_skipped, 600'000 * sizeof header);
}

}  // namespace
}  // namespace contrafact::format
