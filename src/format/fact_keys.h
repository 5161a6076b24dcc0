// Keys of facts that are written in one place and read in another: by what records, and by what reads traces (docs/format.md).
#pragma once

#include <string_view>

namespace contrafact::format {

// Idle cores were kept awake in every other turn of this length in ns.
inline constexpr std::string_view kAwakeFact = "cores.awake_ns";
// That was over at this time of CLOCK_MONOTONIC, before the recording ended.
inline constexpr std::string_view kAwakeUntilFact = "cores.awake_until_ns";

}  // namespace contrafact::format
