// The gain of one change over several recordings of a program that differs from run to run. Pure.
#pragma once

#include <optional>
#include <span>

#include "advise/effect.h"

namespace contrafact::advise {

// The median of the gains. Its interval reaches from the least gain to the greatest, and beyond each end by the median
// distance of the gains to the ends of their own intervals on that side. Unknown gains do not count. `most`: no gain can be
// greater (a run cannot get shorter than by all of it). REQUIRES: one is known.
Gain gain_over(std::span<const std::optional<Gain>> each, double most = 1);

// Whether the change is a gain in one recording and a loss in another, each by more than repeated runs differ.
bool contradict(std::span<const std::optional<Gain>> each);

}  // namespace contrafact::advise
