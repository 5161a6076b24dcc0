#include "report/granularity_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "report/axis.h"
#include "report/panel.h"
#include "table/value_text.h"

namespace contrafact::report {
namespace {

constexpr double kBandHeight = 10;

// In powers of ten of nanoseconds.
double log_of(int64_t ns) {
  return std::log10(static_cast<double>(std::max<int64_t>(1, ns)));
}

std::string distribution(const std::vector<GranularityCurve>& curves, double top) {
  double from = 1e9, to = 0;
  for (const GranularityCurve& curve : curves) {
    if (curve.core_ns.empty()) continue;
    from = std::min(from, std::floor(log_of(curve.core_ns.front())));
    to = std::max(to, std::ceil(log_of(curve.core_ns.back())));
  }
  if (from > to) from = 0;
  if (to <= from) to = from + 1;
  const Panel panel(top, from, to, 1);
  std::string out = panel.heading("Tasks by their time on a core");
  out += panel.y_axis([](double y) { return fmt::format("{:.0f} %", 100 * y); }, 0.25);
  for (double power = from; power <= to; ++power) out += panel.x_tick(power, table::duration_text(std::pow(10, power)));
  out += panel.x_title("time on a core, of so many of the class's tasks at most");
  for (size_t i = 0; i < curves.size(); ++i) {
    const std::vector<int64_t>& core_ns = curves[i].core_ns;
    if (core_ns.empty()) continue;
    std::string path = fmt::format("M{:.1f} {:.1f}", panel.x(log_of(core_ns.front())), panel.y(0));
    for (size_t k = 0; k < core_ns.size(); ++k) {
      const double share = core_ns.size() == 1 ? 1 : static_cast<double>(k) / static_cast<double>(core_ns.size() - 1);
      path += fmt::format("H{:.1f}V{:.1f}", panel.x(log_of(core_ns[k])), panel.y(share));
    }
    out += fmt::format("<path class=\"curve c{}\" d=\"{}\"/>\n", i, path);
  }
  return out;
}

// Values by part of the run, as steps.
std::string steps(const Panel& panel, const std::vector<double>& values, double run_s, std::string_view what) {
  std::string path;
  for (size_t i = 0; i < values.size(); ++i) {
    const double from_s = run_s * static_cast<double>(i) / static_cast<double>(values.size());
    const double to_s = run_s * static_cast<double>(i + 1) / static_cast<double>(values.size());
    path += i == 0 ? fmt::format("M{:.1f} {:.1f}", panel.x(from_s), panel.y(values[i]))
                   : fmt::format("V{:.1f}", panel.y(values[i]));
    path += fmt::format("H{:.1f}", panel.x(to_s));
  }
  return fmt::format("<path class=\"curve {}\" d=\"{}\"/>\n", what, path);
}

std::string time_axis(const Panel& panel, double run_s, double below) {
  std::string out;
  const double tick = tick_step(run_s, 10);
  for (double s = 0; s <= run_s * 1.0001; s += tick)
    out += panel.x_tick(s, fmt::format("{:g}", std::round(s * 1e6) / 1e6), below);
  return out + panel.x_title("time (s)", below);
}

// A band for each class, dark where it is active.
std::string bands(const Panel& panel, const std::vector<GranularityCurve>& curves, double run_s) {
  std::string out;
  for (size_t i = 0; i < curves.size(); ++i) {
    const std::vector<float>& active = curves[i].active;
    const double y = panel.bottom() + 6 + (kBandHeight + 2) * static_cast<double>(i);
    for (size_t k = 0; k < active.size();) {
      size_t end = k + 1;  // neighbours alike are one rectangle
      const auto shade = [&](size_t at) { return std::round(active[at] * 10); };
      while (end < active.size() && shade(end) == shade(k)) ++end;
      const double from_s = run_s * static_cast<double>(k) / static_cast<double>(active.size());
      const double to_s = run_s * static_cast<double>(end) / static_cast<double>(active.size());
      const double dark = active[k] > 0 ? std::max(0.1, static_cast<double>(shade(k)) / 10) : 0;
      if (dark > 0)
        out += fmt::format(
            "<rect class=\"b{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" opacity=\"{:.1f}\"/>", i,
            panel.x(from_s), y, std::max(0.5, panel.x(to_s) - panel.x(from_s)), kBandHeight, dark);
      k = end;
    }
  }
  return out + "\n";
}

std::vector<std::string> names_of(const std::vector<GranularityCurve>& curves) {
  std::vector<std::string> names;
  for (const GranularityCurve& curve : curves) names.push_back(curve.name);
  return names;
}

std::string over_time(const GranularityPicture& picture, const std::vector<GranularityCurve>& curves, double top) {
  const double bands_height = (kBandHeight + 2) * static_cast<double>(curves.size());
  double most = 1;
  for (const auto* values : {&picture.preempted, &picture.blocked}) {
    for (const double value : *values) most = std::max(most, value);
  }
  const Panel switches(top, 0, picture.run_s, most);
  std::string out = switches.heading("Context switches in 100 ms: blocked (blue), preempted (red)");
  out += switches.y_axis([](double y) { return fmt::format("{:g}", y); }, tick_step(most, 5));
  out += steps(switches, picture.blocked, picture.run_s, "blocked") +
         steps(switches, picture.preempted, picture.run_s, "preempted");
  out += bands(switches, curves, picture.run_s) + time_axis(switches, picture.run_s, bands_height);
  const Panel use(top + kPanelHeight + kPanelGap + bands_height + 14, 0, picture.run_s, 1);
  out += use.heading("Use of the cores by the program and its virtual machine");
  out += use.y_axis([](double y) { return fmt::format("{:.0f} %", 100 * y); }, 0.25);
  out += steps(use, picture.used, picture.run_s, "used");
  return out + bands(use, curves, picture.run_s) + time_axis(use, picture.run_s, bands_height);
}

}  // namespace

std::string granularity_svg(const GranularityPicture& picture) {
  std::vector<GranularityCurve> curves = picture.curves;
  if (curves.size() > kCurvesMax) curves.resize(kCurvesMax);
  const double legend_top = 52, top = legend_top + kLegendLine * static_cast<double>(curves.size()) + 34;
  const bool has_time = !picture.used.empty() && picture.run_s > 0;
  const double bands_height = (kBandHeight + 2) * static_cast<double>(curves.size());
  double height = top + kPanelHeight + kPanelGap;
  std::string body = legend(names_of(curves), legend_top) + distribution(curves, top);
  if (has_time) {
    body += over_time(picture, curves, height + 14);
    height += 2 * (kPanelHeight + kPanelGap + bands_height + 14);
  }
  return sheet(picture.title, height, body);
}

}  // namespace contrafact::report
