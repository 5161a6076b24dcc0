#include "analysis/derived_metric.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace contrafact::analysis {
namespace {

using testing::HasSubstr;

TEST(DerivedMetric, Evaluates) {
  base::Result<DerivedMetric> metric = DerivedMetric::compile("0.4*duration + 0.3*peak^2", {"duration", "peak"});
  ASSERT_TRUE(metric.ok()) << metric.error().message;
  EXPECT_DOUBLE_EQ(*metric->evaluate(std::vector<double>{10, 2}), 5.2);
  EXPECT_DOUBLE_EQ(*metric->evaluate(std::vector<double>{0, 1}), 0.3);
  base::Result<DerivedMetric> choice =
      DerivedMetric::compile("peak >= 2 ? max(duration, peak) : sqrt(duration)", {"duration", "peak"});
  ASSERT_TRUE(choice.ok());
  EXPECT_DOUBLE_EQ(*choice->evaluate(std::vector<double>{16, 1}), 4);
}

TEST(DerivedMetric, StaysValidWhenMoved) {
  base::Result<DerivedMetric> metric = DerivedMetric::compile("2*duration", {"duration"});
  DerivedMetric moved = std::move(*metric);
  EXPECT_DOUBLE_EQ(*moved.evaluate(std::vector<double>{3}), 6);
}

TEST(DerivedMetric, KnowsTheRunsMetrics) {
  EXPECT_TRUE(DerivedMetric::compile("0.4*duration + 0.3*peak_occupied^2 + p99_waiting").ok());
}

TEST(DerivedMetric, ErrorsSayWhatAndWhere) {
  const auto message = [](const std::string& expression) {
    const base::Result<DerivedMetric> metric = DerivedMetric::compile(expression, {"duration", "peak"});
    return metric.ok() ? std::string("no error") : metric.error().message;
  };
  EXPECT_THAT(message("1 + durration"), HasSubstr("unknown name \"durration\" at character 5"));
  EXPECT_THAT(message("1 + durration"), HasSubstr("metrics are duration, peak"));
  EXPECT_THAT(message("(duration"), HasSubstr("\"(duration\""));
  EXPECT_EQ(message("duration +"), "metric expression \"duration +\": Unexpected end of expression at character 11");
  EXPECT_THAT(message("duration = 3"), HasSubstr("\"=\" is not allowed"));
  EXPECT_THAT(message("duration, peak"), HasSubstr("more than one expression"));
  EXPECT_THAT(message("  "), HasSubstr("empty"));
  EXPECT_EQ(message("duration == peak"), "no error");
}

TEST(DerivedMetric, NoNumberIsAnError) {
  base::Result<DerivedMetric> metric = DerivedMetric::compile("1/peak", {"peak"});
  ASSERT_TRUE(metric.ok());
  const base::Result<double> value = metric->evaluate(std::vector<double>{0});
  ASSERT_FALSE(value.ok());
  EXPECT_THAT(value.error().message, HasSubstr("division by zero"));
}

}  // namespace
}  // namespace contrafact::analysis
