// Address ranges of constants in the mapped files: no code of the program writes there, in any run. The C library's own
// data counts as constant, too.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "model/trace.h"

namespace contrafact::analysis {

// Begins and ends of addresses, ascending, apart from each other; none where the recording does not say (facts
// `constants.N`, docs/format.md). Files that were unloaded again have none: others may have been mapped there.
using ConstantRanges = std::vector<std::pair<uint64_t, uint64_t>>;
ConstantRanges constant_ranges(const model::Trace& trace);

// Logarithmic.
bool is_constant(const ConstantRanges& ranges, uint64_t address);

}  // namespace contrafact::analysis
