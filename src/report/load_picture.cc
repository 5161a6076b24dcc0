#include "report/load_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/axis.h"
#include "report/panel.h"

namespace contrafact::report {
namespace {

constexpr int kTicks = 8, kTicksUp = 5;
constexpr const char* kDashes = " stroke-dasharray=\"5 4\"";

double most_of(const std::vector<LoadCurve>& curves, std::vector<double> LoadCurve::* values) {
  double most = 0;
  for (const LoadCurve& curve : curves) {
    for (const double value : curve.*values) most = std::max(most, value);
  }
  return most > 0 ? most : 1;
}

std::string line(const Panel& panel, const std::vector<double>& xs, const std::vector<double>& ys, size_t colour,
                 std::string_view more) {
  std::string path;
  for (size_t i = 0; i < xs.size(); ++i)
    path += fmt::format("{}{:.1f} {:.1f}", i == 0 ? "M" : "L", panel.x(xs[i]), panel.y(ys[i]));
  return fmt::format("<path class=\"curve c{}\"{} d=\"{}\"/>\n", colour, more, path);
}

std::string number(double value) {
  return fmt::format("{:g}", value);
}

std::string load_axis(const Panel& panel, double most, const std::string& title) {
  std::string out;
  const double tick = tick_step(most, kTicks);
  for (double value = 0; value <= most * 1.0001; value += tick) out += panel.x_tick(value, number(value));
  return out + panel.x_title(title);
}

}  // namespace

std::string load_svg(const LoadPicture& picture) {
  std::vector<LoadCurve> curves = picture.curves;
  if (curves.size() > kLoadCurvesMax) curves.resize(kLoadCurvesMax);
  std::vector<std::string> names;
  for (const LoadCurve& curve : curves) names.push_back(curve.name);
  const double most = most_of(curves, &LoadCurve::load);
  const double legend_top = 52, top = legend_top + kLegendLine * static_cast<double>(curves.size()) + 34;
  const double rate_most = most_of(curves, &LoadCurve::per_second), time_most = most_of(curves, &LoadCurve::p99_ms);
  const Panel rates(top, 0, most, rate_most), times(top + kPanelHeight + kPanelGap + 14, 0, most, time_most);
  std::string body = legend(names, legend_top);
  body +=
      rates.heading("Requests answered a second (simulated)") + rates.y_axis(number, tick_step(rate_most, kTicksUp));
  body += times.heading("Milliseconds to the answer: p99, and the median dashed (simulated)") +
          times.y_axis(number, tick_step(time_most, kTicksUp));
  for (size_t i = 0; i < curves.size(); ++i) {
    body += line(rates, curves[i].load, curves[i].per_second, i, "");
    body += line(times, curves[i].load, curves[i].p99_ms, i, "") +
            line(times, curves[i].load, curves[i].p50_ms, i, kDashes);
  }
  body += load_axis(rates, most, picture.load_title) + load_axis(times, most, picture.load_title);
  return sheet(picture.title, times.bottom() + kPanelGap, body);
}

}  // namespace contrafact::report
