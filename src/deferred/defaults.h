// The defaults of the library and of `contrafact profile`, one and the same; docs/deferred.md says how they were found.
#pragma once

#include <cstdint>

namespace contrafact::deferred {

inline constexpr uint32_t kCapacityDefault = 10'000;  // calls in a buffer
inline constexpr uint32_t kQueueDefault = 10;         // buffers that wait for a consumer
inline constexpr uint64_t kMemoryBytesDefault = uint64_t{256} << 20;

}  // namespace contrafact::deferred
