#include <gtest/gtest.h>

#include "model/facts.h"
#include "model/text_trace.h"
#include "whatif/simulate.h"

namespace contrafact::whatif {
namespace {

// Four tasks on one worker. Its first one makes a value of the worker's own, for which it sleeps 40 ms; then each
// sleeps 10.
std::string one_worker(std::string_view method) {
  std::string text =
      "fact cores 4\nmethod m1 shop.Main.main\nmethod m2 shop.Job.run\nmethod m3 " + std::string(method) +
      "\ncontext c1 - m1:7\ncontext c2 - m2:3\npool p thread_pool 1 1\nthread main\nthread w\n"
      "0 main task_spawn t0 c1 p m2\n0 main task_spawn t1 c1 p m2\n0 main task_spawn t2 c1 p m2\n"
      "0 main task_spawn t3 c1 p m2\n0 main wait_begin t3 c1\n80000000 main wait_end t3\n"
      "80000000 main thread_end\n0 w worker_idle p\n0 w worker_busy p\n0 w task_start t0\n"
      "0 w method_enter m3\n0 w block_begin sleep c2\n40000000 w block_end sleep\n40000000 w method_exit m3\n";
  for (int task = 0; task < 4; ++task) {
    const int at_ms = 40 + 10 * task;
    const auto line = [&](int ms, const std::string& what) { text += std::to_string(ms) + "000000 w " + what + "\n"; };
    const std::string name = " t" + std::to_string(task);
    if (task > 0) line(at_ms, "task_start" + name);
    line(at_ms, "block_begin sleep c2");
    line(at_ms + 10, "block_end sleep");
    line(at_ms + 10, "task_complete" + name);
    line(at_ms + 10, "task_end" + name);
  }
  return text + "80000000 w worker_idle p\n";
}

// How long the run takes with so many workers.
int64_t duration_ms(const std::string& text, uint32_t workers) {
  const model::Trace trace = *model::parse_text(text);
  const model::Facts facts(trace);
  SimulateOptions options{.cores = 4};
  options.pool_sizes.push_back({model::PoolId(0), workers});
  const base::Result<Simulation> result = simulate(facts, {}, options);
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
  return result.ok() ? (result->duration_ns + 500'000) / 1'000'000 : 0;
}

TEST(OwnValues, EachFurtherWorkerMakesItsOwn) {
  const std::string text = one_worker("java.lang.ThreadLocal.setInitialValue");
  EXPECT_EQ(duration_ms(text, 1), 80);
  EXPECT_EQ(duration_ms(text, 2), 60) << "40 and 10 here, 40 and two of 10 there";
  EXPECT_EQ(duration_ms(text, 4), 50);
}

TEST(OwnValues, WhatTheProgramDoesOnceIsNone) {
  EXPECT_EQ(duration_ms(one_worker("shop.Job.begun"), 2), 50) << "the other worker runs three tasks of 10 meanwhile";
}

}  // namespace
}  // namespace contrafact::whatif
