#include "model/library_calls.h"

namespace contrafact::model {

bool is_lock_call(const Trace& trace, ContextId context) {
  constexpr size_t kFramesMax = 8;  // the lock's own frames are few, and the innermost
  for (size_t i = 0; i < kFramesMax && context.valid(); ++i) {
    const format::ContextRow& row = trace.contexts[context.index()];
    if (row.method.valid()) {
      const format::MethodRow& method = trace.methods[row.method.index()];
      const std::string_view name = trace.string(method.name);
      const bool locks = trace.string(method.class_name).starts_with("java.util.concurrent.locks.");
      if (locks && (name == "lock" || name == "lockInterruptibly" || name == "tryLock" || name == "readLock" ||
                    name == "writeLock"))
        return true;
    }
    context = row.parent;
  }
  return false;
}

bool is_worker_run(const Trace& trace, const TaskRow& task) {
  if (task.kind != TaskKind::thread || !task.body.valid()) return false;
  const std::string_view type = trace.string(trace.methods[task.body.index()].class_name);
  return type == "java.util.concurrent.ThreadPoolExecutor$Worker" ||
         type == "java.util.concurrent.ForkJoinWorkerThread" || type == "java.util.concurrent.DelayScheduler";
}

}  // namespace contrafact::model
