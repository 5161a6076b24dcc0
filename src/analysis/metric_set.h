// The run in one line of numbers: every aggregate metric under the name that options, CSV headers and derived metrics
// use.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/thread_usage.h"
#include "model/trace.h"

namespace contrafact::analysis {

struct MetricSpec {
  std::string_view name;         // duration, peak_occupied, mean_waiting, ... ; a valid variable of derived metrics
  std::string_view unit;         // "s", "threads", "tasks", "copies", ""
  std::string_view description;  // one sentence
};

struct Metric {
  const MetricSpec* spec;
  double value;
};

// All metrics there are, in the order of `run_metrics`.
const std::vector<MetricSpec>& metric_specs();
std::vector<Metric> run_metrics(const model::Trace& trace, const ThreadUsage& usage);

}  // namespace contrafact::analysis
