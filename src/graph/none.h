// In the place of the number of a vertex, body, task, event or section: there is none.
#pragma once

#include <cstdint>

namespace contrafact::graph {

inline constexpr uint32_t kNone = UINT32_MAX;

}  // namespace contrafact::graph
