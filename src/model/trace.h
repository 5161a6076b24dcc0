// Trace: one recorded, estimated or simulated run in memory, as columns. Immutable once built (TraceBuilder, load,
// text); safe to read from any number of threads.
//
// Invariants, checked by TraceBuilder::build and again by `verify`:
//  1. Events are grouped by thread; `thread_events(t)` is a contiguous range, in program order, times not decreasing.
//  2. Every id that an event names is a row of its table, or none.
//  3. For a task with a start, `start`, `end` and everything between lie on one thread; starts and ends nest.
//  4. cpu_out, cpu_in, pause_*, vm_ran, cores_idle are not among the events but in `cpu`, `pauses`, `vm_stints`,
//     `idle_times`, sorted by time; blocked_on and holder_at are in `blocked_on`, sorted by their blocks.
//  5. task_start/task_end, wait_begin/wait_end, worker_idle/worker_busy, block_begin/block_end,
//     method_enter/method_exit, lock_request/lock_acquired (shared likewise) and sync_wait/sync_woken nest and are
//     closed on every thread. What a recording lacks (it began late, or was cut off) has been added, with a note in
//     `loss`; a task whose start or end was added is `truncated`.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/column.h"
#include "base/result.h"
#include "format/access_log.h"
#include "format/access_set.h"
#include "format/event.h"
#include "model/access_ranges.h"

namespace contrafact::model {

using format::AccessSetId;
using format::BlockReason;
using format::ConnectionId;
using format::ContextId;
using format::EndpointId;
using format::EventKind;
using format::LockId;
using format::MethodId;
using format::Outcome;
using format::PoolId;
using format::StringId;
using format::TaskId;
using format::ThreadId;

using EventIndex = base::StrongId<struct EventTag>;  // position in the event columns

// Half-open range of event positions.
struct EventRange {
  uint32_t begin = 0;
  uint32_t end = 0;
  uint32_t size() const { return end - begin; }
};

// Where a number comes from; printed with every figure.
enum class Origin : uint8_t { measured, estimated, simulated };

enum class TaskKind : uint8_t {
  pooled,  // has a spawn to a pool
  stage,   // no spawn: ran on the thread that completed its source, or on its creator
  future,  // no body at all: completed by hand or by other tasks
  thread,  // the run of a thread
};

// All that is known about one task. A position is none if the task has no such event.
struct TaskRow {
  TaskKind kind = TaskKind::future;
  bool dropped = false;
  bool truncated = false;  // its start or its end was not recorded: the event stands where it was known to run at least
  PoolId pool;
  MethodId body;
  ContextId create_context;  // falls back to spawn_context
  ContextId spawn_context;   // falls back to create_context
  EventIndex create, spawn, start, end, complete;
  uint32_t delay_us = 0;
};

// `task` cannot run before `source` completes.
struct Dependency {
  TaskId task;
  TaskId source;
  format::DependsMode mode;
};

// The thread was off its core during [out_ns, in_ns).
struct CpuGap {
  int64_t out_ns;
  int64_t in_ns;
  bool preempted;
};
struct Pause {
  int64_t begin_ns;
  int64_t end_ns;
  ThreadId thread = ThreadId::none();  // one of the process that was stopped
};
// A thread of the virtual machine's own was on a core.
struct VmStint {
  int64_t begin_ns;
  int64_t end_ns;
};

// The cores that the program may use were idle for `idle_ns` in all since the row before, or since the trace began.
struct IdleTime {
  int64_t until_ns;
  int64_t idle_ns;
};

// What a block is for.
struct BlockedOn {
  ThreadId thread;      // that is blocked
  int64_t time_ns = 0;  // when the block begins
  LockId lock;
  ThreadId holder;      // none: not known, or nobody holds such an object
  ContextId holder_at;  // where the holder was meanwhile; none: nobody looked
  EventIndex block;     // the thread's block_begin at that time; found once all events are there
};

// What is missing from the trace and why; every command prints these.
struct Loss {
  uint64_t events_dropped = 0;  // counted by the recorder: it could not keep up, or not write
  uint64_t blocks_damaged = 0;  // unreadable parts of the file
  uint64_t bytes_skipped = 0;
  bool cut_off = false;            // the file has no trailer: the program was killed, or the copy is incomplete
  std::vector<std::string> notes;  // one line each
  bool any() const { return events_dropped || blocks_damaged || cut_off || !notes.empty(); }
};

// The memory that a piece of code read and wrote; its ranges are a part of Trace::access_ranges.
struct AccessSet {
  format::SetGap gap = format::SetGap::lost;
  AccessRanges::List ranges;
};

// Every access of the threads, in each thread's order (format/access_log.h). The counts are always there, the chunks
// only if loading was asked for them.
struct AccessLog {
  struct Chunk {
    ThreadId thread;
    format::SetGap gap = format::SetGap::complete;  // why accesses may be missing since the thread's chunk before
    uint32_t accesses = 0;
    uint64_t lost = 0;
    int64_t begin_ns = 0;
    int64_t end_ns = 0;
    uint64_t bytes_begin = 0;
    uint64_t bytes_end = 0;
  };
  uint64_t accesses = 0;          // in the file
  uint64_t lost = 0;              // logged, and dropped because there was no room
  uint64_t gaps = 0;              // chunks before which the recorder says that something is missing
  uint64_t chunks_missing = 0;    // in the file before it was damaged; each thread's next one is marked as lost
  uint64_t accesses_missing = 0;  // that the recorder wrote and the file does not hold
  uint64_t encoded_bytes = 0;     // before compression
  std::vector<Chunk> chunks;      // of each thread in its order
  std::vector<uint8_t> bytes;
  // Counts the chunk, and stores it if `keep`.
  void add(const format::AccessChunk& chunk, bool keep);
  format::AccessDecoder decode(const Chunk& chunk) const {
    return format::AccessDecoder(std::span(bytes).subspan(chunk.bytes_begin, chunk.bytes_end - chunk.bytes_begin));
  }
};

// Facts of the run: "jvm.version", "command", "cores", "clock", "probe.cost_ns", ...; docs/format.md lists the keys.
struct Fact {
  std::string key;
  std::string value;
};

// One of several recorded processes (processes.h).
struct Process {
  std::string name;  // no other has it
  uint32_t pid = 0;
  uint32_t threads_end = 0, pools_end = 0, locks_end = 0;  // its rows are those below, and not below the one before it
};

// Whose code each method is (code_owners.h). Empty: not found yet, and names alone distinguish the platform's.
struct CodeOwners {
  static constexpr uint32_t kProgram = 0;
  static constexpr uint32_t kPlatform = 1;
  static constexpr uint32_t kLibraries = 2;  // and above: the library of that number
  std::vector<uint32_t> of_method;
  std::vector<std::string> libraries;
  // The owner that stands for a library of that name.
  uint32_t library(std::string_view name);
};

struct Trace {
  Origin origin = Origin::measured;
  std::vector<Fact> facts;
  Loss loss;

