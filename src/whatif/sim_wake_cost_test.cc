#include "whatif/sim_wake_cost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "model/text_trace.h"
#include "whatif/section_edit.h"
#include "whatif/simulate.h"

namespace contrafact::whatif {
namespace {

constexpr int64_t kRestNs = 400'000;

// Thread x holds the lock for 100 ns, 80 times, and computes for 1000 ns after that. `slept_ns`: it computes for so
// long whenever thread y slept for the lock meanwhile, which is every other time;
// and goes on for longer than y.
model::Trace recorded(int64_t slept_ns) {
  std::string text =
      "fact agent native\nfact cores 2\nmethod m .work w.cc:1\ncontext a - m:10\ncontext b - m:20\nlock l mutex\n"
      "thread x\nthread y\n0 x thread_begin\n0 y thread_begin\n";
  const auto add = [&](int64_t time_ns, const char* event) { text += std::to_string(time_ns) + " " + event + "\n"; };
  int64_t now_ns = 1000;
  for (int i = 0; i < 80; ++i) {
    const bool slept = i % 2 == 0;
    add(now_ns, "x lock_acquire l a");
    if (slept) add(now_ns + 50, "y lock_request l b");
    add(now_ns + 100, "x lock_release l");
    if (slept) add(now_ns + 120, "y lock_acquired l");
    if (slept) add(now_ns + 130, "y lock_release l");
    now_ns += 100 + (slept ? slept_ns : 1000 + i % 4);
  }
  add(now_ns, "x lock_acquire l a");
  add(now_ns, "x lock_release l");
  add(now_ns, "y thread_end");
  add(now_ns + kRestNs, "x thread_end");
  base::Result<model::Trace> trace = model::parse_text(text);
  EXPECT_TRUE(trace) << trace.error().message;
  return std::move(*trace);
}

TEST(WakeCost, IsWhatReleasesTakeLongerForSleepers) {
  const model::Trace trace = recorded(6000);
  const std::vector<model::CriticalSection> sections = model::critical_sections(trace);
  const WakeCost cost = measure_wake_cost(trace, sections);
  EXPECT_NEAR(static_cast<double>(cost.ns), 4999, 2);
  for (size_t s = 0; s < sections.size(); ++s) {
    const bool wakes = sections[s].thread.value == 0 && cost.slept[s];
    EXPECT_NEAR(static_cast<double>(cost.recorded_ns[s]), wakes ? 4999 : 0, 2) << s;
  }
}

TEST(WakeCost, IsNoneWhereSleepersMakeNoDifference) {
  const model::Trace trace = recorded(1001);
  EXPECT_EQ(measure_wake_cost(trace, model::critical_sections(trace)).ns, 0);
}

// 40 of 80 releases took 5 us longer.
TEST(WakeCost, GoesWithTheLock) {
  const model::Trace trace = recorded(6000);
  const Simulator simulator(trace);
  std::vector<SectionEdit> edits = unedited(simulator.sections());
  for (SectionEdit& edit : edits) edit.mode = SectionEdit::Mode::none;
  const base::Result<Simulation> changed = simulator.simulate({.edits = edits}, {});
  ASSERT_TRUE(changed) << changed.error().message;
  EXPECT_NEAR(static_cast<double>(changed->duration_ns), 1000 + 80 * 1100 + kRestNs, 1000);
}

}  // namespace
}  // namespace contrafact::whatif
