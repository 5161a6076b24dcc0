// throughput PRODUCERS EVENTS WORK ROUNDS: nanoseconds for each event of a synthetic program, from its first to the
// last processed, for each way to process its events. Each producer makes EVENTS events, WORK steps of its own between
// two of them. The ways take turns. Output: way, capacity, queue, shortest ns for an event; `program` is the program
// alone.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <latch>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "deferred/environment.h"
#include "profile.h"

namespace {

using namespace contrafact::deferred;
using bench::CoalescingProfile;
using bench::SharedProfile;
using Plain = Environment<&SharedProfile::call, &SharedProfile::allocate>;
using Coalescing = Environment<&CoalescingProfile::call, &CoalescingProfile::allocate>;

struct Program {
  int producers;
  uint64_t events;
  int work;
};

// Few methods are called often and most rarely; one event in four is an allocation.
template <typename Sink>
void produce(const Program& program, int producer, Sink sink) {
  uint64_t random = 88172645463325252u + static_cast<uint64_t>(producer);
  uint32_t caller = 0;
  for (uint64_t i = 0; i < program.events; ++i) {
    for (int step = 0; step <= program.work; ++step) {
      random ^= random << 13;
      random ^= random >> 7;
      random ^= random << 17;
    }
    constexpr uint64_t kMask = bench::kMethods - 1;
    const uint64_t skewed = (random & kMask) * (random >> 12 & kMask) / bench::kMethods;
    const auto callee = static_cast<uint32_t>(skewed * skewed / bench::kMethods);
    sink(i % 4 == 3, caller, callee, random >> 58);
    caller = callee;
  }
}

// Seconds from the first event to the end of `finish`.
template <typename Sink>
double run(const Program& program, Sink sink, const std::function<void()>& finish) {
  using Clock = std::chrono::steady_clock;
  std::latch start(program.producers);
  std::vector<std::thread> threads;
  std::vector<Clock::time_point> begin(static_cast<size_t>(program.producers));
  for (int p = 0; p < program.producers; ++p) {
    threads.emplace_back([&, p] {
      start.arrive_and_wait();
      begin[static_cast<size_t>(p)] = Clock::now();
      produce(program, p, sink);
    });
  }
  for (auto& thread : threads) thread.join();
  finish();
  return std::chrono::duration<double>(Clock::now() - *std::min_element(begin.begin(), begin.end())).count();
}

void check(const Program& program, const SharedProfile& profile) {
  const uint64_t all = program.events * static_cast<uint64_t>(program.producers);
  if (profile.edges.sum() + profile.objects() == all) return;
  std::fprintf(stderr, "%llu events were counted as %llu, and %llu calls found no place in the table\n",
               static_cast<unsigned long long>(all),
               static_cast<unsigned long long>(profile.edges.sum() + profile.objects()),
               static_cast<unsigned long long>(profile.edges.without_place()));
  std::exit(1);
}

double alone(const Program& program) {
  return run(
      program,
      [](bool, uint32_t caller, uint32_t callee, uint64_t bytes) {
        asm volatile("" : : "r"(caller + callee + bytes));
      },
      [] {});
}

double sequential(const Program& program) {
  SharedProfile profile;
  const double seconds = run(
      program,
      [&](bool allocates, uint32_t caller, uint32_t callee, uint64_t bytes) {
        if (allocates) {
          profile.allocate(callee, bytes);
        } else {
          profile.call(caller, callee);
        }
      },
      [] {});
  check(program, profile);
  return seconds;
}

template <typename Env, auto Call, auto Allocate>
double deferred(const Program& program, const SharedProfile& profile, Env& environment) {
  const double seconds = run(
      program,
      [&](bool allocates, uint32_t caller, uint32_t callee, uint64_t bytes) {
        if (allocates) {
          environment.template defer<Allocate>(callee, bytes);
        } else {
          environment.template defer<Call>(caller, callee);
        }
      },
      [&] { environment.stop(); });
  check(program, profile);
  return seconds;
}

struct Way {
  std::string name;
  uint32_t capacity = 0, queue = 0;
  std::function<double(const Program&)> run;
  double least_s = std::numeric_limits<double>::max();
};

template <typename T>
T sure(contrafact::base::Result<T> result) {
  if (result) return std::move(*result);
  std::fprintf(stderr, "%s\n", result.error().message.c_str());
  std::exit(1);
}

Way without_coalescing(uint32_t capacity) {
  return {"synchronous, no coalescing", capacity, 0, [=](const Program& program) {
            SharedProfile profile;
            auto environment = sure(Plain::create(profile, synchronous(), {.capacity = capacity}));
            return deferred<Plain, &SharedProfile::call, &SharedProfile::allocate>(program, profile, *environment);
          }};
}
Way coalescing(const char* name, uint32_t capacity, uint32_t queue,
               const std::function<std::unique_ptr<Processor>()>& make) {
  return {name, capacity, queue, [=](const Program& program) {
            SharedProfile profile;
            auto environment =
                sure(Coalescing::create_coalescing([&] { return std::make_unique<CoalescingProfile>(profile); }, make(),
                                                   {.capacity = capacity, .memory_bytes_max = uint64_t{1} << 30}));
            return deferred<Coalescing, &CoalescingProfile::call, &CoalescingProfile::allocate>(program, profile,
                                                                                                *environment);
          }};
}

std::vector<Way> ways() {
  std::vector<Way> ways{{"program", 0, 0, alone}, {"sequential", 0, 0, sequential}};
  const uint32_t cores = std::max(1u, std::thread::hardware_concurrency());
  for (const uint32_t capacity : {100u, 1'000u, 10'000u, 100'000u}) {
    ways.push_back(without_coalescing(capacity));
    ways.push_back(coalescing("synchronous", capacity, 0, synchronous));
    for (const uint32_t queue : {1u, 10u, 100u}) {
      if (capacity * queue > 1'000'000) continue;
      ways.push_back(
          coalescing("pool", capacity, queue, [=] { return sure(pool({.consumers = cores, .queue = queue})); }));
      ways.push_back(coalescing("adaptive", capacity, queue, [=] { return sure(adaptive({.queue = queue})); }));
    }
  }
  return ways;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return std::fprintf(stderr, "throughput PRODUCERS EVENTS WORK ROUNDS\n"), 2;
  const Program program{std::atoi(argv[1]), std::strtoull(argv[2], nullptr, 10), std::atoi(argv[3])};
  std::vector<Way> all = ways();
  for (int round = 0; round < std::atoi(argv[4]); ++round) {
    for (Way& way : all) way.least_s = std::min(way.least_s, way.run(program));
  }
  const double events = static_cast<double>(program.events) * program.producers;
  for (const Way& way : all) {
    std::printf("%s\t%u\t%u\t%.2f\n", way.name.c_str(), way.capacity, way.queue, way.least_s * 1e9 / events);
  }
}
