#include "model/finish.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/repair.h"

namespace contrafact::model {
namespace {

// Ids that an event's two column operands name must be rows; what is not becomes none.
class IdCheck {
 public:
  explicit IdCheck(Trace& parts) : parts_(parts) {}

  void run() {
    for (size_t i = 0; i < parts_.kind.size(); ++i) check_event(i);
    for (TaskRow& row : parts_.tasks) {
      fix(row.pool.value, parts_.pools.size());
      fix(row.body.value, parts_.methods.size());
    }
    for (format::ContextRow& row : parts_.contexts) fix(row.method.value, parts_.methods.size());
    for (size_t i = 0; i < parts_.contexts.size(); ++i) fix(parts_.contexts[i].parent.value, i);  // parents come first
    for (format::MethodRow& row : parts_.methods) fix_strings(row.class_name, row.name, row.file);
    for (format::ThreadRow& row : parts_.threads) fix_strings(row.name);
    for (format::PoolRow& row : parts_.pools) fix_strings(row.name);
    if (fixed_ > 0) {
      parts_.loss.notes.push_back(fmt::format("{} to table rows that are not in the file",
                                              fixed_ == 1 ? "1 reference" : fmt::format("{} references", fixed_)));
    }
  }

 private:
  void fix(uint32_t& id, size_t rows) {
    if (id < rows || id == UINT32_MAX) return;
    id = UINT32_MAX;
    ++fixed_;
  }
  template <typename... Ids>
  void fix_strings(Ids&... ids) {
    (fix(ids.value, parts_.strings.size()), ...);
  }

  void check_event(size_t i) {
    const EventKind kind = parts_.kind[i];
    // The common kinds by hand: this runs once for every event of the file.
    switch (kind) {
      case EventKind::method_enter:
      case EventKind::method_exit:
        return fix(parts_.a[i], parts_.methods.size());
      case EventKind::task_start:
        return fix(parts_.a[i], parts_.tasks.size());
      case EventKind::task_end:
      case EventKind::task_complete:
      case EventKind::wait_end:
        fix(parts_.a[i], parts_.tasks.size());
        return fix_operand(format::Operand::outcome, parts_.b[i]);
      case EventKind::task_spawn:
      case EventKind::wait_begin:
        fix(parts_.a[i], parts_.tasks.size());
        return fix(parts_.b[i], parts_.contexts.size());
      case EventKind::worker_idle:
      case EventKind::worker_busy:
        return fix(parts_.a[i], parts_.pools.size());
      default:
        break;
    }
    const format::EventSchema& schema = format::schema_of(kind);
    fix_operand(schema.operands[0], parts_.a[i]);
    fix_operand(schema.operands[1], parts_.b[i]);
  }
  void fix_operand(format::Operand operand, uint32_t& value) {
    switch (operand) {
      case format::Operand::task:
      case format::Operand::source:
        fix(value, parts_.tasks.size());
        break;
      case format::Operand::context:
        fix(value, parts_.contexts.size());
        break;
      case format::Operand::pool:
        fix(value, parts_.pools.size());
        break;
      case format::Operand::thread:
        fix(value, parts_.threads.size());
        break;
      case format::Operand::outcome:
        value = std::min<uint32_t>(value, static_cast<uint32_t>(Outcome::blocked));
        break;
      case format::Operand::reason:
        value = std::min<uint32_t>(value, static_cast<uint32_t>(BlockReason::io));
        break;
      default:
        break;
    }
  }

  Trace& parts_;
  uint64_t fixed_ = 0;
};

// Fills the positions and contexts of the task rows from the events.
void derive_tasks(Trace& parts) {
  auto set_once = [](EventIndex& place, size_t position) {
    if (!place.valid()) place = EventIndex(static_cast<uint32_t>(position));
  };
  uint64_t gaps = 0;
  for (size_t i = 0; i < parts.kind.size(); ++i) {
    const EventKind kind = parts.kind[i];
    if (kind == EventKind::gap) gaps += parts.a[i];
    if (!names_task(kind) || parts.a[i] == UINT32_MAX) continue;
    TaskRow& row = parts.tasks[parts.a[i]];
    switch (kind) {
      case EventKind::task_create:
        set_once(row.create, i);
        if (!row.create_context.valid()) row.create_context = ContextId(parts.b[i]);
        break;
      case EventKind::task_spawn:
        set_once(row.spawn, i);
        if (!row.spawn_context.valid()) row.spawn_context = ContextId(parts.b[i]);
        break;
      case EventKind::task_drop:
        row.dropped = true;
        break;
      case EventKind::task_start:
        set_once(row.start, i);
        break;
      case EventKind::task_end:
        set_once(row.end, i);
        break;
      case EventKind::task_complete:
        set_once(row.complete, i);
        break;
      default:
        break;
    }
  }
  parts.loss.events_dropped = std::max(parts.loss.events_dropped, gaps);
  for (TaskRow& row : parts.tasks) {
    if (!row.create_context.valid()) row.create_context = row.spawn_context;
    if (!row.spawn_context.valid()) row.spawn_context = row.create_context;
    row.kind = row.spawn.valid()   ? (row.pool.valid() ? TaskKind::pooled : TaskKind::thread)
               : row.start.valid() ? TaskKind::stage
                                   : TaskKind::future;
  }
}

}  // namespace

base::Result<Trace> finish(Trace parts) {
  parts.cpu.resize(parts.threads.size());
  parts.thread_ranges.resize(parts.threads.size(),
                             {static_cast<uint32_t>(parts.kind.size()), static_cast<uint32_t>(parts.kind.size())});
  IdCheck(parts).run();
  Repair(parts).run();
  derive_tasks(parts);
  std::erase_if(parts.dependencies, [&](const Dependency& dependency) {
    return dependency.task.index() >= parts.tasks.size() || dependency.source.index() >= parts.tasks.size();
  });
  std::stable_sort(parts.dependencies.begin(), parts.dependencies.end(),
                   [](const Dependency& x, const Dependency& y) { return x.task < y.task; });
  std::sort(parts.pauses.begin(), parts.pauses.end(),
            [](const Pause& x, const Pause& y) { return x.begin_ns < y.begin_ns; });
  if (base::Status status = verify(parts); !status) return status.error();
  return parts;
}

}  // namespace contrafact::model
