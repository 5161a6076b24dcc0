// The concurrency profile: how many threads are in use over time, for one to three runs (base, estimated, actual), as a
// page that needs nothing but itself, and as a still picture. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "table/table.h"

namespace contrafact::report {

// Threads in each state from `time_ns` to the next step.
struct ProfileStep {
  int64_t time_ns = 0;  // since the window's begin
  uint32_t active = 0;
  uint32_t waiting = 0;
  uint32_t unoccupied = 0;
};

struct RunProfile {
  std::string name;    // "base"
  std::string origin;  // "measured", "estimated", "simulated"
  std::string source;  // the trace's file; may be empty
  int64_t duration_ns = 0;
  std::vector<ProfileStep> steps;  // times increase
};

struct PageTable {
  std::string heading;
  const table::Table* table;
};

struct ProfilePage {
  std::string title;
  std::string subtitle;
  std::vector<RunProfile> runs;  // one to three
  std::vector<PageTable> tables;
};

inline constexpr size_t kRunsMax = 3;

// Mean threads in each state over `bins` equal parts of [0, span_ns); nothing (a shorter vector) beyond the run's own
// end.
struct Series {
  std::vector<double> active, waiting, unoccupied;
};
Series resample(const RunProfile& run, int64_t span_ns, size_t bins);

std::string profile_page(const ProfilePage& page);
std::string profile_svg(const std::string& title, const std::vector<RunProfile>& runs);

}  // namespace contrafact::report