  // Event columns. `a` and `b` are the event's first two operands as its schema in format/event.h lists them (for task
  // events: the task, then context or outcome); third and fourth operands (pool, body, delay) live in `tasks`.
  base::Column<EventKind> kind;
  base::Column<int64_t> time_ns;
  base::Column<uint32_t> a;
  base::Column<uint32_t> b;

  // Tables.
  std::vector<format::ThreadRow> threads;
  std::vector<EventRange> thread_ranges;  // same index as `threads`
  base::Column<TaskRow> tasks;
  std::vector<Dependency> dependencies;  // sorted by task
  std::vector<format::MethodRow> methods;
  std::vector<format::ContextRow> contexts;
  std::vector<format::PoolRow> pools;
  std::vector<format::LockRow> locks;
  std::vector<format::ConnectionRow> connections;
  std::vector<format::EndpointRow> endpoints;
  std::vector<format::MethodAddressRow> method_addresses;  // of native methods whose names are not found yet
  std::vector<AccessSet> access_sets;
  AccessRanges access_ranges;
  AccessLog access_log;
  std::vector<std::string> strings;
  std::vector<Process> processes;  // empty: all of one
  CodeOwners owners;
  std::vector<StringId> source_paths;    // by method: its file's whole path, where that is known (native, with DWARF)
  std::vector<std::vector<CpuGap>> cpu;  // same index as `threads`; empty where the kernel reported nothing
  std::vector<Pause> pauses;
  std::vector<VmStint> vm_stints;     // sorted by begin
  std::vector<IdleTime> idle_times;   // sorted by time; empty where not recorded
  std::vector<BlockedOn> blocked_on;  // sorted by block, at most one of each

