// The site of a lock: the innermost code that asks for it and does more than lock. Programs and libraries wrap the C
// library's functions (my_lock(m), a lock_guard's constructor), and then the call returns into the wrapper.
//
// Whether a function only locks is found by what it does: it returns while the lock is held, and the release comes from
// elsewhere. So the first acquisitions from each place are watched: the stack is walked then and at the release, which
// shows which of the callers have returned. From then on a wrapper's caller is read from the stack, at the same
// distance from each call: functions that only lock have small frames of one size.
//
//     lower  [ the interposer's frame ][ the wrapper's frame ][ return address ][ its caller's frame ...  higher
//                                      |<-- frame_bytes ---->|
//                                      stack pointer after the call
//
// Events of watched acquisitions carry their callers, and the facts `lock.wrapper.N` say from which places a reader
// goes on to the caller.
//
// Thread safety: all of it. Cost: a load and a compare where the thread's last acquisition came from the same place,
// some 5 ns where it did not, and a walk of the stack for the first ones.
#pragma once

#include <cstdint>

#include "agent_native/recording.h"

namespace contrafact::agent_native {

struct LockSiteThread {
  uint64_t plain = 0;        // the last place that was no wrapper
  uint64_t asked = 0;        // the place of the acquisition now going on, if it is to be watched
  bool is_watching = false;  // it holds locks whose acquisitions are watched
};
extern thread_local constinit LockSiteThread t_lock_sites __attribute__((tls_model("initial-exec")));

uint64_t lock_site_slow(uint64_t return_address, uint64_t stack_pointer);
// Appends the callers of an acquisition that is to be watched, for the next event with a CONTEXT; and it got the lock.
void append_asked_callers(Client* client);
void watch_asked(uint64_t lock);
// A lock that may be watched was released, at `site`.
void watched_released(Client* client, uint64_t lock, uint64_t site);

// `frame`: the interposer's, with its saved frame pointer and the return address.
inline uint64_t stack_pointer_behind(const void* frame) {
  return reinterpret_cast<uint64_t>(static_cast<const uint64_t*>(frame) + 2);
}
inline uint64_t lock_site(uint64_t return_address, const void* frame) {
  if (return_address == t_lock_sites.plain) [[likely]]
    return return_address;
  return lock_site_slow(return_address, stack_pointer_behind(frame));
}
// Whether the acquisition from there is to be watched.
inline bool is_asked(uint64_t site) {
  return t_lock_sites.asked == site;
}

// Only in the interposer itself.
#define CONTRAFACT_LOCK_SITE ::contrafact::agent_native::lock_site(CONTRAFACT_SITE, __builtin_frame_address(0))

}  // namespace contrafact::agent_native
