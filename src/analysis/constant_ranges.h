// Where the files that were mapped have constants: no code of the program writes there, whatever the run. What the C
// library keeps for itself counts as such.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "model/trace.h"

namespace contrafact::analysis {

// Begins and ends of addresses, ascending, apart from each other; none where the recording does not tell (facts
// `constants.N`, docs/format.md). Of files that were unloaded again there are none: others may have come there.
using ConstantRanges = std::vector<std::pair<uint64_t, uint64_t>>;
ConstantRanges constant_ranges(const model::Trace& trace);

// Logarithmic.
bool is_constant(const ConstantRanges& ranges, uint64_t address);

}  // namespace contrafact::analysis
