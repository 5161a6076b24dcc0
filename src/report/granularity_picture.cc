#include "report/granularity_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "report/axis.h"
#include "table/markup.h"
#include "table/value_text.h"

namespace contrafact::report {
namespace {

constexpr double kSheetWidth = 920, kPanelLeft = 70, kPanelRight = 40;
constexpr double kPanelWidth = kSheetWidth - kPanelLeft - kPanelRight, kPanelHeight = 190;
constexpr double kPanelGap = 66, kLegendLine = 20, kBandHeight = 10;
constexpr const char* kCurveColours[kCurvesMax] = {"#3f6fb5", "#d9711c", "#1f8a5b", "#b03060",
                                                   "#7a5cc0", "#8a6d1c", "#1c8a9a", "#6b747e"};
constexpr const char* kDarkCurveColours[kCurvesMax] = {"#7fa9e6", "#f0a05a", "#5cc795", "#e07a9c",
                                                       "#b39bea", "#d0b45a", "#5cc3d3", "#a7b0ba"};

std::string sheet_style() {
  std::string light, dark;
  for (size_t i = 0; i < kCurvesMax; ++i) {
    light += fmt::format(".c{0}{{stroke:{1}}}.b{0}{{fill:{1}}}", i, kCurveColours[i]);
    dark += fmt::format(".c{0}{{stroke:{1}}}.b{0}{{fill:{1}}}", i, kDarkCurveColours[i]);
  }
  return "<style>text{font:13px system-ui,'DejaVu "
         "Sans',sans-serif;fill:#1d2329}.soft{fill:#5b6570}.title{font-weight:600;"
         "font-size:15px}.page{fill:#fff}.grid{stroke:#d9dee3}.curve{fill:none;stroke-width:1.8}.blocked,.used{stroke:#"
         "2a5d9f}.preempted{stroke:#c22525}" +
         light +
         "@media(prefers-color-scheme:dark){text{fill:#e4e8ec}.soft{fill:#9aa5b0}.page{fill:#14181c}.grid{stroke:#"
         "343c44}" +
         dark + "}</style>\n";
}

// One plot: its frame, and where a value lies in it.
class Panel {
 public:
  Panel(double top, double x_from, double x_to, double y_to) : top_(top), x_from_(x_from), x_to_(x_to), y_to_(y_to) {}

  double x(double value) const { return kPanelLeft + kPanelWidth * (value - x_from_) / (x_to_ - x_from_); }
  double y(double value) const { return top_ + kPanelHeight * (1 - value / y_to_); }
  double bottom() const { return top_ + kPanelHeight; }

  std::string heading(std::string_view text) const {
    return fmt::format("<text class=\"title\" x=\"{}\" y=\"{:.0f}\">{}</text>\n", kPanelLeft, top_ - 12,
                       table::escape_markup(text));
  }
  std::string y_axis(const std::function<std::string(double)>& label, double step) const {
    std::string out;
    for (double value = 0; value <= y_to_ * 1.0001; value += step) {
      out += fmt::format("<line class=\"grid\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>", kPanelLeft,
                         kSheetWidth - kPanelRight, y(value), y(value));
      out += fmt::format("<text class=\"soft\" text-anchor=\"end\" x=\"{}\" y=\"{:.1f}\">{}</text>\n", kPanelLeft - 8,
                         y(value) + 4, label(value));
    }
    return out;
  }
  std::string x_tick(double value, std::string_view label, double below = 0) const {
    return fmt::format("<text class=\"soft\" text-anchor=\"middle\" x=\"{:.1f}\" y=\"{:.0f}\">{}</text>\n", x(value),
                       bottom() + 20 + below, label);
  }
  std::string x_title(std::string_view text, double below = 0) const {
    return fmt::format("<text class=\"soft\" text-anchor=\"middle\" x=\"{}\" y=\"{:.0f}\">{}</text>\n",
                       kPanelLeft + kPanelWidth / 2, bottom() + 38 + below, text);
  }

 private:
  double top_, x_from_, x_to_, y_to_;
};

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

std::string legend(const std::vector<GranularityCurve>& curves, double top) {
  std::string out;
  for (size_t i = 0; i < curves.size(); ++i) {
    const double y = top + kLegendLine * static_cast<double>(i);
    out += fmt::format("<line class=\"curve c{0}\" x1=\"{1}\" x2=\"{2}\" y1=\"{3:.0f}\" y2=\"{3:.0f}\"/>", i,
                       kPanelLeft, kPanelLeft + 22, y);
    out += fmt::format("<text x=\"{}\" y=\"{:.0f}\">{}</text>\n", kPanelLeft + 30, y + 4,
                       table::escape_markup(table::elide_middle(table::printable(curves[i].name, true), 110, true)));
  }
  return out;
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
  std::string body = legend(curves, legend_top) + distribution(curves, top);
  if (has_time) {
    body += over_time(picture, curves, height + 14);
    height += 2 * (kPanelHeight + kPanelGap + bands_height + 14);
  }
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1:.0f}\" width=\"{0}\" height=\"{1:.0f}\" "
             "role=\"img\">\n<title>{2}</title>\n{3}<rect class=\"page\" width=\"{0}\" height=\"{1:.0f}\"/>\n"
             "<text class=\"title\" x=\"{4}\" y=\"26\">{2}</text>\n",
             kSheetWidth, height, table::escape_markup(picture.title), sheet_style(), kPanelLeft) +
         body + "</svg>\n";
}

}  // namespace contrafact::report
