// A service's throughput and times of answers against its load, as a picture: of the recorded program, and of a changed one
// beside it. As SVG, and on a page that needs nothing but itself. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "report/profile.h"

namespace contrafact::report {

struct LoadCurve {
  std::string name;
  // By point, the lightest load first; equal in number.
  std::vector<double> load;        // clients, or requests a second that come
  std::vector<double> per_second;  // answered
  std::vector<double> p50_ms, p99_ms;
};

struct LoadPicture {
  std::string title;
  std::string load_title;         // "clients"
  std::vector<LoadCurve> curves;  // at most kLoadCurvesMax are drawn
};

inline constexpr size_t kLoadCurvesMax = 4;

std::string load_svg(const LoadPicture& picture);

struct LoadPage {
  LoadPicture picture;
  std::string subtitle;
  std::vector<std::string> notes;  // sentences below the picture
  std::vector<PageTable> tables;
};
std::string load_page(const LoadPage& page);

}  // namespace contrafact::report
