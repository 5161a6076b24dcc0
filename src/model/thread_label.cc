#include "model/thread_label.h"

#include <fmt/format.h>

namespace contrafact::model {

std::string thread_label(const Trace& trace, ThreadId thread) {
  const format::ThreadRow& row = trace.threads[thread.index()];
  const std::string_view name = trace.string(row.name);
  if (!name.empty()) return std::string(name);
  const bool is_virtual = row.kind == format::ThreadKind::virtual_thread;
  return fmt::format("{}thread {}", is_virtual ? "virtual " : "", thread.value);
}

}  // namespace contrafact::model
