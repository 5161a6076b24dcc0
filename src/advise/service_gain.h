// How much better one simulated program is than another, and how sure that is. Pure.
//
// The interval of a gain has the noise of both simulations (of batch means and sections, as service.h has it), and of the errors that
// a recording shows of its simulations (Service::widen) what the two programs do not have in common. What is as wrong in both is
// no error of their ratio:
//   - the error of the recorded load simulated: as large a part of the gain itself;
//   - what idle cores cost, and that a JVM still compiled: as far as one of the two uses more of the cores.
#pragma once

#include "advise/effect.h"
#include "advise/service.h"

namespace contrafact::advise {

// Figures of a simulated load, to compare two programs by.
struct Figure {
  double value = 0;       // the greater the better
  double spread = 0;      // half the width of its interval by the simulation alone, as a share
  double cores_used = 0;  // share of the cores' time
};
Figure rate_of(const LoadPoint& point);
Figure quickness_of(const LoadPoint& point);  // by p99

// How wrong simulations of this recording are, as far as it shows that.
struct KnownErrors {
  double recorded = 0;    // share: of the median answer under the recorded load
  double idle_cores = 0;  // share: of computing, where all cores are used
  bool compiles = false;  // a JVM still compiled: computing may take half as long
};
KnownErrors known_errors(const Service& service);

// By which share `after` is better. REQUIRES: before.value > 0.
Gain gain_between(const Figure& before, const Figure& after, const KnownErrors& errors);

// Whether it is more than noise.
inline bool is_sure(const Gain& gain) {
  return gain.low > 0;
}

}  // namespace contrafact::advise
