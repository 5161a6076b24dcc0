// The events of a trace: their kinds, their operands and their meanings. This file is the contract between the
// recording side (agents, the recorder) and the analysing side (the model); docs/format.md gives the bytes.
//
// Every event has a time (CLOCK_MONOTONIC, ns) and a logical thread; the events of one thread are in program order with
// times that never decrease (Rehype, section 3: "a form of sequential consistency"). Events of different threads are
// related only by the tasks and threads that they name.
//
// Kinds of tasks. A task is anything with a future or a body that a thread may wait for:
//  - a Runnable, Callable, ForkJoinTask or RunnableScheduledFuture that was given to an executor;
//  - every CompletableFuture: an asynchronous supplier and each dependent stage have a body; allOf, anyOf and futures
//    that are completed by hand have none (no start and end, only a complete);
//  - the run of a thread, spawned by Thread.start and waited for by Thread.join (TaskKind::thread);
//  - of native programs, what OpenMP, oneTBB and the program's own pools run (docs/native.md).
//
// Life of a task:  create? -> depends* -> spawn? -> start -> end, and complete (at most once, between start and end, or
// without them for tasks without a body). A stage whose body runs at once on the thread that completed its source has
// start and end but no spawn. A task may start only once. A periodic task is a new task each time it is handed out.
// Starts nest: a worker that helps while it waits (ForkJoinPool) runs other tasks between wait_begin and wait_end.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "format/ids.h"

namespace contrafact::format {

enum class EventKind : uint8_t {
  thread_begin,   // first event of a thread
  thread_end,     // last event of a thread that ended while it was recorded
  task_create,    // a task exists but is not handed out yet; CONTEXT is where in the program
  task_depends,   // TASK cannot run (or complete) before SOURCE completes; MODE says all or any of its sources
  task_spawn,     // handed to POOL (none: to a thread of its own); CONTEXT where; BODY the code that it will run
  task_delay,     // the task just spawned may not start before DELAY_US after its spawn (scheduled executors)
  task_drop,      // will never run: rejected, cancelled, or left in the queue at shutdown
  task_start,     // the body begins on this thread
  task_end,       // the body ended; OUTCOME normal or exception
  task_complete,  // the result is available to waiters from here on (before the task_end of the body, if it has one)
  wait_begin,  // this thread asks for the result of TASK (none: for whichever of several finishes first); CONTEXT where
  wait_end,    // TASK is the task whose result was got (none: nothing); OUTCOME
  worker_idle,   // a pool's worker has nothing to do and asks for work (the paper's thread-waiting-for-task)
  worker_busy,   // it got work (thread-processing-task)
  pool_size,     // POOL now has SIZE workers
  block_begin,   // the thread blocks, for BlockReason, at CONTEXT; not emitted inside wait_begin..wait_end or
                 // worker_idle..busy
  block_end,     // it goes on
  wake,          // this thread woke THREAD (unpark, notify); the cause of that thread's next block_end or wait_end
  method_enter,  // function events, for the methods that the tracing configuration chose
  method_exit,   // OUTCOME normal or exception
  pause_begin,   // the virtual machine stopped all threads (garbage collection); on the recorder's own thread
  pause_end,
  cpu_out,  // the thread left its core at this time; OUTCOME preempted or blocked (if the kernel reports it)
  cpu_in,   // it came back
  gap,      // COUNT events of this thread were dropped here because the drainer could not keep up

  // Native programs: what threads do to each other through objects in memory (LOCK, a LockRow). The holder of a lock is
  // the thread that acquired it last: acquire times are taken when the lock is held, release times before it is
  // released, so the sections of one exclusive lock never overlap in a complete trace. The owner that a request waits
  // for, and the thread that woke another, follow from the times (model/critical_sections.h, model/sync_wakes.h).
  lock_acquire,         // LOCK was free, or this thread's own already; CONTEXT where
  lock_acquire_shared,  // the same as one of its readers
  lock_request,         // LOCK was held: the thread waits for it
  lock_acquired,        // it holds it now (OUTCOME normal), or not: timeout, exception (an error), cancelled
  lock_request_shared,  // the same as a reader
  lock_acquired_shared,
  lock_release,    // releases LOCK, at CONTEXT
  lock_busy,       // a try that failed: LOCK was held
  sync_wait,       // waits at LOCK: a condition, barrier, semaphore, once or futex
  sync_woken,      // goes on; OUTCOME normal, timeout, exception, cancelled
  sync_signal,     // wakes one of the threads that wait at LOCK, if any; a semaphore's post, a once's end
  sync_broadcast,  // wakes all

