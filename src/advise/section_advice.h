// Improvements of critical sections, each by itself and together, priced and ranked.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "advise/advice.h"

namespace contrafact::advise {

struct SectionAdviceOptions {
  std::vector<improve::Candidate> apply;  // only these, and all of them together; empty: all that are found
  size_t priced_max = 64;                 // of those found, the ones whose sections waited longest
  std::function<void(size_t done, size_t total)> progress;  // may be empty
};

struct SectionAdvices {
  // The greatest gain first. Of changes of one lock whose intervals meet, or lie less than a point apart, the simpler
  // one comes first. An improvement that rests on few observed sections (improve/observation.h) stands behind all
  // others that gain a hundredth. Improvements that gain nothing are included.
  std::vector<Advice> ranked;
  // The best improvements of each lock, made together, or all that were asked for: indexes into `ranked`, at least two;
  // empty if there are fewer.
  std::vector<size_t> together;
  Effect together_effect;
  std::vector<improve::Ineligible> ineligible;
  size_t not_priced = 0;
};

// REQUIRES: the pricer has sections.
SectionAdvices advise_sections(const Pricer& pricer, const SectionAdviceOptions& options);

// The gain of an effect of sections: the simulated gain, or else the gain in the recorded order.
Gain section_gain(const Effect& effect);
// Whether it gains anything by any bound.
bool gains(const Advice& advice);
// True if it is worth making: it gains, or it gains in the recorded order and only the change could not be simulated. A
// change whose simulation hangs is not worth making.
bool helps(const Advice& advice, const std::optional<whatif::BaselineCheck>& baseline);

// Why the trace cannot show which locks are needed: it is not of a native program, or has no read and write sets.
// Empty: it can.
std::string no_sets_reason(const model::Trace& trace);

}  // namespace contrafact::advise
