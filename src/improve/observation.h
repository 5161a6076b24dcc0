// How well a change of critical sections is founded on what was observed: one rule for all kinds.
//
// A change rests on what the observed sections of its sites touched; the others are taken to be like them. Where none
// of n observed ones speaks against it, up to 3/n of the others may, with 95 % confidence (the rule of three). Sixty
// leave one in twenty, which the kinds themselves allow where they say "few" (LockUses::are_few_unknown).
#pragma once

#include <string>

#include "improve/candidate.h"

namespace contrafact::improve {

// Fewer than sixty of its sites' sections, and less than half of them, were observed. It stands behind what gains and
// is founded better. False of what changes no sections, and of a spec's: a person chose that.
bool is_little_observed(const Candidate& candidate);

// "only 8 of 1260 sections were observed, and others may differ: ..."; empty where enough were.
std::string little_observed_note(const Candidate& candidate);

}  // namespace contrafact::improve
