#include "analysis/flow_match.h"

#include <gmock/gmock.h>

#include "analysis/flow_trace_for_test.h"

namespace contrafact::analysis {
namespace {

// Rounds of a push by x and a pop by y, each `hold` ns long, one after the other. Tracked rounds have flows: each pop got
// what the push before the last one was given.
std::string rounds(int count, int hold, bool tracked) {
  std::string text =
      "method m1 shop.Stack.push Stack.java:1\nmethod m2 shop.Stack.pop Stack.java:7\n"
      "context c0 - m1:1\ncontext c1 - m2:7\nlock l monitor \"shop.Stack\"\nthread x \"x\"\nthread y \"y\"\n";
  for (int i = 0; i < 2 * count; ++i) {
    const std::string t = i % 2 == 0 ? "x" : "y", site = i % 2 == 0 ? "c0" : "c1";
    const std::string at = std::to_string(i * hold) + " " + t + " ",
                      end = std::to_string((i + 1) * hold) + " " + t + " ";
    text += at + "lock_acquire l " + site + "\n";
    if (tracked) text += at + "section_taint " + std::to_string(i + 1) + "\n";
    text += end + "lock_release l\n";
    if (tracked && i % 2 == 1 && i >= 3)
      text +=
          end + "flow_into " + std::to_string(i + 1) + "\n" + end + "flow_from " + std::to_string(i - 2) + " direct\n";
  }
  return text;
}

TEST(FlowMatch, TakesTheFlowsOfAnotherRecordingByCounting) {
  const FlowsForTest plain(rounds(40, 10, false)), slow(rounds(20, 70, true));
  const model::SectionFlows flows = matched_flows(plain.facts, slow.facts);
  ASSERT_EQ(flows.known.size(), 80u);
  EXPECT_TRUE(flows.known[0]);
  size_t found = 0;
  for (uint32_t s = 0; s < 80; ++s) {
    for (const model::SectionFlows::Flow& flow : flows.of(s)) {
      EXPECT_EQ(s % 2, 1u);
      EXPECT_EQ(flow.source, s - 3);
      ++found;
    }
  }
  EXPECT_GE(found, 36u);
}

TEST(FlowMatch, ARecordingsOwnFlowsStayAsTheyAre) {
  const FlowsForTest own(rounds(5, 10, true));
  const model::SectionFlows flows = matched_flows(own.facts, own.facts);
  EXPECT_EQ(flows.flows, own.flows.flows);
  EXPECT_EQ(flows.known, own.flows.known);
}

// The lock m is not in the recording that was tracked.
TEST(FlowMatch, WithoutACounterpartNothingIsKnown) {
  const FlowsForTest plain(rounds(1, 10, false) +
                           "lock m monitor \"shop.Other\"\n100 x lock_acquire m c0\n110 x lock_release m\n");
  const FlowsForTest tracked(rounds(1, 10, true));
  EXPECT_THAT(matched_flows(plain.facts, tracked.facts).known, testing::ElementsAre(true, true, false));
}

}  // namespace
}  // namespace contrafact::analysis
