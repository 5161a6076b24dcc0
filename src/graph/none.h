// Stands for "none" where a number of a vertex, body, task, event or section is expected.
#pragma once

#include <cstdint>

namespace contrafact::graph {

inline constexpr uint32_t kNone = UINT32_MAX;

}  // namespace contrafact::graph
