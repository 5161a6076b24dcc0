// Recorder: the event log of a running process. Agents attach threads, append events, and name rows of tables; one
// background thread (the drainer) takes what was appended at least every `drain_interval_ms` and writes it to the sink.
//
// Thread safety: everything but start() and the destructor may be called from any thread; append() and swap() only by
// the thread that the client was attached for (or under the caller's own exclusion). Cost: append() and swap() take no
// lock, allocate nothing, do no I/O (swap() may wake the drainer: one futex call). attach, detach, add_* and intern_*
// may lock and allocate for a short time: slow paths only. Invariants:
//  1. A row is in its table before any event that names it can be appended, and is written before that event.
//  2. Nothing here fails the host: when memory or disk run out, events are dropped and counted.
//  3. In a forked child nothing is ever written. There, only append, swap, flush, stop and the destructor may be
//  called.
//  4. A recorder must outlive its producers: an agent that cannot know when the last one is gone never destroys it.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "contrafact/deferred_buffer.h"
#include "deferred/client.h"
#include "format/event.h"
#include "format/sink.h"
#include "recorder/addressed_calls.h"
#include "recorder/awake_report.h"

namespace contrafact::recorder {

using deferred::Client;
using format::ConnectionId;
using format::ContextId;
using format::EndpointId;
using format::EventKind;
using format::LockId;
using format::MethodId;
using format::PoolId;
using format::StringId;
using format::ThreadId;

struct Fact {
  std::string key;
  std::string value;
};

struct Options {
  std::string output_path;
  bool keep_existing = false;                      // an existing file stays: format::FileSinkOptions
  std::unique_ptr<format::Sink> sink;              // used instead of output_path where given
  uint64_t memory_bytes_max = uint64_t{64} << 20;  // of all buffers together
  uint32_t drain_interval_ms = 20;
  int compression_level = 1;
  uint32_t access_sets_max = 1 << 19;  // different ones; 32 MiB of hashes at most
  bool cpu_switches = true;            // ask the kernel for context switches
  bool command_arguments = true;       // in the fact `command`; else the program's name alone
  std::vector<Fact> facts;             // beside those that the recorder finds itself (pid, cores, clock, command, ...)
  std::shared_ptr<const AwakeReport> awake;  // what keeps idle cores awake meanwhile; null: nothing
  bool idle_cores = true;                    // look at how long cores are idle
  // Called with trouble (disk full, ...), one line each, on the drainer's thread, which has none of the process's
  // descriptors (base/own_descriptors.h). May be empty.
  std::function<void(std::string_view line)> diagnostics;
  // Called on the drainer's thread before each pass writes its events; may add facts. May be empty.
  std::function<void(class Recorder&)> each_pass;
};

struct Frame {
  MethodId method;
  uint32_t line = 0;
};

class Recorder {
 public:
  static base::Result<std::unique_ptr<Recorder>> start(Options options);
  ~Recorder();  // stop("exit") if that has not been done; see invariant 4
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // A new row of the thread table with a client to append with; client->buffer() is the buffer to begin with (of
  // capacity 0, so that the first append swaps). Never null. row.os_tid (gettid) is what the kernel's switches are
  // matched by.
  Client* attach(const format::ThreadRow& row);
  // The thread ended; what it appended will be written. The client must not be used again.
  void detach(Client* client);
  // For virtual threads: a row without a client.
  ThreadId add_thread(const format::ThreadRow& row);
  // Threads that are not attached are the virtual machine's own: their time on cores becomes events vm_ran of
  // `client`'s thread.
  void note_unattached(const Client* client);
  static ThreadId thread_of(const Client* client) { return ThreadId(client->stream()); }

  // A buffer with room, or null if there is none: then one call is counted as dropped, which the caller must not write.
  // Producer only.
  static contrafact_buffer* swap(Client* client) { return client->swap(); }

  // Appends one event of the client's own thread, or of `logical` (a virtual thread on this carrier).
  template <typename... Operands>
  static void append(Client* client, EventKind kind, int64_t time_ns, Operands... operands) {
    append_as(client, thread_of(client), kind, time_ns, operands...);
  }
  template <typename... Operands>
  static void append_as(Client* client, ThreadId logical, EventKind kind, int64_t time_ns, Operands... operands);

