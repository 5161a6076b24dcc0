// Fetches what will be read soon into the cache, where memory is walked in an order that the processor cannot guess.
#pragma once

#include <cstddef>

namespace contrafact::base {

// `bytes` at `memory`, at most four cache lines of them; any address will do.
inline void prefetch(const void* memory, size_t bytes) {
  constexpr size_t kLine = 64, kLinesMax = 4;
  const auto* line = static_cast<const char*>(memory);
  for (size_t i = 0; i < kLinesMax && i * kLine < bytes; ++i) __builtin_prefetch(line + i * kLine);
}

}  // namespace contrafact::base
