#include "model/section_flows.h"

#include <gmock/gmock.h>

#include "model/text_trace.h"

namespace contrafact::model {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Sections of one lock, A of x and B of y and C of x, with the taints 1, 2 and 3.
constexpr std::string_view kThree =
    "lock l monitor\nlock m monitor\nthread x\nthread y\n"
    "0 x lock_acquire l -\n0 x section_taint 1\n5 x lock_release l\n"
    "10 y lock_acquire l -\n10 y section_taint 2\n15 y lock_release l\n"
    "20 x lock_acquire l -\n20 x section_taint 3\n25 x lock_release l\n";

struct Read {
  explicit Read(const std::string& more) {
    base::Result<Trace> parsed = parse_text(std::string(kThree) + more);
    EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.error().message);
    if (parsed.ok()) trace = *std::move(parsed);
    sections = critical_sections(trace);
    flows = section_flows(trace, sections);
  }
  std::vector<std::string> into(uint32_t section) const {
    constexpr const char* kNames[] = {"direct", "indirect", "control"};
    std::vector<std::string> out;
    for (const SectionFlows::Flow& flow : flows.of(section))
      out.push_back(std::string(1, static_cast<char>('A' + flow.source)) + " " + kNames[static_cast<int>(flow.kind)]);
    return out;
  }
  Trace trace;
  std::vector<CriticalSection> sections;
  SectionFlows flows;
};

TEST(SectionFlows, AreOfTheSectionsWithTheseTaints) {
  const Read read(
      "30 x flow_into 3\n30 x flow_from 2 direct\n30 x flow_from 1 control\n30 x flow_from 2 direct\n"
      "31 y flow_into 2\n31 y flow_from 1 indirect\n");
  EXPECT_THAT(read.flows.taint, ElementsAre(1u, 2u, 3u));
  EXPECT_THAT(read.flows.known, ElementsAre(true, true, true));
  EXPECT_THAT(read.into(0), IsEmpty());
  EXPECT_THAT(read.into(1), ElementsAre("A indirect"));
  EXPECT_THAT(read.into(2), ElementsAre("A control", "B direct"));
  EXPECT_TRUE(has_flows(read.trace));
}

TEST(SectionFlows, IntoCodeOutsideHaveAThreadAndATime) {
  const Read read("30 y flow_into -\n31 y flow_from 1 indirect\n");
  ASSERT_EQ(read.flows.outside.size(), 1u);
  EXPECT_EQ(read.flows.outside[0].thread, ThreadId(1));
  EXPECT_EQ(read.flows.outside[0].time_ns, 31);
  EXPECT_EQ(read.flows.outside[0].source, 0u);
}

TEST(SectionFlows, CountsRunsThatAreNotInTheTraceAndLeavesOutASectionsOwn) {
  const Read read(
      "30 x flow_into 3\n30 x flow_from 9 direct\n30 x flow_from 3 direct\n31 x flow_into 8\n"
      "31 x flow_from 1 direct\n");
  EXPECT_EQ(read.flows.unknown_sources, 1u);
  EXPECT_EQ(read.flows.unknown_targets, 1u);
  EXPECT_THAT(read.flows.known, ElementsAre(true, true, false));
  EXPECT_THAT(read.into(2), IsEmpty());
}

// Nothing says that the section under m was tracked.
TEST(SectionFlows, OfASectionWithoutATaintAreNotKnown) {
  const Read read("40 x lock_acquire m -\n45 x lock_release m\n");
  EXPECT_EQ(read.flows.taint.back(), SectionFlows::kNone);
  EXPECT_FALSE(read.flows.known.back());
}

// A and C may have lost theirs; B's are there.
TEST(SectionFlows, WhereEventsAreMissingOnlyThoseThatAreThereAreKnown) {
  const Read read("loss 4\n30 y flow_into 2\n30 y flow_from 1 direct\n");
  EXPECT_THAT(read.flows.known, ElementsAre(false, true, false));
  EXPECT_THAT(read.into(1), ElementsAre("A direct"));
}

TEST(SectionFlows, ATraceWithoutTaintsHasNone) {
  const base::Result<Trace> trace = parse_text("lock l monitor\nthread x\n0 x lock_acquire l -\n5 x lock_release l\n");
  ASSERT_TRUE(trace.ok());
  EXPECT_FALSE(has_flows(*trace));
  EXPECT_THAT(section_flows(*trace, critical_sections(*trace)).known, ElementsAre(false));
}

}  // namespace
}  // namespace contrafact::model
