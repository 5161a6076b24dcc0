// For tests that compare the gathered accesses with those that the code makes.
#pragma once

#include <algorithm>
#include <vector>

#include "translate/translate_for_test.h"

namespace contrafact::translate {

inline constexpr uint32_t kReadOnly = kAccessRead;
inline constexpr uint32_t kChanging = kAccessWrite | kAccessChanged;

// All flags of accesses to any byte of the object.
template <typename T>
uint32_t flags_on(const Gathered& gathered, const T& object) {
  const auto begin = reinterpret_cast<uint64_t>(&object);
  uint32_t flags = 0;
  for (const Access& access : gathered.accesses) {
    if (access.begin < begin + sizeof(T) && access.begin + access.length_bytes > begin) flags |= access.flags;
  }
  return flags;
}

// Bytes of the object that were accessed.
template <typename T>
size_t bytes_on(const Gathered& gathered, const T& object) {
  const auto begin = reinterpret_cast<uint64_t>(&object);
  std::vector<bool> touched(sizeof(T));
  for (const Access& access : gathered.accesses) {
    for (uint64_t at = std::max(access.begin, begin);
         at < std::min(access.begin + access.length_bytes, begin + sizeof(T)); ++at) {
      touched[at - begin] = true;
    }
  }
  return static_cast<size_t>(std::count(touched.begin(), touched.end(), true));
}

struct alignas(64) Buffer {
  uint8_t bytes[256];
};
inline Buffer g_from, g_to, g_other;

inline void fill(Buffer& buffer, int seed) {
  for (size_t i = 0; i < sizeof buffer.bytes; ++i)
    buffer.bytes[i] = static_cast<uint8_t>(i * 7 + static_cast<size_t>(seed));
}

}  // namespace contrafact::translate
