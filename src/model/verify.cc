#include <fmt/format.h>

#include "model/finish.h"
#include "model/trace.h"

namespace contrafact::model {
namespace {

class Verifier {
 public:
  explicit Verifier(const Trace& trace) : trace_(trace) {}

  base::Status run() {
    const size_t count = trace_.kind.size();
    if (trace_.time_ns.size() != count || trace_.a.size() != count || trace_.b.size() != count) {
      return base::Error{"the event columns differ in length"};
    }
    if (trace_.thread_ranges.size() != trace_.threads.size() || trace_.cpu.size() != trace_.threads.size()) {
      return base::Error{"the thread tables differ in length"};
    }
    uint32_t expected_begin = 0;
    for (const EventRange& range : trace_.thread_ranges) {
      if (range.begin != expected_begin || range.end < range.begin) return base::Error{"thread ranges do not adjoin"};
      expected_begin = range.end;
      if (range.end > count) return base::Error{"a thread range reaches beyond the events"};
      if (base::Status status = check_thread(range); !status) return status;
    }
    if (expected_begin != count) return base::Error{"events outside every thread"};
    for (size_t i = 0; i < trace_.blocked_on.size(); ++i) {
      const EventIndex block = trace_.blocked_on[i].block;
      if (block.index() >= count || trace_.kind[block.index()] != EventKind::block_begin ||
          trace_.thread_of(block) != trace_.blocked_on[i].thread ||
          (i > 0 && !(trace_.blocked_on[i - 1].block < block))) {
        return base::Error{fmt::format("row {} of what blocks are for has no block of its own", i + 1)};
      }
    }
    return check_tasks();
  }

 private:
  base::Error error(size_t position, std::string_view what) const {
    return {fmt::format("event {} ({} at {} ns): {}", position, format::schema_of(trace_.kind[position]).name,
                        trace_.time_ns[position], what)};
  }

  base::Status check_thread(const EventRange& range) {
    open_.clear();
    for (uint32_t i = range.begin; i < range.end; ++i) {
      const EventKind kind = trace_.kind[i];
      if (i > range.begin && trace_.time_ns[i] < trace_.time_ns[i - 1]) return error(i, "time goes backwards");
      if (names_task(kind) && trace_.a[i] >= trace_.tasks.size() && trace_.a[i] != UINT32_MAX) {
        return error(i, "names a task that is no row");
      }
      if (kind == EventKind::cpu_in || kind == EventKind::cpu_out || kind == EventKind::pause_begin ||
          kind == EventKind::pause_end || kind == EventKind::vm_ran || kind == EventKind::cores_idle ||
          kind == EventKind::blocked_on || kind == EventKind::holder_at) {
        return error(i, "must not be among the events");
      }
      if (opens(kind)) open_.push_back(i);
      if (!closes(kind)) continue;
      if (open_.empty() || trace_.kind[open_.back()] != opener_of(kind)) return error(i, "closes what is not open");
      bool exact = kind == EventKind::task_end || kind == EventKind::method_exit;
      if (exact && trace_.a[open_.back()] != trace_.a[i]) return error(i, "closes another than the innermost one");
      open_.pop_back();
    }
    if (!open_.empty()) return error(open_.back(), "is never closed");
    return {};
  }

  base::Status check_tasks() const {
    for (size_t i = 0; i < trace_.tasks.size(); ++i) {
      const TaskRow& row = trace_.tasks[i];
      if (row.start.valid() != row.end.valid()) return base::Error{fmt::format("task {}: start without end", i)};
      if (row.start.valid() && trace_.thread_of(row.start) != trace_.thread_of(row.end)) {
        return base::Error{fmt::format("task {}: start and end on different threads", i)};
      }
    }
    for (size_t i = 1; i < trace_.dependencies.size(); ++i) {
      if (trace_.dependencies[i].task < trace_.dependencies[i - 1].task)
        return base::Error{"dependencies are not sorted"};
    }
    return {};
  }

  const Trace& trace_;
  std::vector<uint32_t> open_;
};

}  // namespace

base::Status verify(const Trace& trace) {
  return Verifier(trace).run();
}

}  // namespace contrafact::model
