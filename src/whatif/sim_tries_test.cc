// How long threads try before they sleep, and what the simulation makes of it.
#include "whatif/sim_tries.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "model/facts.h"
#include "whatif/simulate.h"
#include "whatif/trace_for_test.h"

namespace contrafact::whatif {
namespace {

constexpr std::string_view kJvm =
    "fact jvm.name x\nfact cores 2\nlock l monitor \"shop.Counter\"\nmethod m shop.Counter.add Counter.java:1\n"
    "context c - m:2\nthread a\nthread b\n";

// Thread a holds the lock for `held_ns` in each of ten rounds; b asks for it in the middle, and has it `way_ns` after the
// release.
std::string rounds(int64_t held_ns, int64_t way_ns) {
  std::string text(kJvm);
  int64_t at_ns = 0;
  for (int round = 0; round < 10; ++round) {
    const int64_t free_ns = at_ns + held_ns;
    text += fmt::format("{} a lock_acquire l c\n{} a lock_release l c\n", at_ns, free_ns);
    text += fmt::format("{} b lock_request l c\n{} b lock_acquired l\n{} b lock_release l c\n", at_ns + held_ns / 2,
                        free_ns + way_ns, free_ns + way_ns + 1000);
    at_ns += 10 * held_ns;
  }
  return text + fmt::format("{0} a thread_end\n{0} b thread_end\n", at_ns);
}

Tries tries_of(const std::string& text) {
  const model::Trace trace = trace_of(text);
  return find_tries(model::critical_sections(trace), trace.locks.size())[0];
}

TEST(Tries, WhoHasTheLockAtOnceWasStillTrying) {
  const Tries tries = tries_of(rounds(20'000, 200));
  EXPECT_EQ(tries.way_ns, 200);
  EXPECT_GT(tries.wait_ns, 10'000);
  EXPECT_LE(tries.wait_ns, 20'000);
}

TEST(Tries, WhoHasToBeWokenSlept) {
  EXPECT_EQ(tries_of(rounds(20'000, 15'000)).wait_ns, 0);
}

TEST(Tries, UnchangedRunsComeOutAsRecorded) {
  for (const int64_t way_ns : {200, 15'000}) {
    const model::Trace trace = trace_of(rounds(20'000, way_ns));
    const Simulator simulator(trace);
    const auto result = simulator.simulate({}, {});
    ASSERT_TRUE(result.ok());
    EXPECT_EQ(result->duration_ns, trace.end_ns()) << way_ns;
  }
}

}  // namespace
}  // namespace contrafact::whatif