  // The memory that this thread read and wrote since its previous lock event, while it held at least one lock: emitted
  // just before the next lock event. A critical section's reads and writes are the union over its segments
  // (model/section_sets.h).
  accesses,  // ACCESS_SET, an AccessSetRow

  // From here on, another lock lies at LOCK's address: this one was initialised, or destroyed, at CONTEXT. The file
  // numbers locks by address; the model distinguishes them (model/lock_lives.h).
  lock_init,
  lock_destroy,

  // A thread of the virtual machine's own (compiler, collector) left its core, after COUNT us on it; on the recorder's
  // own thread. The recorder's own threads are not included, because a run that is not recorded has none.
  vm_ran,

  task_handed,  // the call that handed out the task spawned last on this thread is over; not for every executor
  pool_close,   // this thread shuts POOL down, which wakes its workers ...
  pool_closed,  // ... and has done so; the workers may still run
  permit_take,  // this thread has got COUNT permits of POOL (PoolKind::permits), perhaps after a block
  permit_give,  // it gives COUNT of them back, or more

  // Cores that the program may use were idle for COUNT us in all since the previous such event, or since the recording
  // began; on any thread. Core time that is neither idle nor the program's own was used by other programs.
  cores_idle,

  // The part of a segment that belongs to the thread's previous `accesses` event ends at a call, to which CONTEXT
  // returns: MODE is 0 before it and 1 after it.
  accesses_cut,

  // JVMs. The block that this thread just began is for LOCK, which THREAD holds or held when it was asked for (none: not
  // known). The time is that of the block_begin.
  blocked_on,
  holder_at,  // CONTEXT is where the holder of the blocked_on before was in the program, while this thread waited

  // Information flow between critical sections (FlowProf, section 5). Each tracked run of a section has a TAINT, a number
  // that no other run of the recording has; numbers grow in the order in which sections begin.
  section_taint,  // TAINT is that of the section that began with this thread's last acquisition
  flow_into,  // the flow_from events that follow on this thread go into the section TAINT, which is one of this thread's;
              // none: into code that is in no section
  flow_from,  // something that the section TAINT computed or took in went there; FLOW says in which way

  // What went over sockets: calls that moved bytes, nothing of what the bytes were. A peer's `receive` of bytes never
  // has a time before their `send`.
  receive,  // the call just over got COUNT bytes of CONNECTION; 0: the peer closed
  send,     // the call just beginning puts COUNT bytes into CONNECTION

