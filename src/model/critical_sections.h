// Critical sections of a native trace: for each acquisition of a lock, when the thread asked for the lock, acquired it
// and released it.
//
// Pure function; linear in the events but for a sort by lock and time. Semaphores have acquisitions without a hold.
// Conditions, barriers and onces have waits, which are listed in the same way (`acquire_ns` is when the wait ended).
#pragma once

#include <vector>

#include "model/trace.h"

namespace contrafact::model {

struct CriticalSection {
  LockId lock;
  ThreadId thread;
  ContextId site;          // the code that asks for the lock
  EventIndex request;      // of a contended acquisition: its request; else none
  EventIndex acquire;      // lock_acquire, lock_acquired, or the end of the wait
  EventIndex release;      // none: to the end of the recording, or nothing is held
  int64_t request_ns = 0;  // == acquire_ns where uncontended
  int64_t acquire_ns = 0;
  int64_t release_ns = 0;             // == acquire_ns where nothing is held
  Outcome outcome = Outcome::normal;  // else never acquired (timeout, cancelled, ...), and nothing is held
  bool shared = false;                // a reader's
  bool contended() const { return request.valid(); }
  int64_t wait_ns() const { return acquire_ns - request_ns; }
  int64_t hold_ns() const { return release_ns - acquire_ns; }
};

// Sorted by lock, then by the time of acquisition. A recursive lock's inner acquisitions are part of the outermost
// section. A release by another thread than the owner ends the section that is open then. Where events are missing, a
// section whose release may be lost ends at the lock's next acquisition at the latest, and a release by another thread
// than the owner is ignored.
std::vector<CriticalSection> critical_sections(const Trace& trace);

// Whether such a lock is held from an acquisition to a release.
constexpr bool is_held(format::LockKind kind) {
  return kind == format::LockKind::mutex || kind == format::LockKind::rwlock || kind == format::LockKind::spinlock ||
         kind == format::LockKind::once || kind == format::LockKind::monitor;
}

// Whether one thread at a time holds such a lock, and waits for it by sleeping.
constexpr bool is_mutex(format::LockKind kind) {
  return kind == format::LockKind::mutex || kind == format::LockKind::monitor;
}

}  // namespace contrafact::model
