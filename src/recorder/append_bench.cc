// What one event costs the thread that appends it, against the bare clock read, with the drainer at work beside it.
#include <benchmark/benchmark.h>

#include "base/check.h"
#include "base/clock.h"
#include "recorder/access_sets.h"
#include "recorder/recorder.h"

namespace contrafact::recorder {
namespace {

class NullSink : public format::Sink {
 public:
  base::Status write(std::span<const uint8_t>) override { return {}; }
};

std::unique_ptr<Recorder> start() {
  auto recorder = Recorder::start({.sink = std::make_unique<NullSink>(), .cpu_switches = false});
  CHECK(recorder.ok());
  return std::move(*recorder);
}

void BM_ClockRead(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(base::monotonic_ns());
}
BENCHMARK(BM_ClockRead);

// As many events as fit the buffers, then the drainer gets time to empty them. So the measurement is of appending with
// warm buffers and all their swaps, not of dropping.
constexpr int64_t kEventsPerRound = 200'000;

template <typename Append>
void run(benchmark::State& state, Append append) {
  auto recorder = start();
  Client* client = recorder->attach({});
  for (int64_t i = 0; i < 2 * kEventsPerRound; ++i) append(client, static_cast<uint32_t>(i));
  recorder->flush();
  for (auto _ : state) {
    for (int64_t i = 0; i < kEventsPerRound; ++i) append(client, static_cast<uint32_t>(i));
    state.PauseTiming();
    recorder->flush();
    state.ResumeTiming();
  }
  recorder->stop("exit");
  state.SetItemsProcessed(state.iterations() * kEventsPerRound);
  state.counters["ns_per_event"] = benchmark::Counter(static_cast<double>(state.iterations() * kEventsPerRound) * 1e-9,
                                                      benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["dropped"] = static_cast<double>(recorder->statistics().events_dropped);
}

void BM_MethodEnter(benchmark::State& state) {
  run(state, [](Client* client, uint32_t i) {
    Recorder::append(client, EventKind::method_enter, base::monotonic_ns(), i & 0xff);
  });
}
BENCHMARK(BM_MethodEnter)->Unit(benchmark::kMillisecond);

void BM_TaskSpawn(benchmark::State& state) {
  run(state, [](Client* client, uint32_t i) {
    Recorder::append(client, EventKind::task_spawn, base::monotonic_ns(), i, i & 0xff, 1u, i & 0x3f);
  });
}
BENCHMARK(BM_TaskSpawn)->Unit(benchmark::kMillisecond);

void BM_MethodEnterWithoutClock(benchmark::State& state) {
  run(state, [](Client* client, uint32_t i) { Recorder::append(client, EventKind::method_enter, i, i & 0xff); });
}
BENCHMARK(BM_MethodEnterWithoutClock)->Unit(benchmark::kMillisecond);

// A set of eight ranges, sent before or always new; without the clock, so that the cost of the set alone is seen.
template <bool kKnown>
void access_set(benchmark::State& state) {
  auto cache = std::make_unique<AccessSetCache>();
  std::vector<format::AccessRange> ranges;
  for (uint64_t i = 0; i < 8; ++i) ranges.push_back({0x1000 + i * 64, 8, format::kAccessRead});
  uint64_t round = 0;
  run(state, [&](Client* client, uint32_t i) {
    // Of 262,144 different sets each comes back long after the cache has forgotten it, and is no new row.
    if (!kKnown) ranges[0].begin = 0x100000 + ++round % (1 << 18) * 64;
    append_accesses(client, *cache, i, format::SetGap::complete, ranges);
  });
}
BENCHMARK(access_set<true>)->Name("BM_AccessSetKnown")->Unit(benchmark::kMillisecond);
BENCHMARK(access_set<false>)->Name("BM_AccessSetNew")->Unit(benchmark::kMillisecond)->Iterations(3);

}  // namespace
}  // namespace contrafact::recorder

BENCHMARK_MAIN();
