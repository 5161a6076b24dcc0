#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "format/testing.h"

namespace contrafact::format {
namespace {

std::vector<PlainEvent> read_back(const std::vector<PlainEvent>& events, int level = 1) {
  std::vector<uint8_t> bytes;
  auto writer = Writer::create(std::make_unique<MemorySink>(bytes), level);
  EventEncoder encoder;
  for (const PlainEvent& event : events) {
    encoder.begin_run(event.thread, event.source);
    encoder.append(event.kind, event.time_ns, event.operands.data());
    if (encoder.full()) {
      EXPECT_TRUE((*writer)->add_events(encoder).ok());
    }
  }
  EXPECT_TRUE((*writer)->add_events(encoder).ok());
  EXPECT_TRUE((*writer)->finish({"exit"}).ok());
  Collected collected;
  const auto reader = Reader::from_bytes(bytes, "test");
  EXPECT_TRUE(reader.ok());
  const ReadLoss loss = reader->read(collected);
  EXPECT_FALSE(loss.cut_off);
  EXPECT_EQ(loss.blocks_damaged + loss.blocks_missing + loss.bytes_skipped, 0u);
  return collected.events;
}

TEST(EventBlock, GivesBackEveryKindWithExtremeOperandsAndTimes) {
  std::vector<PlainEvent> events;
  std::mt19937_64 random(7);
  const uint32_t values[] = {0,        1,         0xff,       0x100,      0xffff,    0x10000,
                             0xffffff, 0x1000000, 0x7fffffff, 0x80000000, UINT32_MAX};
  const int64_t times[] = {0,
                           1,
                           255,
                           256,
                           70'000,
                           20'000'000,
                           int64_t{1} << 40,
                           std::numeric_limits<int64_t>::max(),
                           std::numeric_limits<int64_t>::min(),
                           -1};
  for (int i = 0; i < 20'000; ++i) {
    PlainEvent event{ThreadId(values[random() % 11]), RunSource::program,
                     static_cast<EventKind>(random() % kEventKinds), times[random() % 10]};
    if (random() % 4 != 0 && i > 0) event.thread = events.back().thread;
    for (size_t k = 0; k < schema_of(event.kind).operand_count(); ++k) event.operands[k] = values[random() % 11];
    if (event.kind == EventKind::cpu_in || event.kind == EventKind::cpu_out) event.source = RunSource::kernel;
    events.push_back(event);
  }
  EXPECT_EQ(read_back(events), events);
  EXPECT_EQ(read_back(events, 0), events);
}

TEST(EventBlock, SplitsWhatDoesNotFitOneBlock) {
  std::vector<PlainEvent> events(kEventsPerBlockMax + 5,
                                 {ThreadId(3), RunSource::program, EventKind::task_start, 10, {4}});
  EXPECT_EQ(read_back(events), events);
}

TEST(EventBlock, RefusesWhatBreaksTheGrammar) {
  EventEncoder encoder;
  SyntheticLoad(4, true).pass(500, encoder);
  const uint32_t count = encoder.event_count();
  GroupWriter groups(0);
  std::vector<uint8_t> payload;
  encoder.encode(groups, payload);
  EventDecoder decoder;
  ASSERT_NE(decoder.decode(payload, count), nullptr);
  EXPECT_EQ(decoder.decode(payload, count + 1), nullptr);
  EXPECT_EQ(decoder.decode(payload, count - 1), nullptr);
  for (size_t cut = 0; cut < payload.size(); ++cut) {
    EXPECT_EQ(decoder.decode(std::span(payload).first(cut), count), nullptr);
  }
}

// Issue: about 3 bytes an event, never more than 6. Drain passes are small, which is the hard case.
TEST(EventBlock, CostsFewBytesAnEvent) {
  for (const bool with_methods : {false, true}) {
    for (const uint32_t events_per_pass : {30u, 100u, 300u, 3000u, 60'000u}) {
      std::vector<uint8_t> bytes;
      auto writer = Writer::create(std::make_unique<MemorySink>(bytes));
      EventEncoder encoder;
      SyntheticLoad load(events_per_pass < 300 ? 2 : 20, with_methods);
      while ((*writer)->events_written() < 120'000) {
        load.pass(events_per_pass, encoder);
        ASSERT_TRUE((*writer)->add_events(encoder).ok());
      }
      const double bytes_per_event =
          static_cast<double>(bytes.size()) / static_cast<double>((*writer)->events_written());
      fmt::print("{} events a block, {}: {:.2f} bytes an event\n", events_per_pass,
                 with_methods ? "tasks and methods" : "tasks only", bytes_per_event);
      // Smaller blocks are written only where there are few events in all: the recorder gathers events for a while.
      if (events_per_pass >= 100) {
        EXPECT_LT(bytes_per_event, 6.0);
      }
    }
  }
}

TEST(Tables, ComeBackWithTheirIdsOverSeveralCalls) {
  std::vector<uint8_t> bytes;
  auto writer = Writer::create(std::make_unique<MemorySink>(bytes));
  Writer& w = **writer;
  const std::vector<std::string_view> strings{"", "shop.api.Feed", "load"};
  const std::vector<MethodRow> methods{{StringId(1), StringId(2), StringId(), 41}};
  const std::vector<ContextRow> contexts{{ContextId(), MethodId(0), 43}, {ContextId(0), MethodId(0), UINT32_MAX}};
  const std::vector<PoolRow> pools{{StringId(0), PoolKind::fork_join, 4, UINT32_MAX}};
  const std::vector<ThreadRow> threads{{StringId(2), ThreadKind::virtual_thread, true, 0, UINT64_MAX}};
  const std::vector<ConnectionRow> connections{{ConnectionKind::accepted, 8080, 51234}, {ConnectionKind::other, 0, 0}};
  const std::vector<EndpointRow> endpoints{{StringId(1)}, {StringId()}};
  ASSERT_TRUE(w.add_fact("pid", "7").ok());
  for (int twice = 0; twice < 2; ++twice) {
    ASSERT_TRUE(w.add_strings(strings).ok());
    ASSERT_TRUE(w.add_methods(methods).ok());
    ASSERT_TRUE(w.add_contexts(contexts).ok());
    ASSERT_TRUE(w.add_pools(pools).ok());
    ASSERT_TRUE(w.add_threads(threads).ok());
    ASSERT_TRUE(w.add_connections(connections).ok());
    ASSERT_TRUE(w.add_endpoints(endpoints).ok());
  }
  ASSERT_TRUE(w.finish({.exit_reason = "exit", .events_dropped = 3, .end_ns = -5}).ok());
  Collected got;
  Reader::from_bytes(bytes, "test")->read(got);
  EXPECT_EQ(got.facts.at("pid"), "7");
  ASSERT_EQ(got.strings.size(), 6u);
  EXPECT_EQ(got.strings.at(4), "shop.api.Feed");
  ASSERT_EQ(got.methods.size(), 2u);
  EXPECT_EQ(got.methods.at(1).name, StringId(2));
  EXPECT_FALSE(got.methods.at(1).file.valid());
  EXPECT_EQ(got.methods.at(1).line, 41u);
  ASSERT_EQ(got.contexts.size(), 4u);
  EXPECT_EQ(got.contexts.at(3).parent, ContextId(0));
  EXPECT_EQ(got.contexts.at(3).line, UINT32_MAX);
  EXPECT_FALSE(got.contexts.at(2).parent.valid());
  EXPECT_EQ(got.pools.at(1).kind, PoolKind::fork_join);
  EXPECT_EQ(got.pools.at(1).max_size, UINT32_MAX);
  EXPECT_EQ(got.threads.at(1).java_tid, UINT64_MAX);
  ASSERT_EQ(got.connections.size(), 4u);
  EXPECT_EQ(got.connections.at(2).kind, ConnectionKind::accepted);
  EXPECT_EQ(got.connections.at(2).local_port, 8080u);
  EXPECT_EQ(got.connections.at(2).remote_port, 51234u);
  EXPECT_EQ(got.connections.at(3).kind, ConnectionKind::other);
  ASSERT_EQ(got.endpoints.size(), 4u);
  EXPECT_EQ(got.endpoints.at(2).name, StringId(1));
  EXPECT_FALSE(got.endpoints.at(3).name.valid());
  EXPECT_TRUE(got.threads.at(1).daemon);
  EXPECT_EQ(got.threads.at(1).kind, ThreadKind::virtual_thread);
  ASSERT_EQ(got.trailers.size(), 1u);
  EXPECT_EQ(got.trailers[0].exit_reason, "exit");
  EXPECT_EQ(got.trailers[0].events_dropped, 3u);
  EXPECT_EQ(got.trailers[0].end_ns, -5);
}

TEST(Tables, ManyRowsAndLongTextsAreSplitIntoBlocks) {
  std::vector<uint8_t> bytes;
  auto writer = Writer::create(std::make_unique<MemorySink>(bytes));
  const std::string long_text(900'000, 'x');
  const std::vector<std::string_view> rows(7, long_text);
  ASSERT_TRUE((*writer)->add_strings(rows).ok());
  const std::string too_long(5'000'000, 'y');
  const std::vector<std::string_view> last{too_long};
  ASSERT_TRUE((*writer)->add_strings(last).ok());
  Collected got;
  const ReadLoss loss = Reader::from_bytes(bytes, "test")->read(got);
  EXPECT_EQ(loss.blocks_damaged, 0u);
  ASSERT_EQ(got.strings.size(), 8u);
  EXPECT_EQ(got.strings.at(6), long_text);
  EXPECT_EQ(got.strings.at(7).size(), size_t{1} << 20);
}

// Fails once `room` bytes are used.
class FullSink : public Sink {
 public:
  FullSink(size_t room, size_t& calls) : room_(room), calls_(calls) {}
  base::Status write(std::span<const uint8_t> block) override {
    ++calls_;
    if (block.size() > room_) return base::Error{"no space left"};
    room_ -= block.size();
    return {};
  }

 private:
  size_t room_;
  size_t& calls_;
};

TEST(Writer, AfterAnErrorWritesNothingButTheTrailer) {
  size_t calls = 0;
  auto writer = Writer::create(std::make_unique<FullSink>(300, calls), 0);
  ASSERT_TRUE(writer.ok());
  EventEncoder encoder;
  SyntheticLoad(1, false).pass(500, encoder);
  EXPECT_FALSE((*writer)->add_events(encoder).ok());
  EXPECT_TRUE(encoder.empty());
  EXPECT_EQ(calls, 2u);
  EXPECT_FALSE((*writer)->add_fact("a", "b").ok());
  EXPECT_EQ(calls, 2u);
  EXPECT_EQ((*writer)->finish({"disk full"}).error().message, "no space left");
  EXPECT_EQ(calls, 3u);
  EXPECT_EQ((*writer)->events_written(), 0u);
}

// Blocks of many sizes: facts are shorter than the end is. Returns how many events are not in the file.
uint64_t write_up_to(std::vector<uint8_t>& bytes, size_t bytes_most) {
  auto writer = Writer::create(std::make_unique<MemorySink>(bytes, bytes_most));
  EXPECT_TRUE(writer.ok());
  EventEncoder encoder;
  SyntheticLoad load(1, false);
  uint64_t dropped = 0;
  const auto add_events = [&](uint32_t least) {
    load.pass(least, encoder);
    const uint32_t count = encoder.event_count();
    if (!(*writer)->add_events(encoder).ok()) dropped += count;
  };
  (void)(*writer)->add_fact("a", "b");
  for (const uint32_t events : {200u, 1u, 70u}) {
    add_events(events);
    for (int i = 0; i < 3; ++i) (void)(*writer)->add_fact("c", "d");
  }
  const auto finish = [&] {
    return (*writer)->finish({.exit_reason = "recording stopped: no space left", .events_dropped = dropped});
  };
  base::Status finished = finish();
  while (!(*writer)->has_ended()) {
    const std::optional<uint32_t> events = (*writer)->take_back();
    if (!events) break;
    dropped += *events;
    finished = finish();
  }
  EXPECT_EQ(finished.ok(), bytes_most == SIZE_MAX);
  EXPECT_EQ((*writer)->bytes_written(), bytes.size());
  return dropped;
}

TEST(Writer, HasRoomForTheEndWhereverTheDiskIsFull) {
  std::vector<uint8_t> whole;
  ASSERT_EQ(write_up_to(whole, SIZE_MAX), 0u);
  Collected all;
  ASSERT_FALSE(Reader::from_bytes(whole, "test")->read(all).cut_off);
  const size_t end_bytes = 120;  // at most, of a trailer with this reason
  for (size_t most = sizeof(FileHeader) + end_bytes; most < whole.size(); ++most) {
    std::vector<uint8_t> bytes;
    const uint64_t dropped = write_up_to(bytes, most);
    ASSERT_LE(bytes.size(), most);
    Collected got;
    const ReadLoss loss = Reader::from_bytes(bytes, "test")->read(got);
    ASSERT_FALSE(loss.cut_off) << most;
    ASSERT_EQ(loss.blocks_damaged + loss.blocks_missing + loss.bytes_skipped, 0u) << most;
    ASSERT_EQ(got.trailers.size(), 1u) << most;
    EXPECT_EQ(got.trailers[0].events, got.events.size()) << most;
    EXPECT_EQ(got.trailers[0].events_dropped, dropped) << most;
    EXPECT_EQ(got.events.size() + dropped, all.events.size()) << most;
  }
}

TEST(FileSink, SaysWhyItCannotBeginAndCutsBackWhenTheDiskIsFull) {
  EXPECT_THAT(open_file_sink("/nowhere/x.cft").error().message,
              testing::HasSubstr("cannot create /nowhere/x.cft: No such"));
  auto full = open_file_sink("/dev/full");
  ASSERT_TRUE(full.ok());
  EXPECT_THAT((*full)->write(std::vector<uint8_t>(10)).error().message,
              testing::HasSubstr("cannot write /dev/full: No space"));
}

}  // namespace
}  // namespace contrafact::format
