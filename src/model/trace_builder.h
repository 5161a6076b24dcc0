// TraceBuilder: makes a Trace from rows and events; for tests, importers, text traces and estimated traces.
// Not thread-safe. Events of one thread are added in program order; threads may be interleaved in any way.
//
// Recordings are seldom complete: `build` repairs what can be (see finish.h) and says so in Trace::loss.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "model/trace.h"

namespace contrafact::model {

class TraceBuilder {
 public:
  StringId intern(std::string_view text);
  ThreadId add_thread(std::string_view name, format::ThreadRow row = {});
  PoolId add_pool(std::string_view name, format::PoolKind kind, uint32_t core_size, uint32_t max_size);
  LockId add_lock(std::string_view name, format::LockKind kind);  // no name if empty
  ConnectionId add_connection(const format::ConnectionRow& row);
  EndpointId add_endpoint(std::string_view name);
  AccessSetId add_access_set(format::SetGap gap, std::vector<AccessRange> ranges);  // in any order
  void add_access_chunk(const format::AccessChunk& chunk);
  MethodId add_method(std::string_view class_name, std::string_view name, std::string_view file = "",
                      uint32_t line = 0);
  ContextId add_context(ContextId parent, MethodId method, uint32_t line);
  TaskId add_task();  // tasks need no row before their first event; this only names the next one
  void add_fact(std::string_view key, std::string_view value);

  // Operands in the order of the event's schema; those left out are none (or 0 for outcome, mode, count, size, delay).
  // REQUIRES: `thread` and, for task events, the task were added here.
  void add(ThreadId thread, EventKind kind, int64_t time_ns, std::array<uint32_t, format::kOperandsMax> operands);

  // Shorthands for the events that tests write most.
  void spawn(ThreadId thread, int64_t time_ns, TaskId task, ContextId context, PoolId pool, MethodId body);
  void add(ThreadId thread, EventKind kind, int64_t time_ns) { add(thread, kind, time_ns, {0, 0, 0, 0}); }
  void add(ThreadId thread, EventKind kind, int64_t time_ns, TaskId task) {
    bool ids_follow = kind == EventKind::task_create || kind == EventKind::task_spawn || kind == EventKind::wait_begin;
    uint32_t rest = ids_follow ? UINT32_MAX : 0;
    add(thread, kind, time_ns, {task.value, rest, rest, rest});
  }

  Loss& loss() { return trace_.loss; }
  void set_origin(Origin origin) { trace_.origin = origin; }
  size_t task_count() const { return trace_.tasks.size(); }

  // The finished trace; the builder is empty afterwards.
  base::Result<Trace> build();

 private:
  struct Columns {
    std::vector<EventKind> kind;
    std::vector<int64_t> time_ns;
    std::vector<uint32_t> a, b;
  };
  bool add_beside(ThreadId thread, EventKind kind, int64_t time_ns, uint32_t a, uint32_t b);

  Trace trace_;
  std::vector<Columns> columns_;
  std::unordered_map<std::string, uint32_t> strings_;
};

}  // namespace contrafact::model
