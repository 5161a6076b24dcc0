#include "graph/flow_order.h"

#include <gmock/gmock.h>

#include "model/text_trace.h"

namespace contrafact::graph {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

struct Ordered {
  explicit Ordered(const std::string& text, FlowOrderOptions options = {}) {
    base::Result<model::Trace> parsed = model::parse_text(text);
    EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.error().message);
    if (parsed.ok()) trace = *std::move(parsed);
    sections = model::critical_sections(trace);
    const model::SectionFlows flows = model::with_outside(trace, sections, model::section_flows(trace, sections));
    order = flow_order(trace, sections, flows, recorded_order(trace, sections), options);
  }
  std::vector<std::string> pairs() const {
    std::vector<std::string> found;
    for (const SectionPair& pair : adjacent_pairs(order))
      found.push_back(std::string() + static_cast<char>('A' + pair.first) + "<" + static_cast<char>('A' + pair.second));
    return found;
  }
  model::Trace trace;
  std::vector<model::CriticalSection> sections;
  SectionOrder order;
};

// Sections A, B, ... of one lock, one after the other, each in a thread of its own and with the taint of its place from
// 1 on; those in `untracked` have none.
std::string row_of(size_t count, const std::string& flows, const std::string& untracked = "") {
  std::string rows = "lock l monitor\n", events;
  for (size_t i = 0; i < count; ++i) {
    const std::string n = std::to_string(i), at = std::to_string(10 * i);
    rows += "thread w" + n + "\n";
    events += at + " w" + n + " lock_acquire l -\n";
    if (untracked.find(static_cast<char>('A' + i)) == std::string::npos)
      events += at + " w" + n + " section_taint " + std::to_string(i + 1) + "\n";
    events += std::to_string(10 * i + 5) + " w" + n + " lock_release l\n";
  }
  return rows + events + flows;
}

TEST(FlowOrder, KeepsWhatASectionGotAndNothingElse) {
  const std::string flows =
      "100 w2 flow_into 3\n100 w2 flow_from 1 direct\n100 w3 flow_into 4\n100 w3 flow_from 3 control\n";
  EXPECT_THAT(Ordered(row_of(4, flows)).pairs(), ElementsAre("A<C"));
  EXPECT_THAT(Ordered(row_of(4, flows), {.control = true}).pairs(), ElementsAre("A<C", "C<D"));
}

TEST(FlowOrder, ALockThatIsNotRelaxedKeepsItsOrder) {
  EXPECT_THAT(Ordered(row_of(3, ""), {.relax = {false}}).pairs(), ElementsAre("A<B", "B<C"));
  EXPECT_THAT(Ordered(row_of(3, ""), {.relax = {true}}).pairs(), IsEmpty());
}

// C is ordered against all others.
TEST(FlowOrder, ASectionThatWasNotTrackedKeepsItsPlace) {
  EXPECT_THAT(Ordered(row_of(5, "", "C")).pairs(), UnorderedElementsAre("A<C", "B<C", "C<D", "C<E"));
}

// w1 read at 17 what A wrote: B, which began after A, handed it out. w0 read at 17 what B wrote: no section of w0's is
// between, so its next one waits.
TEST(FlowOrder, CodeOutsideCountsForASectionOfItsThread) {
  EXPECT_THAT(Ordered(row_of(2, "17 w1 flow_into -\n17 w1 flow_from 1 indirect\n")).pairs(), ElementsAre("A<B"));
  const std::string again = "30 w0 lock_acquire l -\n30 w0 section_taint 9\n35 w0 lock_release l\n";
  EXPECT_THAT(Ordered(row_of(2, "17 w0 flow_into -\n17 w0 flow_from 2 indirect\n" + again)).pairs(),
              ElementsAre("B<C"));
}

}  // namespace
}  // namespace contrafact::graph
