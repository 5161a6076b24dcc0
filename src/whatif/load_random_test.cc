// Loads of traces that no program would produce: a simulation comes to an end, and gives the same twice.
#include <gtest/gtest.h>

#include "model/random_trace_for_test.h"
#include "model/requests.h"
#include "whatif/load.h"
#include "whatif/load_templates.h"

namespace contrafact::whatif {
namespace {

// How many requests were simulated.
size_t simulate_load(const model::Trace& trace, const model::Requests& requests) {
  if (requests.all.empty()) return 0;
  const model::Facts facts(trace);
  const base::Result<LoadSimulator> simulator = LoadSimulator::make(facts, requests);
  if (!simulator || simulator->templates().recorded_ns().empty()) return 0;
  size_t served = 0;
  for (const bool open : {false, true}) {
    const Load load{.open = open, .clients = 3, .per_second = 1e6, .requests = 30};
    const base::Result<LoadRun> run = simulator->simulate({}, load), again = simulator->simulate({}, load);
    EXPECT_TRUE(run.ok() && again.ok());
    if (!run || !again) continue;
    EXPECT_EQ(run->simulation.duration_ns, again->simulation.duration_ns);
    EXPECT_EQ(run->served.size(), 30u);
    served += run->served.size();
  }
  return served;
}

TEST(LoadRandom, DamagedTracesAreSimulatedToAnEnd) {
  size_t by_connection = 0, by_task = 0;
  for (uint32_t seed = 0; seed < 1500; ++seed) {
    const model::Trace trace = model::random_trace(seed, 20 + seed % 400, seed % 3 == 0);
    by_connection += simulate_load(trace, model::requests_by_connection(trace));
    by_task += simulate_load(trace, model::requests_by_task(trace));
  }
  EXPECT_GT(by_connection, 1000u);
  EXPECT_GT(by_task, 1000u);
}

}  // namespace
}  // namespace contrafact::whatif
