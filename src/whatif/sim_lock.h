// One simulated lock, semaphore or condition: the threads that hold it and those that wait. Plain data with the rules
// by which the next holder is chosen; the machine wakes and times threads. Not thread-safe.
//
// Which thread acquires a lock after a release:
//  - barging (as in the C library's mutexes): the thread that comes first. One sleeper is woken and tries again, and
//    goes back to sleep if another thread was faster. A release wakes a sleeper only if the lock was marked since its
//    last release: by a thread that went to sleep, or that was woken and then acquired it;
//  - fifo: the thread that has waited longest, by hand-over;
//  - recorded: the thread that acquired it next in the recording. A section may begin when as many of the lock's
//    sections are over as `need` says: for an exclusive section all that came before it, for a shared one all up to the
//    last exclusive one before it. One counter is enough: every later section needs this one;
//  - ordered: a section may begin when the sections that Variant::order names before it are over, under whatever lock,
//    and its recorded thread's last one before it. Any number of sections hold the lock, as readers do.
#pragma once

#include <cstdint>

#include "format/event.h"

namespace contrafact::whatif {

enum class LockRule : uint8_t { barging, fifo, recorded, ordered };

struct SimLock {
  static constexpr uint32_t kNone = UINT32_MAX;

  format::LockKind kind = format::LockKind::mutex;
  LockRule rule = LockRule::barging;
  bool writer = false;
  uint32_t readers = 0;
  uint32_t count = 0;        // semaphores: permits available; conditions: signals sent
  uint32_t comers = 0;       // conditions: threads that have come to wait
  uint32_t early = 0;        // releases that came before their acquisitions, which another thread makes
  uint32_t over = 0;         // sections that are over
  uint32_t coming = 0;       // barging: woken, and not yet there to try again
  bool lingers = false;      // barging: a thread that finds it held stays on its core for a while (sim_lingers.h)
  int64_t tried_ns = 0;      // barging: a thread that has waited for less is still trying (sim_tries.h), ...
  int64_t try_way_ns = 0;    // ... and has the lock so soon after a release
  bool marked = false;       // barging: its release has to wake a sleeper
  bool made_shared = false;  // sections that excluded each other in the recording are its readers
  uint32_t first = kNone, last = kNone;  // threads that wait, in order
  uint64_t acquisitions = 0;
  uint64_t contended = 0;
  int64_t wait_ns = 0;

  bool free_for(bool shared) const { return !writer && (shared || readers == 0); }
  void enter(bool shared) {
    ++acquisitions;
    if (shared) {
      ++readers;
    } else {
      writer = true;
    }
  }
  void leave(bool shared) {
    ++over;
    if (shared && readers > 0) {
      --readers;
    } else {
      writer = false;
    }
  }
};

}  // namespace contrafact::whatif
