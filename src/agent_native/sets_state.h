// What the parts of read and write sets share: sets.cc, sets_call.cc, sets_segments.cc and told_accesses.cc. Nobody
// else's.
#pragma once

#include <x86intrin.h>

#include <atomic>
#include <memory>

#include "agent_native/access_log.h"
#include "agent_native/held_locks.h"
#include "agent_native/recording.h"
#include "agent_native/set_counts.h"
#include "agent_native/time_window.h"
#include "base/clock.h"
#include "recorder/access_sets.h"
#include "translate/translator.h"

namespace contrafact::agent_native {

using format::SetGap;
using translate::Mode;
using translate::Reason;
using translate::t_thread;

// Of the process. Replaced in a forked child.
struct Sets {
  std::unique_ptr<translate::Translator> translator;
  bool translates = true;  // else sets are what the program reports, and never complete
  TimeWindow window;
  SetCounts counts;
  bool all_accesses = false;
  AccessTotals accesses;
  const int64_t clock_ns = base::monotonic_ns();
  const uint64_t clock = __rdtsc();  // the processor's, then
};
extern constinit Sets* g_state;  // null: there never were any

// Of a thread; made when it is attached.
struct SetsThread {
  ThreadCounts* counts;
  HeldLocks held;
  uint32_t held_by_allocator = 0;  // of those: taken inside the allocator, which is not observed
  bool observing = false;
  uint64_t accesses = 0;  // since it took the first of the locks
  bool tainted = false;   // a handler came between
  uint64_t stack_begin = 0, stack_end = 0;
  int64_t segment_begin_ns = 0;  // or the end of the last part that was written
  int64_t segment_first_ns = 0;
  int64_t observed_since_ns = 0;  // while observing: since it took the first of the locks
  int64_t rests_until_ns = 0;     // a section that outlasted its window has used up the next ones
  SetsCall* call = nullptr;
  recorder::AccessSetCache sent;
  std::unique_ptr<AccessLog> log;  // null: only critical sections are of interest

  bool is_watched() const { return observing || log; }
};
extern thread_local constinit SetsThread* t_sets __attribute__((tls_model("initial-exec")));

// The thread's own, which it keeps as long as this lives: a child that a handler forks meanwhile goes on with its
// parent's (end_sets_in_child). In a child that was forked before, there are none.
class OwnSets {
 public:
  explicit operator bool() const { return thread_ != nullptr; }
  SetsThread* operator->() const { return thread_; }

 private:
  const Inside inside_;  // first: no handler comes between it and what it protects
  SetsThread* const thread_ = t_sets;
};

// The program reports its accesses itself (contrafact/accesses.h), too; and the current thread is reporting one.
extern constinit std::atomic<bool> g_instrumented;
extern thread_local constinit bool t_noting __attribute__((tls_model("initial-exec")));

// Of the current thread's segment, before its log is emptied: cuts what the log holds into parts.
void emit_parts_of_log(uint64_t stack_pointer);

}  // namespace contrafact::agent_native
