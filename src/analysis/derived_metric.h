// A metric computed from others by an expression, e.g. 0.4*duration + 0.3*peak_occupied^2 (Rehype, section 4.4). The
// grammar is muparser's: + - * / ^, comparisons, ?:, min, max, sqrt, abs, sum, avg, ln, log10, exp, ...
//
// A DerivedMetric may be moved; evaluating it changes its buffers, so one thread at a time.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/metric_set.h"
#include "base/result.h"

namespace contrafact::analysis {

class DerivedMetric {
 public:
  // `names` are the variables that the expression may use; their values come to `evaluate` in this order. The error
  // says what is wrong, at which character, and which names there are.
  static base::Result<DerivedMetric> compile(const std::string& expression, std::vector<std::string> names);
  // Over metric_specs().
  static base::Result<DerivedMetric> compile(const std::string& expression);

  // REQUIRES: one value for each name. An error where the result is no number (a division by zero).
  base::Result<double> evaluate(std::span<const double> values);
  base::Result<double> evaluate(const std::vector<Metric>& metrics);

  DerivedMetric(DerivedMetric&&) noexcept;
  DerivedMetric& operator=(DerivedMetric&&) noexcept;
  ~DerivedMetric();

 private:
  struct State;
  explicit DerivedMetric(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace contrafact::analysis
