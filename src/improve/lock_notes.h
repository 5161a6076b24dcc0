// What a person should know about an improvement of locks before making it, in words: facts for which its table row has
// no room. Pure.
#pragma once

#include <string>
#include <vector>

#include "improve/candidate.h"
#include "model/trace.h"

namespace contrafact::improve {

std::vector<std::string> lock_notes(const model::Trace& trace, const Candidate& candidate);

}  // namespace contrafact::improve
