// The granularity of tasks as a picture: the cumulative distribution of the tasks' times on a core by class, and context
// switches and the use of the cores over time, with the spans in which each class is active (figures 9 to 13 of "Analyzing
// Task Granularity on the JVM"). As SVG, and on a page that needs nothing but itself. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/profile.h"

namespace contrafact::report {

struct GranularityCurve {
  std::string name;
  std::vector<int64_t> core_ns;  // that 0, 1/n, ... n/n of the tasks do not exceed
  std::vector<float> active;     // by part of the run: the share in which the class is active
};

struct GranularityPicture {
  std::string title;
  std::vector<GranularityCurve> curves;  // at most kCurvesMax are drawn
  double run_s = 0;
  // By equal parts of the run; empty where it is not known.
  std::vector<double> preempted, blocked;  // switches in 100 ms
  std::vector<double> used;                // share of the cores' time
};

inline constexpr size_t kCurvesMax = 8;

std::string granularity_svg(const GranularityPicture& picture);

struct GranularityPage {
  GranularityPicture picture;
  std::string subtitle;
  std::vector<std::string> notes;  // sentences below the picture
  std::vector<PageTable> tables;
};
std::string granularity_page(const GranularityPage& page);

}  // namespace contrafact::report
