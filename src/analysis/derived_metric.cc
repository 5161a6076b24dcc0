#include "analysis/derived_metric.h"

#include <muParser.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/check.h"

namespace contrafact::analysis {
namespace {

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// Position of an assignment, which would change the metrics for later evaluations; npos if there is none.
size_t assignment_in(const std::string& expression) {
  for (size_t i = 0; i < expression.size(); ++i) {
    if (expression[i] != '=') continue;
    const bool after = i > 0 && std::string_view("=<>!").find(expression[i - 1]) != std::string_view::npos;
    const bool before = i + 1 < expression.size() && expression[i + 1] == '=';
    if (!after && !before) return i;
  }
  return std::string::npos;
}

}  // namespace

struct DerivedMetric::State {
  mu::Parser parser;
  std::string expression;
  std::vector<std::string> names;
  std::vector<double> values;  // the parser holds their addresses
};

DerivedMetric::DerivedMetric(std::unique_ptr<State> state) : state_(std::move(state)) {}
DerivedMetric::DerivedMetric(DerivedMetric&&) noexcept = default;
DerivedMetric& DerivedMetric::operator=(DerivedMetric&&) noexcept = default;
DerivedMetric::~DerivedMetric() = default;

base::Result<DerivedMetric> DerivedMetric::compile(const std::string& expression, std::vector<std::string> names) {
  const auto fail = [&](const std::string& what, size_t position) {
    return base::Error{"metric expression \"" + expression + "\": " + what + " at character " +
                       std::to_string(position + 1)};
  };
  if (expression.find_first_not_of(" \t") == std::string::npos)
    return base::Error{"metric expression is empty; metrics are " + joined(names)};
  if (const size_t at = assignment_in(expression); at != std::string::npos)
    return fail("\"=\" is not allowed (compare with ==)", at);
  auto state = std::make_unique<State>();
  state->expression = expression;
  state->values.assign(names.size(), 1.0);
  try {
    for (size_t i = 0; i < names.size(); ++i) state->parser.DefineVar(names[i], &state->values[i]);
    state->parser.SetExpr(expression);
    state->parser.Eval();
    if (state->parser.GetNumResults() != 1) return fail("more than one expression", expression.find(','));
  } catch (const mu::Parser::exception_type& e) {
    const auto position = static_cast<int64_t>(e.GetPos());  // its type differs between versions; -1: not known
    const size_t at = position < 0 ? expression.size() : std::min(expression.size(), static_cast<size_t>(position));
    if (e.GetCode() == mu::ecUNASSIGNABLE_TOKEN) {
      return base::Error{fail("unknown name \"" + e.GetToken() + "\"", at).message + "; metrics are " + joined(names)};
    }
    const std::string& what = e.GetMsg();  // most end in " at position N", counted from 0
    return fail(what.substr(0, what.find(" at position")), at);
  }
  state->names = std::move(names);
  return DerivedMetric(std::move(state));
}

base::Result<DerivedMetric> DerivedMetric::compile(const std::string& expression) {
  std::vector<std::string> names;
  for (const MetricSpec& spec : metric_specs()) names.emplace_back(spec.name);
  return compile(expression, std::move(names));
}

base::Result<double> DerivedMetric::evaluate(std::span<const double> values) {
  CHECK(values.size() == state_->values.size());
  std::copy(values.begin(), values.end(), state_->values.begin());
  double result = 0;
  try {
    result = state_->parser.Eval();
  } catch (const mu::Parser::exception_type& e) {
    return base::Error{"metric expression \"" + state_->expression + "\": " + e.GetMsg()};
  }
  if (!std::isfinite(result)) {
    return base::Error{"metric expression \"" + state_->expression +
                       "\" gives no number for this run (a division by zero?)"};
  }
  return result;
}

base::Result<double> DerivedMetric::evaluate(const std::vector<Metric>& metrics) {
  std::vector<double> values;
  for (const Metric& metric : metrics) values.push_back(metric.value);
  return evaluate(values);
}

}  // namespace contrafact::analysis