  // Appends an event whose LOCK and CONTEXT are still addresses: the drainer numbers them (addressed_calls.h). False if
  // it was dropped.
  template <typename... Words>
  static bool append_addressed(Client* client, uint16_t call, int64_t time_ns, Words... words) {
    return append_addressed_as(client, thread_of(client), call, time_ns, words...);
  }
  template <typename... Words>
  static bool append_addressed_as(Client* client, ThreadId logical, uint16_t call, int64_t time_ns, Words... words) {
    static_assert(sizeof...(Words) <= kAddressedWordsMax);
    return append_call(client, logical, call, [&](contrafact_buffer* buffer, uint32_t& next) {
      auto* column = reinterpret_cast<uint32_t*>(buffer->column[1]);
      reinterpret_cast<int64_t*>(buffer->column[0])[buffer->cursor[0]++] = time_ns;
      ((column[next++] = static_cast<uint32_t>(words)), ...);
    });
  }
  // The same for an event with LOCK and CONTEXT alone, which are looked for among the pairs that the client remembers.
  // Calls `now` for the time once all else is written; returns that time. `pairs` may be null.
  template <typename Now>
  [[gnu::always_inline]] static inline int64_t append_pair(Client* client, RememberedPair* pairs, EventKind kind,
                                                           uint64_t lock, uint64_t site, Now now);
  // A call that has words and no time.
  template <typename... Words>
  static bool append_words(Client* client, uint16_t call, Words... words) {
    return append_words_as(client, thread_of(client), call, words...);
  }
  template <typename... Words>
  static bool append_words_as(Client* client, ThreadId logical, uint16_t call, Words... words) {
    static_assert(sizeof...(Words) <= kAddressedWordsMax);
    return append_call(client, logical, call, [&](contrafact_buffer* buffer, uint32_t& next) {
      auto* column = reinterpret_cast<uint32_t*>(buffer->column[1]);
      ((column[next++] = static_cast<uint32_t>(words)), ...);
    });
  }
  // A piece of something longer: a text (texts.h), a chunk of accesses (access_log.h).
  static bool append_16_bytes(Client* client, uint16_t call, const void* bytes) {
    uint32_t words[4];
    std::memcpy(words, bytes, sizeof words);
    return append_words(client, call, words[0], words[1], words[2], words[3]);
  }
  // Frames of the stack of the client's next addressed event with a CONTEXT, innermost first, two at a time.
  static void append_frames(Client* client, uint64_t inner, uint64_t outer) {
    append_call(client, thread_of(client), kFramesCall, [&](contrafact_buffer* buffer, uint32_t& next) {
      auto* column = reinterpret_cast<uint32_t*>(buffer->column[1]);
      for (const uint64_t address : {inner, outer}) {
        column[next++] = static_cast<uint32_t>(address);
        column[next++] = static_cast<uint32_t>(address >> 32);
      }
    });
  }

  // Tables. Equal rows get equal ids (but for threads, pools, locks, connections and endpoints, which are new each time).
  StringId intern(std::string_view text);
  MethodId add_method(const format::MethodRow& row);
  ContextId intern_context(ContextId parent, MethodId method, uint32_t line);
  // A whole stack, innermost frame first as JVMTI gives it; the id of the innermost. None for an empty stack.
  ContextId intern_context(std::span<const Frame> innermost_first);
  // Native code: the method at an address (`is_entry`: a function's first instruction, else where a call returns to),
  // and a stack of return addresses, innermost first. Slow paths only, as above.
  MethodId method_at(uint64_t address, bool is_entry);
  ContextId context_at(std::span<const uint64_t> return_addresses);
  PoolId add_pool(const format::PoolRow& row);
  LockId add_lock(const format::LockRow& row);
  ConnectionId add_connection(const format::ConnectionRow& row);
  EndpointId add_endpoint(const format::EndpointRow& row);
  void add_fact(std::string_view key, std::string_view value);

  // Takes and writes what is committed, then the trailer. Threads may still run: what they append from here on is lost.
  // The first call counts; later ones wait for it to be done. With `timeout_ms` above 0 nobody waits longer than that:
  // the drainer may be held up by a lock that the caller holds.
  void stop(std::string_view reason, int64_t timeout_ms = 0);

  // Everything that was committed before the call is in the sink when it returns. For tests and for agents'
  // checkpoints.
  void flush();

  struct Statistics {
    uint64_t events_written = 0;
    uint64_t events_dropped = 0;
    uint64_t bytes_written = 0;
    uint64_t buffer_bytes = 0;  // of the memory budget, in use or kept for use
    bool failed = false;        // recording stopped early: disk full, ...
  };
  Statistics statistics() const;

