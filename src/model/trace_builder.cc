#include "model/trace_builder.h"

#include <utility>

#include "base/check.h"
#include "model/finish.h"
#include "model/vm_stints.h"

namespace contrafact::model {

StringId TraceBuilder::intern(std::string_view text) {
  auto [it, fresh] = strings_.try_emplace(std::string(text), static_cast<uint32_t>(trace_.strings.size()));
  if (fresh) trace_.strings.emplace_back(text);
  return StringId(it->second);
}

ThreadId TraceBuilder::add_thread(std::string_view name, format::ThreadRow row) {
  row.name = intern(name);
  trace_.threads.push_back(row);
  trace_.cpu.emplace_back();
  columns_.emplace_back();
  return ThreadId(static_cast<uint32_t>(trace_.threads.size() - 1));
}

PoolId TraceBuilder::add_pool(std::string_view name, format::PoolKind kind, uint32_t core_size, uint32_t max_size) {
  trace_.pools.push_back({intern(name), kind, core_size, max_size});
  return PoolId(static_cast<uint32_t>(trace_.pools.size() - 1));
}

LockId TraceBuilder::add_lock(std::string_view name, format::LockKind kind) {
  trace_.locks.push_back({kind, trace_.locks.size(), name.empty() ? StringId::none() : intern(name)});
  return LockId(static_cast<uint32_t>(trace_.locks.size() - 1));
}

ConnectionId TraceBuilder::add_connection(const format::ConnectionRow& row) {
  trace_.connections.push_back(row);
  return ConnectionId(static_cast<uint32_t>(trace_.connections.size() - 1));
}

EndpointId TraceBuilder::add_endpoint(std::string_view name) {
  trace_.endpoints.push_back({intern(name)});
  return EndpointId(static_cast<uint32_t>(trace_.endpoints.size() - 1));
}

void TraceBuilder::add_access_chunk(const format::AccessChunk& chunk) {
  trace_.access_log.add(chunk, true);
}

AccessSetId TraceBuilder::add_access_set(format::SetGap gap, std::vector<AccessRange> ranges) {
  format::make_canonical(ranges);
  trace_.access_sets.push_back({gap, trace_.access_ranges.add(ranges)});
  return AccessSetId(static_cast<uint32_t>(trace_.access_sets.size() - 1));
}

MethodId TraceBuilder::add_method(std::string_view class_name, std::string_view name, std::string_view file,
                                  uint32_t line) {
  trace_.methods.push_back({intern(class_name), intern(name), file.empty() ? StringId::none() : intern(file), line});
  return MethodId(static_cast<uint32_t>(trace_.methods.size() - 1));
}

ContextId TraceBuilder::add_context(ContextId parent, MethodId method, uint32_t line) {
  trace_.contexts.push_back({parent, method, line});
  return ContextId(static_cast<uint32_t>(trace_.contexts.size() - 1));
}

TaskId TraceBuilder::add_task() {
  trace_.tasks.emplace_back();
  return TaskId(static_cast<uint32_t>(trace_.tasks.size() - 1));
}

void TraceBuilder::add_fact(std::string_view key, std::string_view value) {
  trace_.facts.push_back({std::string(key), std::string(value)});
}

// Events that are kept beside the columns. False if `kind` is none of them.
bool TraceBuilder::add_beside(ThreadId thread, EventKind kind, int64_t time_ns, uint32_t a, uint32_t b) {
  std::vector<CpuGap>& gaps = trace_.cpu[thread.index()];
  switch (kind) {
    case EventKind::pause_begin:
      trace_.pauses.push_back({time_ns, time_ns, thread});
      return true;
    case EventKind::pause_end:
      if (!trace_.pauses.empty()) trace_.pauses.back().end_ns = time_ns;
      return true;
    case EventKind::cpu_out:
      gaps.push_back({time_ns, time_ns, static_cast<Outcome>(a) == Outcome::preempted});
      return true;
    case EventKind::cpu_in:
      if (!gaps.empty()) gaps.back().in_ns = time_ns;
      return true;
    case EventKind::vm_ran:
      trace_.vm_stints.push_back(vm_stint(time_ns, a));
      return true;
    case EventKind::cores_idle:
      trace_.idle_times.push_back({time_ns, kNsPerUs * int64_t{a}});
      return true;
    case EventKind::blocked_on:
      trace_.blocked_on.push_back({thread, time_ns, LockId(a), ThreadId(b), ContextId::none()});
      return true;
    case EventKind::holder_at:
      note_holder_at(trace_.blocked_on, thread, ContextId(a));
      return true;
    default:
      return false;
  }
}

void TraceBuilder::add(ThreadId thread, EventKind kind, int64_t time_ns,
                       std::array<uint32_t, format::kOperandsMax> operands) {
  CHECK(thread.index() < columns_.size());
  if (add_beside(thread, kind, time_ns, operands[0], operands[1])) return;
  if (names_task(kind) && operands[0] != UINT32_MAX) {
    CHECK(operands[0] < trace_.tasks.size());
    set_outer_operands(trace_, kind, operands[0], operands.data());
  }
  Columns& columns = columns_[thread.index()];
  columns.kind.push_back(kind);
  columns.time_ns.push_back(time_ns);
  columns.a.push_back(operands[0]);
  columns.b.push_back(operands[1]);
}

void TraceBuilder::spawn(ThreadId thread, int64_t time_ns, TaskId task, ContextId context, PoolId pool, MethodId body) {
  add(thread, EventKind::task_spawn, time_ns, {task.value, context.value, pool.value, body.value});
}

base::Result<Trace> TraceBuilder::build() {
  for (Columns& columns : columns_) {
    auto append = [](auto& to, auto& from) { to.insert(to.end(), from.begin(), from.end()); };
    auto begin = static_cast<uint32_t>(trace_.kind.size());
    append(trace_.kind, columns.kind);
    append(trace_.time_ns, columns.time_ns);
    append(trace_.a, columns.a);
    append(trace_.b, columns.b);
    trace_.thread_ranges.push_back({begin, static_cast<uint32_t>(trace_.kind.size())});
    columns = {};
  }
  columns_.clear();
  strings_.clear();
  return finish(std::exchange(trace_, {}));
}

}  // namespace contrafact::model
