// How well a change of critical sections is founded on what was observed: one rule for all kinds.
//
// A change rests on the memory that the observed sections of its sites touched; the other sections are assumed to be
// like them. If none of n observed sections contradicts the change, up to 3/n of the others may, with 95 % confidence
// (the rule of three). Sixty observed sections leave one in twenty, which the kinds themselves allow where they say
// "few" (LockUses::are_few_unknown).
#pragma once

#include <string>

#include "improve/candidate.h"

namespace contrafact::improve {

// Fewer than sixty of its sites' sections, and less than half of them, were observed. Such a candidate is ranked behind
// better founded ones that gain. False for a candidate that changes no sections, and for one of a spec, because a
// person chose it.
bool is_little_observed(const Candidate& candidate);

// "only 8 of 1260 sections were observed, and others may differ: ..."; empty where enough were.
std::string little_observed_note(const Candidate& candidate);

}  // namespace contrafact::improve
