#include "model/sends.h"

namespace contrafact::model {

uint32_t end_of_send(const Trace& trace, uint32_t send) {
  const uint32_t begin = send + 1, end = send + 2;
  if (end >= trace.thread_events(trace.thread_of(EventIndex(send))).end) return send;
  const bool blocks = trace.kind[begin] == EventKind::block_begin && trace.time_ns[begin] == trace.time_ns[send] &&
                      static_cast<BlockReason>(trace.a[begin]) == BlockReason::io &&
                      trace.kind[end] == EventKind::block_end;
  return blocks ? end : send;
}

bool is_block_of_send(const Trace& trace, uint32_t block_begin) {
  return block_begin > 0 && trace.kind[block_begin - 1] == EventKind::send &&
         trace.time_ns[block_begin - 1] == trace.time_ns[block_begin];
}

}  // namespace contrafact::model