  size_t event_count() const { return kind.size(); }
  EventRange thread_events(ThreadId thread) const { return thread_ranges[thread.index()]; }
  ThreadId thread_of(EventIndex event) const;  // binary search over thread_ranges
  int64_t begin_ns() const;                    // earliest event; 0 for an empty trace
  int64_t end_ns() const;
  // REQUIRES: `id` is valid.
  AccessRanges::View ranges_of(AccessSetId id) const { return access_ranges.of(access_sets[id.index()].ranges); }
  std::string_view string(StringId id) const { return id.valid() ? std::string_view(strings[id.index()]) : ""; }
  std::string_view fact(std::string_view key) const;  // "" if absent

  // "shop.Feed.load", short "Feed.load"; native functions have no class.
  std::string method_name(const format::MethodRow& method, bool short_class) const;
  // "Feed.load (Feed.java:41)"; "?" for none.
  std::string method_label(MethodId id) const;
  // The innermost frame of the program's own code: the place where a person would look. Without one, the innermost
  // frame of a library; without that, the innermost frame.
  ContextId program_frame(ContextId id) const;
  // The innermost frame of the program's or of a library's code: what calls the platform. Without one, the innermost.
  ContextId code_frame(ContextId id) const;
  // True if the context has a frame of the program's own code.
  bool has_program_frame(ContextId id) const;
  // The library ("Reactor") that the code at program_frame calls, if one lies between that frame and the recorded one.
  // Empty: none.
  std::string_view called_library(ContextId id) const;
  // The method's owner: "" for the program, "JDK" or "C library", or the library's name.
  std::string_view owner_name(MethodId id) const;
  std::string context_label(ContextId id) const;  // its program_frame
  std::string frame_label(ContextId id) const;    // the innermost frame, of any owner
};

// The invariants above. The error says which, and at which event.
base::Status verify(const Trace& trace);

// Class name of native code that belongs to the C or C++ library, as the Java platform's classes do to the JVM.
inline constexpr std::string_view kNativeRuntime = "native.runtime";

// Brackets: the kinds that open one, and those that close it.
constexpr bool opens(EventKind kind) {
  return kind == EventKind::task_start || kind == EventKind::wait_begin || kind == EventKind::worker_idle ||
         kind == EventKind::block_begin || kind == EventKind::method_enter || kind == EventKind::lock_request ||
         kind == EventKind::lock_request_shared || kind == EventKind::sync_wait;
}
constexpr bool closes(EventKind kind) {
  return kind == EventKind::task_end || kind == EventKind::wait_end || kind == EventKind::worker_busy ||
         kind == EventKind::block_end || kind == EventKind::method_exit || kind == EventKind::lock_acquired ||
         kind == EventKind::lock_acquired_shared || kind == EventKind::sync_woken;
}
// A wait for a lock or at a condition, barrier, ...: a block in the sense of the thread states.
constexpr bool opens_lock_wait(EventKind kind) {
  return kind == EventKind::lock_request || kind == EventKind::lock_request_shared || kind == EventKind::sync_wait;
}
// REQUIRES: closes(kind)
constexpr EventKind opener_of(EventKind kind) {
  return static_cast<EventKind>(static_cast<uint8_t>(kind) - 1);
}
// REQUIRES: opens(kind)
constexpr EventKind closer_of(EventKind kind) {
  return static_cast<EventKind>(static_cast<uint8_t>(kind) + 1);
}
static_assert(opener_of(EventKind::task_end) == EventKind::task_start);
static_assert(opener_of(EventKind::wait_end) == EventKind::wait_begin);
static_assert(opener_of(EventKind::worker_busy) == EventKind::worker_idle);
static_assert(opener_of(EventKind::block_end) == EventKind::block_begin);
static_assert(opener_of(EventKind::method_exit) == EventKind::method_enter);
static_assert(opener_of(EventKind::lock_acquired) == EventKind::lock_request);
static_assert(opener_of(EventKind::lock_acquired_shared) == EventKind::lock_request_shared);
static_assert(opener_of(EventKind::sync_woken) == EventKind::sync_wait);

}  // namespace contrafact::model
