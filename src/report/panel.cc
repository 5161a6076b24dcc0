#include "report/panel.h"

#include <fmt/format.h>

#include "table/markup.h"
#include "table/value_text.h"

namespace contrafact::report {
namespace {

constexpr const char* kCurveColours[kPanelColours] = {"#3f6fb5", "#d9711c", "#1f8a5b", "#b03060",
                                                      "#7a5cc0", "#8a6d1c", "#1c8a9a", "#6b747e"};
constexpr const char* kDarkCurveColours[kPanelColours] = {"#7fa9e6", "#f0a05a", "#5cc795", "#e07a9c",
                                                          "#b39bea", "#d0b45a", "#5cc3d3", "#a7b0ba"};

std::string sheet_style() {
  std::string light, dark;
  for (size_t i = 0; i < kPanelColours; ++i) {
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

}  // namespace

std::string Panel::heading(std::string_view text) const {
  return fmt::format("<text class=\"title\" x=\"{}\" y=\"{:.0f}\">{}</text>\n", kPanelLeft, top_ - 12,
                     table::escape_markup(text));
}

std::string Panel::y_axis(const std::function<std::string(double)>& label, double step) const {
  std::string out;
  for (double value = 0; value <= y_to_ * 1.0001; value += step) {
    out += fmt::format("<line class=\"grid\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>", kPanelLeft,
                       kSheetWidth - kPanelRight, y(value), y(value));
    out += fmt::format("<text class=\"soft\" text-anchor=\"end\" x=\"{}\" y=\"{:.1f}\">{}</text>\n", kPanelLeft - 8,
                       y(value) + 4, label(value));
  }
  return out;
}

std::string Panel::x_tick(double value, std::string_view label, double below) const {
  return fmt::format("<text class=\"soft\" text-anchor=\"middle\" x=\"{:.1f}\" y=\"{:.0f}\">{}</text>\n", x(value),
                     bottom() + 20 + below, label);
}

std::string Panel::x_title(std::string_view text, double below) const {
  return fmt::format("<text class=\"soft\" text-anchor=\"middle\" x=\"{}\" y=\"{:.0f}\">{}</text>\n",
                     kPanelLeft + kPanelWidth / 2, bottom() + 38 + below, text);
}

std::string legend(const std::vector<std::string>& names, double top) {
  std::string out;
  for (size_t i = 0; i < names.size(); ++i) {
    const double y = top + kLegendLine * static_cast<double>(i);
    out += fmt::format("<line class=\"curve c{0}\" x1=\"{1}\" x2=\"{2}\" y1=\"{3:.0f}\" y2=\"{3:.0f}\"/>", i,
                       kPanelLeft, kPanelLeft + 22, y);
    out += fmt::format("<text x=\"{}\" y=\"{:.0f}\">{}</text>\n", kPanelLeft + 30, y + 4,
                       table::escape_markup(table::elide_middle(table::printable(names[i], true), 110, true)));
  }
  return out;
}

std::string sheet(std::string_view title, double height, std::string_view body) {
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1:.0f}\" width=\"{0}\" height=\"{1:.0f}\" "
             "role=\"img\">\n<title>{2}</title>\n{3}<rect class=\"page\" width=\"{0}\" height=\"{1:.0f}\"/>\n"
             "<text class=\"title\" x=\"{4}\" y=\"26\">{2}</text>\n",
             kSheetWidth, height, table::escape_markup(title), sheet_style(), kPanelLeft) +
         std::string(body) + "</svg>\n";
}

}  // namespace contrafact::report
