// The effect of an improvement, or of several made together. One type for tasks, critical sections, pools and cores.
// Plain data. Shares are of the recorded run's duration.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "whatif/estimate.h"
#include "whatif/section_bounds.h"

namespace contrafact::advise {

// The effect by the re-dispatch model. Native runs are simulated several times, with hand-overs drawn from the recorded
// ones; each is compared with the unchanged run that has the same draws. `doubt` to `more` say by how much the gain may
// be off.
struct SimulatedEffect {
  int64_t duration_ns = 0;  // with typical hand-overs
  bool stuck = false;       // the simulated program does not come to its end
  std::string stuck_why;
  double gain = 0;                       // the median of all draws
  double drawn_low = 0, drawn_high = 0;  // the least and the greatest of them
  std::vector<double> drawn;             // all of them, in the order of draws; those that did not end are left out
  double missed = 0;         // waiting that the unchanged simulated run lacks (< 0: has too much); part of the gain
  double doubt = 0;          // more or less: what one recording cannot show of a run with more or fewer threads
  double usual_error = 0;    // more or less: 0 in native runs
  double between_cores = 0;  // less: the cost of sections that no longer exclude each other
  double more = 0;           // more: the cost of handing out, if none of the program's own code was between
  std::vector<std::string> notes;  // assumptions that the trace forced, one line each
};

// The gain that is read first.
struct Gain {
  double share = 0;
  double low = 0, high = 0;  // nominally 90 % of real gains lie between
  model::Origin origin = model::Origin::estimated;
};

// The gains of one change in several recordings of a program.
struct OverRecordings {
  std::vector<std::optional<Gain>> each;  // the shown recording's first; none: not known there
  Gain gain;                              // of all together (gain_over.h)
};

struct Effect {
  // By fixed assignment; for a change that this model does not know, the recorded run's figures.
  whatif::Estimate estimate;
  bool estimated = false;
  bool partly_estimated = false;                 // `estimate` leaves out some changes: those that are not of tasks
  std::optional<SimulatedEffect> simulated;      // none: nothing was simulated
  std::optional<whatif::SectionGains> sections;  // where critical sections change
  std::optional<OverRecordings> over;            // if there are several recordings; all else is of the shown one
};

// Whether it was simulated, to the run's end.
inline bool ends_simulated(const Effect& effect) {
  return effect.simulated && !effect.simulated->stuck;
}

// Gains below these, as shares of the recorded run's figure, are noise: repeated runs of one program differ by as much.
// Five recordings of the server of `./dev demo` had peaks of 24 and 25 threads and means from 11.5 to 12.2.
inline constexpr double kTellableTime = 0.02;
inline constexpr double kTellableThreads = 0.05;

// The usual error of a gain, up or down: four of five changes really made to JVM programs unlike each other stayed
// within it (docs/accuracy.md, "Unseen programs"). Its causes: tasks take longer or shorter beside others, code is
// compiled later, and hand-outs are not recorded. It is a tenth of the change itself, plus a hundredth of the run. The
// error that one recording shows of itself may be greater, and is seldom the whole error.
inline double usual_error(double gain) {
  constexpr double kOfRun = 0.01, kOfChange = 0.1;
  return kOfRun + kOfChange * std::fabs(gain);
}

// (base - value) / base; 0 where base is 0.
inline double gain(double base, double value) {
  return base == 0 ? 0 : (base - value) / base;
}

}  // namespace contrafact::advise
