// The gain of one change over several recordings of a program that differs from run to run. Pure.
#pragma once

#include <optional>
#include <span>

#include "advise/effect.h"

namespace contrafact::advise {

// Their median. The interval reaches from the least to the greatest of them, and beyond that by what each leaves open
// by itself: the median of that. Those that are not known do not count. REQUIRES: one is known.
Gain gain_over(std::span<const std::optional<Gain>> each);

// Whether it is a gain in one recording and a loss in another, each of more than repeated runs differ by.
bool contradict(std::span<const std::optional<Gain>> each);

}  // namespace contrafact::advise
