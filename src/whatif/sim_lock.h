// One simulated lock, semaphore or condition: who has it and who waits. Plain data with the rules of who gets it
// next; waking and timing threads is the machine's affair. Not thread-safe.
//
// Who gets a lock that is given up:
//  - barging (as the C library's mutexes): whoever comes first; one sleeper is woken and tries again, and goes back to
//    sleep if another thread was faster. Who gives it up wakes somebody only if it was marked: by a thread that went to
//    sleep, or that was woken and then got it, since it was last given up;
//  - fifo: who has waited longest, by hand-over;
//  - recorded: who had it next in the recording. A section may enter when as many of the lock's sections are over as
//    `need` says: for an exclusive one all that came before it, for a shared one all up to the last exclusive one
//    before it. One counter is enough: whoever comes later needs this one.
#pragma once

#include <cstdint>

#include "format/event.h"

namespace contrafact::whatif {

enum class LockRule : uint8_t { barging, fifo, recorded };

struct SimLock {
  static constexpr uint32_t kNone = UINT32_MAX;

  format::LockKind kind = format::LockKind::mutex;
  LockRule rule = LockRule::barging;
  bool writer = false;
  uint32_t readers = 0;
  uint32_t count = 0;    // semaphores: what is there to take; conditions: signals sent
  uint32_t comers = 0;   // conditions: who has come to wait
  uint32_t early = 0;    // given up before it was taken, by another thread than took it in the recording
  uint32_t over = 0;     // sections that are over
  uint32_t coming = 0;   // barging: woken, and not yet there to try again
  bool lingers = false;  // barging: who finds it held is on its core for a while before it sleeps (sim_lingers.h)
  bool marked = false;   // barging: a sleeper is to be woken when it is given up
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
