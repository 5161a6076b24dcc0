// A small program in text for the tests of the simulation: two workers, three pools; and what comes of it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/text_trace.h"
#include "whatif/simulate.h"

namespace contrafact::whatif {

inline constexpr std::string_view kProgramRows =
    "fact cores 2\n"
    "method m1 shop.Main.main Main.java:1\nmethod m2 shop.Job.run Job.java:1\nmethod m3 shop.Other.run Other.java:1\n"
    "context c1 - m1:7\ncontext c2 - m2:9\n"
    "pool p thread_pool 2 2\npool f fork_join 2 2\npool s scheduled_thread_pool 1 max\n"
    "thread main\nthread w1\nthread w2\n";

inline model::Trace parsed(std::string_view text) {
  base::Result<model::Trace> trace = model::parse_text(std::string(kProgramRows) + std::string(text));
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().message);
  return trace.ok() ? std::move(*trace) : model::Trace();
}

inline Simulation simulated(const model::Trace& trace, const SimulateOptions& options = {},
                            std::vector<Treatment> treatments = {}) {
  base::Result<Simulation> result = simulate(trace, {.treatments = {treatments.begin(), treatments.end()}}, options);
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
  return result.ok() ? std::move(*result) : Simulation();
}

inline int64_t start_of(const model::Trace& trace, uint32_t task) {
  return trace.time_ns[trace.tasks[task].start.index()];
}
inline int64_t end_of(const model::Trace& trace, uint32_t task) {
  return trace.time_ns[trace.tasks[task].end.index()];
}

}  // namespace contrafact::whatif
