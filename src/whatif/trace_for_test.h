// A trace from its text, whole, and what the tests of estimates make of it.
#pragma once

#include <gtest/gtest.h>

#include <string_view>
#include <utility>
#include <vector>

#include "model/text_trace.h"
#include "whatif/estimate.h"
#include "whatif/optimisations_for_test.h"

namespace contrafact::whatif {

inline model::Trace trace_of(std::string_view text) {
  base::Result<model::Trace> trace = model::parse_text(text);
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().message) << "\n" << text;
  return trace.ok() ? *std::move(trace) : model::Trace();
}

inline Estimator estimator_of(const model::Trace& trace) {
  base::Result<Estimator> estimator = Estimator::create(trace);
  EXPECT_TRUE(estimator.ok()) << (estimator.ok() ? "" : estimator.error().message);
  return *std::move(estimator);
}

inline Improvement improvement(const Optimisation* optimisation, std::vector<uint32_t> tasks) {
  Improvement made;
  made.optimisation = optimisation;
  for (uint32_t task : tasks) made.tasks.push_back(model::TaskId(task - 1));  // as in the text: t1 is the first
  return made;
}

}  // namespace contrafact::whatif
