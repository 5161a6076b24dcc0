// A layout for the tests of buffers: one method, whose calls have one number each.
#pragma once

#include <cstdint>

#include "deferred/buffer.h"

namespace contrafact::deferred {

inline Layout one_number() {
  Layout layout;
  layout.element_bytes[0] = sizeof(uint32_t);
  layout.elements_per_call[0] = 1;
  return layout;
}

}  // namespace contrafact::deferred
