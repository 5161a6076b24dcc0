#include "model/facts.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

#include "model/text_trace.h"

namespace contrafact::model {
namespace {

Trace locked() {
  base::Result<Trace> trace = parse_text(R"(
fact cores 3
lock m mutex
thread a
thread b
0 a lock_acquire m
50 b lock_request m
100 a lock_release m
110 b lock_acquired m
150 b lock_release m
)");
  CHECK(trace.ok());
  return *std::move(trace);
}

TEST(Facts, AreThoseOfTheTrace) {
  const Trace trace = locked();
  const Facts facts(trace);
  EXPECT_EQ(facts.uses().size(), trace.threads.size());
  EXPECT_EQ(facts.sections().size(), 2u);
  EXPECT_EQ(facts.wakes().size(), sync_wakes(trace, critical_sections(trace)).size());
  EXPECT_EQ(recorded_cores(trace), 3u);
}

TEST(Facts, AreComputedOnceForAnyNumberOfThreads) {
  const Trace trace = locked();
  const Facts facts(trace);
  constexpr size_t kThreads = 8;
  std::vector<const CriticalSection*> sections(kThreads);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i) threads.emplace_back([&, i] { sections[i] = facts.sections().data(); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::set(sections.begin(), sections.end()).size(), 1u);
  EXPECT_EQ(facts.uses().data(), facts.uses().data());
}

}  // namespace
}  // namespace contrafact::model
