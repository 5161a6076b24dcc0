#include "recorder/process_page.h"

#include "format/event.h"
#include "recorder/event_log.h"

namespace contrafact::recorder {

deferred::Layout trace_layout() {
  deferred::Layout layout;
  layout.element_bytes[kTimeColumn] = sizeof(int64_t);
  layout.elements_per_call[kTimeColumn] = 1;
  layout.element_bytes[kOperandColumn] = sizeof(uint32_t);
  layout.elements_per_call[kOperandColumn] = format::kOperandsMax;
  return layout;
}

}  // namespace contrafact::recorder