 private:
  // False if there was no room: the call was dropped and counted.
  // Inlined: what `write` refers to would go through memory otherwise.
  template <typename Write>
  [[gnu::always_inline]] static inline bool append_call(Client* client, ThreadId logical, uint16_t id, Write write);

  class Impl;
  explicit Recorder(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

template <typename Write>
[[gnu::always_inline]] inline bool Recorder::append_call(Client* client, ThreadId logical, uint16_t id, Write write) {
  contrafact_buffer* buffer = client->buffer();
  uint32_t n = buffer->committed;
  if (n >= buffer->capacity) {
    buffer = client->swap();
    if (!buffer) return false;
    n = buffer->committed;
  }
  auto* ids = reinterpret_cast<uint16_t*>(buffer->ids);
  uint32_t next = buffer->cursor[1];
  if (buffer->logical_thread != logical.value) [[unlikely]] {
    ids[n++] = CONTRAFACT_CALL_SWITCH_THREAD;
    reinterpret_cast<uint32_t*>(buffer->column[1])[next++] = logical.value;
    buffer->logical_thread = logical.value;
  }
  ids[n++] = id;
  // When the buffer was used before, the drainer read these cache lines, as a rule on another core. Fetched 128 bytes
  // ahead, they are there when they are written; else the program's next locked instruction waits for them. A recorded
  // lock and unlock cost 50 ns with this, 50 to 100 without.
  __builtin_prefetch(ids + n + 64, 1);
  __builtin_prefetch(reinterpret_cast<int64_t*>(buffer->column[0]) + buffer->cursor[0] + 16, 1);
  __builtin_prefetch(reinterpret_cast<uint32_t*>(buffer->column[1]) + next + 32, 1);
  write(buffer, next);
  buffer->cursor[1] = next;
  std::atomic_ref(buffer->committed).store(n, std::memory_order_release);
  return true;
}

// A thread's own events: no switch of threads lies between them. An event's time is read before a swap.
template <typename Now>
[[gnu::always_inline]] inline int64_t Recorder::append_pair(Client* client, RememberedPair* pairs, EventKind kind,
                                                            uint64_t lock, uint64_t site, Now now) {
  contrafact_buffer* const buffer = client->buffer();
  const uint32_t n = buffer->committed;
  if (n >= buffer->capacity || !pairs) [[unlikely]] {
    const int64_t time_ns = now();
    append_addressed(client, addressed_call(kind), time_ns, lock, lock >> 32, site, site >> 32);
    return time_ns;
  }
  const uint32_t place = place_of_pair(lock, site);
  RememberedPair& pair = pairs[place];
  uint16_t* const ids = reinterpret_cast<uint16_t*>(buffer->ids) + n;
  const uint32_t time_at = buffer->cursor[0];
  int64_t* const time = reinterpret_cast<int64_t*>(buffer->column[0]) + time_at;
  __builtin_prefetch(ids + 64, 1);  // as in append_call()
  __builtin_prefetch(time + 16, 1);
  if (pair.lock == lock && pair.site == site) [[likely]] {
    *ids = recall_call(kind, place);
  } else {
    *ids = remember_call(kind, place);
    auto* const words = reinterpret_cast<uint32_t*>(buffer->column[1]) + buffer->cursor[1];
    __builtin_prefetch(words + 32, 1);
    const uint32_t values[4] = {static_cast<uint32_t>(lock), static_cast<uint32_t>(lock >> 32),
                                static_cast<uint32_t>(site), static_cast<uint32_t>(site >> 32)};
    std::memcpy(words, values, sizeof values);
    buffer->cursor[1] += 4;
    pair = {lock, site};
  }
  const int64_t time_ns = now();
  *time = time_ns;
  buffer->cursor[0] = time_at + 1;
  std::atomic_ref(buffer->committed).store(n + 1, std::memory_order_release);
  return time_ns;
}

template <typename... Operands>
void Recorder::append_as(Client* client, ThreadId logical, EventKind kind, int64_t time_ns, Operands... operands) {
  static_assert(sizeof...(Operands) <= format::kOperandsMax);
  append_call(client, logical, static_cast<uint16_t>(kind), [&](contrafact_buffer* buffer, uint32_t& next) {
    auto* words = reinterpret_cast<uint32_t*>(buffer->column[1]);
    reinterpret_cast<int64_t*>(buffer->column[0])[buffer->cursor[0]++] = time_ns;
    ((words[next++] = static_cast<uint32_t>(operands)), ...);
  });
}

}  // namespace contrafact::recorder
