#include "analysis/flow_graph.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "analysis/flow_trace_for_test.h"
#include "analysis/section_overlaps.h"

namespace contrafact::analysis {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

std::vector<std::string> edges(const FlowsForTest& of, bool control = false) {
  std::vector<std::string> out;
  for (const FlowEdge& edge : flow_graph(of.facts, of.flows, control).edges)
    out.push_back(fmt::format("{}>{} {} {} {} {}+{}+{}", of.facts.sites.sites()[edge.from].label.substr(6, 4),
                              of.facts.sites.sites()[edge.to].label.substr(6, 4), edge.lock_conflicts,
                              edge.memory_conflicts, edge.unknown, edge.direct, edge.indirect, edge.control));
  return out;
}

// a pushes, b pops, c pushes, d pops: all overlap all others; b got a's, d got c's.
const std::string kPairs = "50 b flow_into 2\n50 b flow_from 1 direct\n50 d flow_into 4\n50 d flow_from 3 direct\n";

TEST(FlowGraph, HasEdgesForLockMemoryAndFlows) {
  const FlowsForTest stack(one_after_the_other({kTop, kTop, kTop, kTop}, kPairs));
  EXPECT_THAT(edges(stack), UnorderedElementsAre("push>pop  3 3 0 2+0+0", "pop >push 1 1 0 0+0+0",
                                                 "push>push 1 1 0 0+0+0", "pop >pop  1 1 0 0+0+0"));
  const FlowGraph graph = flow_graph(stack.facts, stack.flows, false);
  ASSERT_EQ(graph.sites.size(), 2u);
  EXPECT_EQ(graph.sites[0].wait_ns, 40);  // the pops: 10 and 30
  EXPECT_EQ(graph.sites[0].overlapping, 2u);
  EXPECT_EQ(graph.sites[0].tracked, 2u);
}

TEST(FlowGraph, CountsControlFlowsAtTheirSiteAndAsEdgesOnlyOnRequest) {
  const FlowsForTest stack(one_after_the_other({kTop, kTop}, "50 b flow_into 2\n50 b flow_from 1 control\n"));
  EXPECT_THAT(edges(stack), ElementsAre("push>pop  1 1 0 0+0+0"));
  EXPECT_THAT(edges(stack, true), ElementsAre("push>pop  1 1 0 0+0+1"));
  EXPECT_EQ(flow_graph(stack.facts, stack.flows, false).sites[0].control_only, 1u);
}

TEST(FlowGraph, WhatWasNotObservedIsNoConflict) {
  EXPECT_THAT(edges(FlowsForTest(one_after_the_other({"-", kTop}, ""))), ElementsAre("push>pop  1 0 1 0+0+0"));
}

// The second one asks when the first has released.
TEST(SectionOverlaps, AreFromTheRequestOn) {
  const FlowsForTest after(
      "lock l monitor\nthread x\nthread y\n0 x lock_acquire l -\n5 x lock_release l\n"
      "5 y lock_acquire l -\n9 y lock_release l\n");
  size_t overlaps = 0;
  each_overlap(after.facts, [&](const SectionOverlap&) { ++overlaps; });
  EXPECT_EQ(overlaps, 0u);
}

}  // namespace
}  // namespace contrafact::analysis
