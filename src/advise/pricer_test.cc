#include "advise/pricer.h"

#include <gtest/gtest.h>

#include "model/text_trace.h"

namespace contrafact::advise {
namespace {

using whatif::Improvement;
using whatif::Optimisation;
using whatif::section_improvement;

// One improvement of critical sections, by all models.
struct Priced {
  whatif::SectionGains bounds;
  SimulatedEffect simulated;
};

struct Case {
  explicit Case(const std::string& text) : trace(*model::parse_text(text)) {}
  base::Result<Priced> price(const Improvement& improvement) {
    const Pricer pricer(trace, &sections, {});
    EXPECT_TRUE(pricer.simulates());
    EXPECT_EQ(pricer.baseline()->retimed_ns, sections.graph.duration_ns());
    base::Result<whatif::SectionGains> bounds = pricer.section_gains({&improvement, 1});
    if (!bounds) return bounds.error();
    base::Result<SimulatedEffect> simulated = pricer.simulate({&improvement, 1});
    if (!simulated) return simulated.error();
    return Priced{*bounds, *simulated};
  }
  model::Trace trace;
  analysis::SectionFacts sections{trace};
};

// x holds the lock for 40 us; y, which asks 10 us later, waits for it and needs 40 us itself. Both then end.
std::string two_holds(const std::string& set) {
  return "fact agent native\nfact cores 2\nlock l mutex\naccess_set s complete " + set +
         "\nthread x\nthread y\n0 x thread_begin\n0 y thread_begin\n10000 x lock_acquire l\n"
         "20000 y lock_request l\n50000 x accesses s\n50000 x lock_release l\n50000 y lock_acquired l\n"
         "60000 x thread_end\n90000 y accesses s\n90000 y lock_release l\n100000 y thread_end\n";
}

TEST(Pricer, ReadersRunSideBySideUnderEveryBound) {
  Case run(two_holds("0+8:r"));
  const auto estimate = run.price(section_improvement(Optimisation::reader_writer_lock, {0, 1}));
  ASSERT_TRUE(estimate.ok()) << estimate.error().message;
  EXPECT_NEAR(estimate->bounds.recorded_order, 0.3, 1e-9);  // y ends at 70 us
  ASSERT_TRUE(estimate->bounds.floor.has_value());
  EXPECT_NEAR(*estimate->bounds.floor, 0.3, 1e-9);
  EXPECT_FALSE(estimate->simulated.stuck);
  EXPECT_NEAR(estimate->simulated.gain, 0.3, 0.01);
  EXPECT_LE(estimate->simulated.drawn_low, estimate->simulated.gain);
  EXPECT_GE(estimate->simulated.drawn_high, estimate->simulated.gain);
}

TEST(Pricer, TheFloorIsWhatConflictsAllow) {
  Case run(two_holds("0+8:rwc"));
  const auto dropped = run.price(section_improvement(Optimisation::drop_lock, {0, 1}));
  ASSERT_TRUE(dropped.ok()) << dropped.error().message;
  EXPECT_NEAR(dropped->bounds.recorded_order, 0.3, 1e-9);
  EXPECT_NEAR(dropped->bounds.floor.value_or(1), 0, 1e-9);
  const auto shorter = run.price(section_improvement(Optimisation::shorten_section, {0}, {}, {0}, {10'000}));
  ASSERT_TRUE(shorter.ok()) << shorter.error().message;
  EXPECT_NEAR(shorter->bounds.recorded_order, 0.1, 1e-9);
  EXPECT_FALSE(shorter->bounds.floor.has_value());
}

TEST(Pricer, AnImpossibleChangeIsAnError) {
  Case run(two_holds("0+8:r"));
  EXPECT_FALSE(run.price(section_improvement(Optimisation::drop_lock, {7})).ok());
}

}  // namespace
}  // namespace contrafact::advise
