#include "whatif/sim_sync.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>

#include "model/facts.h"
#include "model/text_trace.h"

namespace contrafact::whatif {
namespace {

// A thread that is preempted after `short_runs` runs of 8 us, and `long_runs` of 3.5 ms.
int64_t slice_of(int short_runs, int long_runs) {
  std::string text =
      "fact agent native\nfact cores 2\nlock l mutex table\nthread a\n0 a lock_acquire l -\n5 a lock_release l -\n";
  int64_t now_ns = 100;
  text += fmt::format("{} a cpu_out blocked\n", now_ns);
  for (int i = 0; i < short_runs + long_runs; ++i) {
    text += fmt::format("{} a cpu_in\n", now_ns + 1000);
    now_ns += 1000 + (i < short_runs ? 8'000 : 3'500'000);
    text += fmt::format("{} a cpu_out preempted\n", now_ns);
  }
  text += fmt::format("{} a cpu_in\n{} a thread_end\n", now_ns + 1000, now_ns + 2000);
  const base::Result<model::Trace> trace = model::parse_text(text);
  EXPECT_TRUE(trace) << trace.error().message;
  return gather_sync_facts(model::Facts(*trace), 2, 0).slice_ns;
}

TEST(SyncFacts, RunsThatWokenThreadsCutShortAreNoSlices) {
  EXPECT_EQ(slice_of(0, 5), 3'500'000);
  EXPECT_EQ(slice_of(100, 5), 3'500'000);
  EXPECT_EQ(slice_of(100, 0), 0);
}

}  // namespace
}  // namespace contrafact::whatif