  endpoint,  // what this thread works for is a request to ENDPOINT, as NAMED_BY says
};
inline constexpr size_t kEventKinds = 56;

enum class Operand : uint8_t {
  none,
  task,
  source,
  pool,
  context,
  body /*MethodId*/,
  method,
  thread,
  outcome,
  reason,
  mode,
  count,
  size,
  delay_us,
  queue_length,
  lock,
  access_set,
  taint,
  flow,
  connection,
  endpoint,
  named_by
};
inline constexpr size_t kOperandsMax = 4;

// Each operand is an unsigned 32-bit value; ids use UINT32_MAX for "none".
struct EventSchema {
  EventKind kind;
  std::string_view name;
  std::array<Operand, kOperandsMax> operands;
  constexpr size_t operand_count() const {
    size_t n = 0;
    while (n < kOperandsMax && operands[n] != Operand::none) ++n;
    return n;
  }
};

inline constexpr std::array<EventSchema, kEventKinds> kEventSchemas{{
    {EventKind::thread_begin, "thread_begin", {}},
    {EventKind::thread_end, "thread_end", {}},
    {EventKind::task_create, "task_create", {Operand::task, Operand::context, Operand::body}},
    {EventKind::task_depends, "task_depends", {Operand::task, Operand::source, Operand::mode}},
    {EventKind::task_spawn, "task_spawn", {Operand::task, Operand::context, Operand::pool, Operand::body}},
    {EventKind::task_delay, "task_delay", {Operand::task, Operand::delay_us}},
    {EventKind::task_drop, "task_drop", {Operand::task}},
    {EventKind::task_start, "task_start", {Operand::task}},
    {EventKind::task_end, "task_end", {Operand::task, Operand::outcome}},
    {EventKind::task_complete, "task_complete", {Operand::task, Operand::outcome}},
    {EventKind::wait_begin, "wait_begin", {Operand::task, Operand::context}},
    {EventKind::wait_end, "wait_end", {Operand::task, Operand::outcome}},
    {EventKind::worker_idle, "worker_idle", {Operand::pool, Operand::queue_length}},
    {EventKind::worker_busy, "worker_busy", {Operand::pool, Operand::queue_length}},
    {EventKind::pool_size, "pool_size", {Operand::pool, Operand::size}},
    {EventKind::block_begin, "block_begin", {Operand::reason, Operand::context}},
    {EventKind::block_end, "block_end", {Operand::reason}},
    {EventKind::wake, "wake", {Operand::thread}},
    {EventKind::method_enter, "method_enter", {Operand::method}},
    {EventKind::method_exit, "method_exit", {Operand::method, Operand::outcome}},
    {EventKind::pause_begin, "pause_begin", {}},
    {EventKind::pause_end, "pause_end", {}},
    {EventKind::cpu_out, "cpu_out", {Operand::outcome}},
    {EventKind::cpu_in, "cpu_in", {}},
    {EventKind::gap, "gap", {Operand::count}},
    {EventKind::lock_acquire, "lock_acquire", {Operand::lock, Operand::context}},
    {EventKind::lock_acquire_shared, "lock_acquire_shared", {Operand::lock, Operand::context}},
    {EventKind::lock_request, "lock_request", {Operand::lock, Operand::context}},
    {EventKind::lock_acquired, "lock_acquired", {Operand::lock, Operand::outcome}},
    {EventKind::lock_request_shared, "lock_request_shared", {Operand::lock, Operand::context}},
    {EventKind::lock_acquired_shared, "lock_acquired_shared", {Operand::lock, Operand::outcome}},
    {EventKind::lock_release, "lock_release", {Operand::lock, Operand::context}},
    {EventKind::lock_busy, "lock_busy", {Operand::lock, Operand::context}},
    {EventKind::sync_wait, "sync_wait", {Operand::lock, Operand::context}},
    {EventKind::sync_woken, "sync_woken", {Operand::lock, Operand::outcome}},
    {EventKind::sync_signal, "sync_signal", {Operand::lock, Operand::context}},
    {EventKind::sync_broadcast, "sync_broadcast", {Operand::lock, Operand::context}},
    {EventKind::accesses, "accesses", {Operand::access_set}},
    {EventKind::lock_init, "lock_init", {Operand::lock, Operand::context}},
    {EventKind::lock_destroy, "lock_destroy", {Operand::lock, Operand::context}},
    {EventKind::vm_ran, "vm_ran", {Operand::count}},
    {EventKind::task_handed, "task_handed", {}},
    {EventKind::pool_close, "pool_close", {Operand::pool}},
    {EventKind::pool_closed, "pool_closed", {Operand::pool}},
    {EventKind::permit_take, "permit_take", {Operand::pool, Operand::count}},
    {EventKind::permit_give, "permit_give", {Operand::pool, Operand::count}},
    {EventKind::cores_idle, "cores_idle", {Operand::count}},
    {EventKind::accesses_cut, "accesses_cut", {Operand::mode, Operand::context}},
    {EventKind::blocked_on, "blocked_on", {Operand::lock, Operand::thread}},
    {EventKind::holder_at, "holder_at", {Operand::context}},
    {EventKind::section_taint, "section_taint", {Operand::taint}},
    {EventKind::flow_into, "flow_into", {Operand::taint}},
    {EventKind::flow_from, "flow_from", {Operand::taint, Operand::flow}},
    {EventKind::receive, "receive", {Operand::connection, Operand::count}},
    {EventKind::send, "send", {Operand::connection, Operand::count}},
    {EventKind::endpoint, "endpoint", {Operand::endpoint, Operand::named_by}},
}};

constexpr const EventSchema& schema_of(EventKind kind) {
  return kEventSchemas[static_cast<size_t>(kind)];
}

// Operand::outcome
enum class Outcome : uint8_t { normal, exception, timeout, interrupted, cancelled, preempted, blocked };
// Operand::reason. `park` is any java.util.concurrent lock, queue or synchroniser; `monitor` is entering a synchronized
// region that another thread holds; `object_wait` is Object.wait. `poll` waits for any of several descriptors, `futex`
// is the bare system call, `process` waits for another process, `signal` for a signal.
enum class BlockReason : uint8_t { park, sleep, monitor, object_wait, io, poll, futex, process, signal };
// Operand::mode
enum class DependsMode : uint8_t { all, any };
// Operand::flow. `direct`: by a variable that is live at the section's end; `indirect`: by a field or an element that was read
// outside of sections; `control`: by no value, but a branch or an array's index in the section depended on it.
enum class FlowKind : uint8_t { direct, indirect, control };
// Operand::named_by. What knows of a request, from the one that knows least: its path as it came, what a container mapped, the
// pattern of a web framework's handler, the recording's configuration. The first event of the highest holds.
enum class NamedBy : uint8_t { path, mapping, pattern, configuration };

// Rows of the tables that events point into. A row is written before the first event that names it.
enum class ThreadKind : uint8_t { platform, virtual_thread };
enum class PoolKind : uint8_t {
  thread_pool,
  scheduled_thread_pool,
  fork_join,
  thread_per_task,
  other,
  permits,  // no threads: a semaphore; both sizes are the permits that it had when it was first seen
};
inline constexpr PoolKind kPoolKindLast = PoolKind::permits;

struct ThreadRow {
  StringId name;
  ThreadKind kind = ThreadKind::platform;
  bool daemon = false;
  uint64_t os_tid = 0;    // 0 for virtual threads
  uint64_t java_tid = 0;  // Thread.getId
};
struct MethodRow {
  StringId class_name;  // binary name with dots: shop.api.Feed$Item
  StringId name;        // the method's; "lambda$load$0" for a lambda's body
  StringId file;        // none if the class does not say
  uint32_t line = 0;    // first line of the body, 0 if unknown
};
struct ContextRow {
  ContextId parent;  // the caller's node; none at the stack's bottom
  MethodId method;
  uint32_t line = 0;  // line being executed in `method`, 0 if unknown
};
struct PoolRow {
  StringId name;  // class name and, where it has one, the thread name prefix
  PoolKind kind = PoolKind::other;
  uint32_t core_size = 0;  // workers kept; 0 if unbounded or unknown
  uint32_t max_size = 0;   // most workers; UINT32_MAX if unbounded
};
// A native program's code has addresses; function, file and line are found when the trace is read. The method's other
// fields are none until then.
struct MethodAddressRow {
  MethodId method;
  uint64_t address = 0;  // where a call returns to, or a function's first instruction (is_entry)
  bool is_entry = false;
};
enum class LockKind : uint8_t {
  mutex,
  rwlock,
  spinlock,
  condition,
  barrier,
  semaphore,
  once,
  futex,  // a word that threads wait at by a system call of their own; its use by the program is not known
  // Of a JVM. Its other locks have the kinds above: a ReentrantLock is a mutex, a ReentrantReadWriteLock a rwlock.
  monitor,       // of a synchronized method or block
  synchronizer,  // any other object that threads are parked for
};
inline constexpr LockKind kLockKindLast = LockKind::synchronizer;
struct LockRow {
  LockKind kind = LockKind::mutex;
  uint64_t address = 0;  // in the recorded process; of a JVM's lock a number of its own
  StringId name;  // none unless the program named it; of a JVM's lock its class, and its field where that is known
};
enum class ConnectionKind : uint8_t {
  accepted,   // by a listening socket of the program's
  connected,  // to a peer that the program chose
  other,      // not known (it was there before anybody looked), or of another kind: a pair, datagrams without a peer
};
inline constexpr ConnectionKind kConnectionKindLast = ConnectionKind::other;
// One life of a socket's descriptor; a number that is used again is another connection. Neither end's address is stored.
struct ConnectionRow {
  ConnectionKind kind = ConnectionKind::other;
  uint32_t local_port = 0;   // of TCP and UDP; 0 for others, or not known
  uint32_t remote_port = 0;  // the same
};
// What a request asks for: "GET /orders/{}", or the method that handles it. No part of a path that varies, and no query.
struct EndpointRow {
  StringId name;
};

}  // namespace contrafact::format
