// What the processor and the system let translated code do. Pure; any thread.
#pragma once

#include <cstdint>

namespace contrafact::translate {

// The xsave components that C++ code may change, of those that the system uses: x87, SSE, AVX and AVX-512. 0: no xsave,
// and fxsave, which every x86-64 processor has, saves all there is.
inline uint64_t xsave_mask() {
  uint32_t a = 1, b, c, d;
  __asm__("cpuid" : "+a"(a), "=b"(b), "=c"(c), "=d"(d));
  constexpr uint32_t kOsXsave = 1 << 27;
  if ((c & kOsXsave) == 0) return 0;
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low & 0xe7;
}

// Translated code returns to other addresses than it was called from, which a shadow stack refuses.
inline bool has_shadow_stack() {
  uint64_t pointer = 0;
  __asm__("rdsspq %0" : "+r"(pointer));  // does nothing where there is none
  return pointer != 0;
}

}  // namespace contrafact::translate
