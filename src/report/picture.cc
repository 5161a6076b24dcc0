#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "report/axis.h"
#include "report/profile.h"
#include "table/markup.h"
#include "table/value_text.h"

namespace contrafact::report {
namespace {

// A still for documents: wide enough for a README, legible at half its size.
constexpr double kWidth = 920, kHeight = 380;
constexpr double kLeft = 62, kRight = 20, kTop = 74, kBottom = 56;
constexpr double kPlotWidth = kWidth - kLeft - kRight, kPlotHeight = kHeight - kTop - kBottom;
constexpr size_t kPictureBins = 420;
constexpr const char* kColours[kRunsMax] = {"#3f6fb5", "#d9711c", "#1f8a5b"};
constexpr const char* kDarkColours[kRunsMax] = {"#7fa9e6", "#f0a05a", "#5cc795"};

std::string style() {
  std::string light, dark;
  for (size_t i = 0; i < kRunsMax; ++i) {
    light += fmt::format(".run{0}{{stroke:{1}}}", i, kColours[i]);
    dark += fmt::format(".run{0}{{stroke:{1}}}", i, kDarkColours[i]);
  }
  return "<style>text{font:13px system-ui,'DejaVu "
         "Sans',sans-serif;fill:#1d2329}.soft{fill:#5b6570}.title{font-weight:600;"
         "font-size:15px}.page{fill:#fff}.grid{stroke:#d9dee3}.curve{fill:none;stroke-width:1.8}" +
         light +
         "@media(prefers-color-scheme:dark){text{fill:#e4e8ec}.soft{fill:#9aa5b0}.page{fill:#14181c}.grid{stroke:#"
         "343c44}" +
         dark + "}</style>\n";
}

std::string curve(const Series& series, size_t run, double peak) {
  std::string path;
  for (size_t i = 0; i < series.active.size(); ++i) {
    double x = kLeft + kPlotWidth * static_cast<double>(i) / kPictureBins;
    double next = kLeft + kPlotWidth * static_cast<double>(i + 1) / kPictureBins;
    double y = kTop + kPlotHeight * (1 - (series.active[i] + series.waiting[i]) / peak);
    path += path.empty() ? fmt::format("M{:.1f} {:.1f}", x, y) : fmt::format("V{:.1f}", y);
    path += fmt::format("H{:.1f}", next);
  }
  return fmt::format("<path class=\"curve run{}\" d=\"{}\"/>\n", run, path);
}

std::string axes(double peak, double duration_s) {
  std::string out;
  double step = std::max(1.0, tick_step(peak, 6));
  for (double y = 0; y <= peak * 1.0001; y += step) {
    double at = kTop + kPlotHeight * (1 - y / peak);
    out += fmt::format("<line class=\"grid\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>", kLeft, kWidth - kRight,
                       at, at);
    out += fmt::format("<text class=\"soft\" text-anchor=\"end\" x=\"{}\" y=\"{:.1f}\">{:g}</text>\n", kLeft - 8,
                       at + 4, y);
  }
  double tick = tick_step(duration_s, 10);
  for (double x = 0; x <= duration_s * 1.0001; x += tick) {
    double at = kLeft + kPlotWidth * x / duration_s;
    out += fmt::format("<text class=\"soft\" text-anchor=\"middle\" x=\"{:.1f}\" y=\"{}\">{:g}</text>\n", at,
                       kHeight - kBottom + 20, std::round(x * 1e6) / 1e6);
  }
  out += fmt::format("<text class=\"soft\" text-anchor=\"middle\" x=\"{}\" y=\"{}\">time (s)</text>\n",
                     kLeft + kPlotWidth / 2, kHeight - 12);
  double middle = kTop + kPlotHeight / 2;
  out += fmt::format(
      "<text class=\"soft\" text-anchor=\"middle\" transform=\"translate(18 {}) rotate(-90)\">threads "
      "occupied</text>\n",
      middle);
  return out;
}

}  // namespace

std::string profile_svg(const std::string& title, const std::vector<RunProfile>& runs) {
  CHECK(!runs.empty() && runs.size() <= kRunsMax);
  int64_t longest_ns = 1;
  for (const RunProfile& run : runs) longest_ns = std::max(longest_ns, run.duration_ns);
  std::vector<Series> series;
  double peak = 1;
  for (const RunProfile& run : runs) {
    series.push_back(resample(run, longest_ns, kPictureBins));
    for (size_t i = 0; i < series.back().active.size(); ++i) {
      peak = std::max(peak, std::ceil(series.back().active[i] + series.back().waiting[i]));
    }
  }
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\">\n"
      "<title>{2}</title>\n{3}<rect class=\"page\" width=\"{0}\" height=\"{1}\"/>\n"
      "<text class=\"title\" x=\"{4}\" y=\"26\">{2}</text>\n",
      kWidth, kHeight, table::escape_markup(title), style(), kLeft);
  double x = kLeft;
  for (size_t i = 0; i < runs.size(); ++i) {
    std::string label = fmt::format("{} ({}, {})", runs[i].name, runs[i].origin,
                                    table::duration_text(static_cast<double>(runs[i].duration_ns)));
    out += fmt::format("<line class=\"curve run{}\" x1=\"{:.0f}\" x2=\"{:.0f}\" y1=\"46\" y2=\"46\"/>", i, x, x + 22);
    out += fmt::format("<text x=\"{:.0f}\" y=\"50\">{}</text>\n", x + 28, table::escape_markup(label));
    x += 28 + 7.6 * static_cast<double>(table::display_width(label)) + 18;
  }
  out += axes(peak, static_cast<double>(longest_ns) / 1e9);
  for (size_t i = 0; i < runs.size(); ++i) out += curve(series[i], i, peak);
  return out + "</svg>\n";
}

}  // namespace contrafact::report
