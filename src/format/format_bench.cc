// Events encoded and decoded per second. Decoding includes checksums and zstd, all from memory.
#include <benchmark/benchmark.h>

#include "base/check.h"
#include "format/testing.h"

namespace contrafact::format {
namespace {

std::vector<uint8_t> make_trace(uint32_t events_per_pass, bool with_methods, uint64_t& events, int level = 1) {
  std::vector<uint8_t> bytes;
  auto writer = Writer::create(std::make_unique<MemorySink>(bytes), level);
  CHECK(writer.ok());
  EventEncoder encoder;
  SyntheticLoad load(20, with_methods);
  while ((*writer)->events_written() < 2'000'000) {
    load.pass(events_per_pass, encoder);
    CHECK((*writer)->add_events(encoder).ok());
  }
  events = (*writer)->events_written();
  CHECK((*writer)->finish({"exit"}).ok());
  return bytes;
}

struct Counting : Visitor {
  uint64_t events = 0;
  void on_events(const EventBlock& block) override { events += block.kind.size(); }
};

// Arguments: events in a block, with method events, zstd level.
void BM_Decode(benchmark::State& state) {
  uint64_t events = 0;
  const auto bytes =
      make_trace(static_cast<uint32_t>(state.range(0)), state.range(1) != 0, events, static_cast<int>(state.range(2)));
  state.counters["bytes_per_event"] = static_cast<double>(bytes.size()) / static_cast<double>(events);
  const auto reader = Reader::from_bytes(bytes, "bench");
  uint64_t total = 0;
  for (auto _ : state) {
    Counting counting;
    CHECK(!reader->read(counting).cut_off);
    total += counting.events;
  }
  state.SetItemsProcessed(static_cast<int64_t>(total));
}
BENCHMARK(BM_Decode)
    ->Args({300, 0, 1})
    ->Args({3000, 0, 1})
    ->Args({60000, 0, 1})
    ->Args({60000, 0, 0})
    ->Args({60000, 1, 1});

void BM_Encode(benchmark::State& state) {
  EventEncoder encoder;
  std::vector<PlainEvent> events;
  SyntheticLoad(20, state.range(1) != 0).pass(static_cast<uint32_t>(state.range(0)), encoder, &events);
  GroupWriter groups(1);
  std::vector<uint8_t> out;
  for (auto _ : state) {
    encoder.clear();
    for (const PlainEvent& event : events) {
      encoder.begin_run(event.thread);
      encoder.append(event.kind, event.time_ns, event.operands.data());
    }
    out.clear();
    encoder.encode(groups, out);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(events.size()));
}
BENCHMARK(BM_Encode)->Args({300, 0})->Args({3000, 0})->Args({60'000, 0})->Args({3000, 1});

}  // namespace
}  // namespace contrafact::format

BENCHMARK_MAIN();
