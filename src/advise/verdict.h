// The verdict on a gain: one kind of verdict, and one set of limits, for improvements of every kind. Pure.
#pragma once

#include <optional>
#include <string_view>

#include "advise/effect.h"
#include "whatif/simulate.h"

namespace contrafact::advise {

enum class Verdict : uint8_t {
  gain,
  within_error,   // its interval reaches from a loss to a gain
  no_gain,        // less than a person would notice
  loss,           // the run takes longer
  baseline_off,   // the simulation misses the unchanged run by too much, and the gain is not greater than that
  not_simulated,  // only estimated, where that model knows too little
};

// "a gain", "within its error", "no gain", "a loss", "baseline off", "not simulated".
std::string_view name_of(Verdict verdict);

// A gain below this share of the run is none.
inline constexpr double kGainMin = 0.0005;
// Gains that differ by less are equally good: repeated runs of a program differ by more.
inline constexpr double kGainTie = 0.01;

// The verdict on an effect that has to be simulated: of sections, pools or cores, or of several kinds together.
// `baseline` none: nothing was simulated.
Verdict verdict_of(const Effect& effect, const std::optional<whatif::BaselineCheck>& baseline);

// The verdict on a gain by any engine, over any number of recordings. It follows from the gain's interval, which
// includes the simulation's error for the unchanged run. `trusted`: that error was small (whatif::BaselineCheck).
Verdict verdict_of(const Gain& gain, bool trusted = true);

}  // namespace contrafact::advise
