// What the tests of environments share: processors to test with, and classes to make environments of.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "deferred/environment.h"

namespace contrafact::deferred {

enum class Kind { kSynchronous, kPoolOfOne, kPoolOfThree, kAdaptive };
constexpr Kind kKinds[] = {Kind::kSynchronous, Kind::kPoolOfOne, Kind::kPoolOfThree, Kind::kAdaptive};

inline std::unique_ptr<Processor> made(base::Result<std::unique_ptr<Processor>> processor) {
  EXPECT_TRUE(processor.ok());
  return std::move(*processor);
}
inline std::unique_ptr<Processor> make(Kind kind) {
  switch (kind) {
    case Kind::kSynchronous:
      return synchronous();
    case Kind::kPoolOfOne:
      return made(pool({.consumers = 1, .queue = 2}));
    case Kind::kPoolOfThree:
      return made(pool({.consumers = 3, .queue = 2}));
    case Kind::kAdaptive:
      return made(adaptive({.consumers = 3, .queue = 2}));
  }
  return nullptr;
}

template <typename Environment>
std::unique_ptr<Environment> created(base::Result<std::unique_ptr<Environment>> environment) {
  EXPECT_TRUE(environment.ok()) << environment.error().message;
  return std::move(*environment);
}

class EveryProcessor : public testing::TestWithParam<Kind> {};
inline std::string name_of(const testing::TestParamInfo<Kind>& kind) {
  constexpr const char* names[] = {"Synchronous", "PoolOfOne", "PoolOfThree", "Adaptive"};
  return names[static_cast<int>(kind.param)];
}

// Calls carry their producer and a number that counts up. Within a buffer they must be consecutive.
struct Journal {
  explicit Journal(uint32_t producers, uint64_t calls) : times(producers), order(producers) {
    for (auto& of_producer : times) of_producer = std::vector<std::atomic<uint8_t>>(calls);
  }
  std::vector<std::vector<std::atomic<uint8_t>>> times;
  std::mutex mutex;
  std::vector<std::vector<uint64_t>> order;  // of each producer's calls
  std::atomic<uint64_t> broken_buffers{0}, wrong_arguments{0}, merges{0};
};

class Recording {
 public:
  explicit Recording(Journal& journal, bool slow) : journal_(journal), slow_(slow) {}
  void before_processing() {
    seen_.clear();
    if (slow_) std::this_thread::sleep_for(std::chrono::microseconds(random_() % 300));
  }
  void plain(uint32_t producer, uint64_t number) { note(producer, number); }
  void pair(uint64_t number, uint32_t producer, uint32_t checked) {
    journal_.wrong_arguments += checked != static_cast<uint32_t>(number * 7);
    note(producer, number);
  }
  void after_processing() {
    for (size_t i = 1; i < seen_.size(); ++i) {
      const bool follows = seen_[i].first == seen_[0].first && seen_[i].second == seen_[i - 1].second + 1;
      journal_.broken_buffers += !follows;
    }
    ++journal_.merges;
    std::lock_guard lock(journal_.mutex);
    for (const auto& [producer, number] : seen_) journal_.order[producer].push_back(number);
  }

 private:
  void note(uint32_t producer, uint64_t number) {
    journal_.times[producer][number]++;
    seen_.emplace_back(producer, number);
  }
  Journal& journal_;
  const bool slow_;
  std::minstd_rand random_{static_cast<unsigned>(reinterpret_cast<uintptr_t>(this) >> 6)};
  std::vector<std::pair<uint32_t, uint64_t>> seen_;
};
using RecordingEnvironment = Environment<&Recording::plain, &Recording::pair>;

inline std::unique_ptr<RecordingEnvironment> record_into(Journal& journal, std::unique_ptr<Processor> processor,
                                                         const Engine::Options& options, bool slow = true) {
  return created(RecordingEnvironment::create_coalescing(
      [&journal, slow] { return std::make_unique<Recording>(journal, slow); }, std::move(processor), options));
}
inline void produce(RecordingEnvironment& environment, uint32_t producer, uint64_t first, uint64_t end) {
  for (uint64_t i = first; i < end; ++i) {
    if (i % 3 == 0) {
      environment.defer<&Recording::plain>(producer, i);
    } else {
      environment.defer<&Recording::pair>(i, producer, static_cast<uint32_t>(i * 7));
    }
  }
}
inline void expect_each_once(const Journal& journal) {
  for (const auto& of_producer : journal.times) {
    for (const auto& times : of_producer) ASSERT_EQ(times, 1);
  }
  EXPECT_EQ(journal.broken_buffers, 0u);
  EXPECT_EQ(journal.wrong_arguments, 0u);
}

struct Sum {
  void add(uint64_t n) { sum += n; }
  std::atomic<uint64_t> sum{0};
};
using SumEnvironment = Environment<&Sum::add>;

inline std::unique_ptr<SumEnvironment> add_into(Sum& sum, std::unique_ptr<Processor> processor,
                                                const Engine::Options& options = {}) {
  return created(SumEnvironment::create(sum, std::move(processor), options));
}

}  // namespace contrafact::deferred
