// What pictures of several plots below each other have in common: the sheet, its colours, a plot's frame, the legend.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace contrafact::report {

inline constexpr double kSheetWidth = 920, kPanelLeft = 70, kPanelRight = 40;
inline constexpr double kPanelWidth = kSheetWidth - kPanelLeft - kPanelRight, kPanelHeight = 190;
inline constexpr double kPanelGap = 66, kLegendLine = 20;
// Curve i of a plot has the class "curve cI", a filled shape of the same colour "bI".
inline constexpr size_t kPanelColours = 8;

// One plot: its frame, and where a value lies in it.
class Panel {
 public:
  Panel(double top, double x_from, double x_to, double y_to) : top_(top), x_from_(x_from), x_to_(x_to), y_to_(y_to) {}

  double x(double value) const { return kPanelLeft + kPanelWidth * (value - x_from_) / (x_to_ - x_from_); }
  double y(double value) const { return top_ + kPanelHeight * (1 - value / y_to_); }
  double bottom() const { return top_ + kPanelHeight; }

  std::string heading(std::string_view text) const;
  std::string y_axis(const std::function<std::string(double)>& label, double step) const;
  std::string x_tick(double value, std::string_view label, double below = 0) const;
  std::string x_title(std::string_view text, double below = 0) const;

 private:
  double top_, x_from_, x_to_, y_to_;
};

// A line for each curve. REQUIRES: at most kPanelColours names.
std::string legend(const std::vector<std::string>& names, double top);

// The whole picture, as SVG.
std::string sheet(std::string_view title, double height, std::string_view body);

}  // namespace contrafact::report
