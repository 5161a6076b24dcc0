#include "advise/load_curve.h"

#include <gtest/gtest.h>

#include "advise/service_for_test.h"

namespace contrafact::advise {
namespace {

std::vector<ProgramLoads> curves(const ServiceForTest& recorded, const std::vector<whatif::Variant>& variants) {
  std::vector<ProgramLoads> programs;
  for (const whatif::Variant& variant : variants) {
    const base::Result<Saturation> saturation = recorded.service->saturation(variant, false);
    EXPECT_TRUE(saturation.ok());
    programs.push_back({.program = "one", .saturation = *saturation});
  }
  EXPECT_TRUE(add_curves(*recorded.service, variants, programs).ok());
  return programs;
}

// Two clients that do not think saturate it; of those that think for 190 ms, each asks five times a second.
TEST(LoadCurve, ClientsThatThinkAreAsManyAsSaturateTheProgram) {
  ServiceForTest recorded(sleeping_service(40, 190));
  recorded.arrivals.open = false;
  recorded.simulate();
  const std::vector<ProgramLoads> programs = curves(recorded, {{}});
  EXPECT_EQ(programs[0].saturation.point.clients, 2u);
  EXPECT_FALSE(programs[0].saturation.point.thinks);
  const LoadPoint& last = programs[0].curve.back();
  EXPECT_TRUE(last.thinks);
  EXPECT_GE(last.clients, 40u);
  EXPECT_LE(last.clients, 128u);
  EXPECT_NEAR(last.per_second, 200, 6);
}

TEST(LoadCurve, AllProgramsHaveAsManyClients) {
  ServiceForTest recorded(sleeping_service(40, 190));
  recorded.arrivals.open = false;
  recorded.simulate();
  const std::vector<ProgramLoads> programs = curves(recorded, {{}, {.pool_sizes = {{model::PoolId(0), 8}}}});
  EXPECT_EQ(programs[0].curve.back().clients, programs[1].curve.back().clients);
  EXPECT_GT(programs[1].curve.back().per_second, 600);
}

TEST(LoadCurve, ItEndsWhereTheProgramHangs) {
  ServiceForTest recorded(self_waiting_service(3));
  recorded.simulate();
  const std::vector<ProgramLoads> programs = curves(recorded, {{}});
  EXPECT_TRUE(programs[0].curve.back().stuck);
}

}  // namespace
}  // namespace contrafact::advise
