// The gain of one change over several recordings of a program that differs from run to run. Pure.
#pragma once

#include <optional>
#include <span>

#include "advise/effect.h"

namespace contrafact::advise {

// Their median. The interval reaches from the least to the greatest gain, and beyond these by the median width that
// each gain leaves open by itself. Unknown gains do not count. REQUIRES: one is known.
Gain gain_over(std::span<const std::optional<Gain>> each);

// Whether it is a gain in one recording and a loss in another, each greater than the difference of repeated runs.
bool contradict(std::span<const std::optional<Gain>> each);

}  // namespace contrafact::advise
