// simulate_bench SECTIONS ROUNDS [TRACE]: simulates a generated native run, eight threads that take turns at four
// mutexes on eight cores, or a recorded one on its own cores; each round prints one line of names and figures. Events
// are those of the trace that the simulation executes: every acquisition, release, wait and signal.
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include "base/clock.h"
#include "model/load.h"
#include "model/trace_builder.h"
#include "whatif/simulate.h"

namespace contrafact::bench {
namespace {

using format::LockKind;
using model::EventKind;

model::Trace generated(uint32_t sections) {
  constexpr uint32_t kThreads = 8, kLocks = 4;
  model::TraceBuilder builder;
  builder.add_fact("agent", "native");
  builder.add_fact("cores", "8");
  std::vector<model::LockId> locks;
  for (uint32_t i = 0; i < kLocks; ++i) locks.push_back(builder.add_lock("", LockKind::mutex));
  std::mt19937 random(1);
  for (uint32_t t = 0; t < kThreads; ++t) {
    const model::ThreadId thread = builder.add_thread("thread");
    int64_t now_ns = 0;
    for (uint32_t i = 0; i < sections / kThreads; ++i) {
      const uint32_t lock = locks[random() % kLocks].value;
      now_ns += 500 + random() % 2000;
      builder.add(thread, EventKind::lock_acquire, now_ns, {lock, UINT32_MAX, 0, 0});
      now_ns += 100 + random() % 200;
      builder.add(thread, EventKind::lock_release, now_ns, {lock, UINT32_MAX, 0, 0});
    }
  }
  return std::move(*builder.build());
}

uint64_t sync_events(const model::Trace& trace) {
  uint64_t count = 0;
  for (size_t i = 0; i < trace.event_count(); ++i) count += trace.kind[i] >= EventKind::lock_acquire;
  return count;
}

int run(const model::Trace& trace, int rounds) {
  const whatif::Simulator simulator(trace);
  const uint64_t events = sync_events(trace);
  for (int i = 0; i < rounds; ++i) {
    for (const auto& [name, rule] :
         {std::pair{"barging", whatif::LockRule::barging}, std::pair{"fifo", whatif::LockRule::fifo},
          std::pair{"recorded", whatif::LockRule::recorded}}) {
      const int64_t begin_ns = base::monotonic_ns();
      const auto simulation = simulator.simulate({}, {.lock_rule = rule});
      const int64_t wall_ns = base::monotonic_ns() - begin_ns;
      if (!simulation || !simulation->stuck.empty()) {
        std::fprintf(stderr, "simulate_bench: the simulation got stuck\n");
        return 1;
      }
      std::printf("rule %s events %llu steps %llu wall_ns %lld duration_ns %lld\n", name,
                  static_cast<unsigned long long>(events), static_cast<unsigned long long>(simulation->steps),
                  static_cast<long long>(wall_ns), static_cast<long long>(simulation->duration_ns));
    }
    const int64_t begin_ns = base::monotonic_ns();
    const int64_t duration_ns = simulator.retime_sections({});
    std::printf("rule re-timed events %llu steps %llu wall_ns %lld duration_ns %lld\n",
                static_cast<unsigned long long>(events), static_cast<unsigned long long>(events),
                static_cast<long long>(base::monotonic_ns() - begin_ns), static_cast<long long>(duration_ns));
  }
  const auto check = simulator.check_baseline();
  if (check) {
    std::printf("recorded_ns %lld simulated_ns %lld retimed_ns %lld\n", static_cast<long long>(check->recorded_ns),
                static_cast<long long>(check->simulated_ns), static_cast<long long>(check->retimed_ns));
  }
  return 0;
}

}  // namespace
}  // namespace contrafact::bench

int main(int count, char** arguments) {
  using namespace contrafact;
  if (count < 3) {
    std::fprintf(stderr, "usage: simulate_bench SECTIONS ROUNDS [TRACE]\n");
    return 2;
  }
  const int rounds = std::atoi(arguments[2]);
  if (count == 3) return bench::run(bench::generated(static_cast<uint32_t>(std::atoi(arguments[1]))), rounds);
  auto trace = model::load_any(arguments[3]);
  if (!trace) {
    std::fprintf(stderr, "simulate_bench: %s\n", trace.error().message.c_str());
    return 1;
  }
  return bench::run(*trace, rounds);
}
