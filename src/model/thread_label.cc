#include "model/thread_label.h"

#include <fmt/format.h>

#include "model/processes.h"

namespace contrafact::model {

std::string thread_label(const Trace& trace, ThreadId thread) {
  const format::ThreadRow& row = trace.threads[thread.index()];
  const std::string_view name = trace.string(row.name);
  const uint32_t process = process_of(trace, thread);
  if (!name.empty()) return with_process(trace, process, std::string(name));
  const bool is_virtual = row.kind == format::ThreadKind::virtual_thread;
  return with_process(trace, process, fmt::format("{}thread {}", is_virtual ? "virtual " : "", thread.value));
}

}  // namespace contrafact::model
