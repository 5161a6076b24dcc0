// The callers of a call site, by the unwinder that exceptions use. Needs no frame pointers; since glibc 2.35 it finds
// its tables without a lock and allocates nothing.
#include <unwind.h>

#include "agent_native/lock_events.h"
#include "agent_native/recording.h"

namespace contrafact::agent_native {
namespace {

constexpr uint32_t kCallersMax = 6;  // enough to leave a library's wrapper and see who asked
constexpr uint32_t kOwnFramesMax = 8;

struct Walk {
  uint64_t site = 0;
  uint32_t skipped = 0;
  bool at_site = false;
  uint32_t count = 0;
  uint64_t callers[kCallersMax] = {};
};

// Not on the stack, of which the unwinder takes much. A handler that interrupts a walk begins none: see Inside.
__attribute__((tls_model("initial-exec"))) constinit thread_local Walk t_walk;

_Unwind_Reason_Code step(_Unwind_Context* context, void*) {
  Walk& walk = t_walk;
  const auto address = static_cast<uint64_t>(_Unwind_GetIP(context));
  if (!walk.at_site) {
    walk.at_site = address == walk.site;
    return ++walk.skipped > kOwnFramesMax ? _URC_END_OF_STACK : _URC_NO_REASON;
  }
  if (address == 0) return _URC_END_OF_STACK;
  walk.callers[walk.count++] = address;
  return walk.count == kCallersMax ? _URC_END_OF_STACK : _URC_NO_REASON;
}

}  // namespace

void append_stack(Client* client, uint64_t site) {
  Inside inside;
  t_walk = Walk{site};
  _Unwind_Backtrace(step, nullptr);
  for (uint32_t i = 0; i < t_walk.count; i += 2) {
    Recorder::append_frames(client, t_walk.callers[i], i + 1 < t_walk.count ? t_walk.callers[i + 1] : 0);
  }
}

[[gnu::noinline]] void append_lock_apart(Client* client, EventKind kind, int64_t time_ns, uint64_t lock,
                                         uint64_t site) {
  append_lock(client, kind, time_ns, lock, site);
}

void append_request(Client* client, const Acquisition& what) {
  const int64_t request_ns = g_clock.now_ns();
  append_stack(client, what.site);
  append_lock_apart(client, what.request(), request_ns, what.lock, what.site);
}

void append_end_of_wait(Client* client, const Acquisition& what, int waited) {
  append_outcome(client, what.acquired(), g_clock.now_ns(), what.lock, outcome_of(waited));
}

}  // namespace contrafact::agent_native
