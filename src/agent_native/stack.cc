#include "agent_native/stack.h"

#include <dlfcn.h>
#include <unwind.h>

#include <cstddef>
#include <iterator>

#include "agent_native/lock_events.h"
#include "agent_native/recording.h"

namespace contrafact::agent_native {
namespace {

// Of the unwinder (dwarf_eh_bases), which has it in no header.
struct UnwindBases {
  void *text, *data, *function;
};

constexpr uint32_t kCallersMax = 6;     // enough to leave a library's wrapper and see who asked
constexpr uint32_t kOwnFramesMax = 12;  // and of functions that only lock

struct Walk {
  uint64_t site = 0;
  uint32_t skipped = 0;
  uint32_t count = 0;
  // It goes on where a signal's handler interrupted: that stack may be another one, and gone the next time.
  bool leaves_stack = false;
  StackFrame frames[1 + kCallersMax] = {};
};

// Not on the stack, because the unwinder takes much of that. A handler that interrupts a walk begins none: see Inside.
__attribute__((tls_model("initial-exec"))) constinit thread_local Walk t_walk;

// The latest walks from a few places, of the program's first threads. Thread-local memory would be taken from each
// thread's stack; and no part of this memory is resident before it is used.
constexpr size_t kThreads = 2048, kWalks = 4;
constinit Walk g_walks[kThreads][kWalks] = {};

Walk& latest_walk(uint64_t site) {
  const Client* const client = t_local.client;
  if (!client || client->stream() >= kThreads) return t_walk;
  return g_walks[client->stream()][(site ^ site >> 4) % kWalks];
}

constinit bool g_walks_ready = false;  // written once, before anybody records

// Whether the thread is where it was at that walk: each frame's return address lies on the stack where it lay then. The
// first such word is right above our own frames; each that is unchanged shows that its function's frame reaches to the
// next.
[[gnu::noinline]] bool is_still(const Walk& walk, uint64_t site) {
  constexpr uint64_t kOwnBytesMax = 2048;
  if (walk.site != site || walk.count == 0 || walk.leaves_stack) return false;
  const auto here = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  const uint64_t first = walk.frames[0].slot();
  if (first <= here || first - here > kOwnBytesMax) return false;
  for (const StackFrame& frame : std::span(walk.frames).first(walk.count)) {
    if (frame.content() != frame.address) return false;
  }
  return true;
}

_Unwind_Reason_Code step(_Unwind_Context* context, void* of) {
  Walk& walk = *static_cast<Walk*>(of);
  int is_interrupted = 0;
  const StackFrame frame = {static_cast<uint64_t>(_Unwind_GetIPInfo(context, &is_interrupted)),
                            static_cast<uint64_t>(_Unwind_GetCFA(context))};
  if (walk.count == 0 && frame.address != walk.site) {
    return ++walk.skipped > kOwnFramesMax ? _URC_END_OF_STACK : _URC_NO_REASON;
  }
  if (frame.address == 0) return _URC_END_OF_STACK;
  walk.leaves_stack |= is_interrupted != 0;
  walk.frames[walk.count++] = frame;
  return walk.count == std::size(walk.frames) ? _URC_END_OF_STACK : _URC_NO_REASON;
}

// The unwinder gets this table entry for code that no table describes: such code has no caller. Otherwise it would read
// the code, to see whether a signal's handler returns there; but a coroutine's outermost frame may return to anything.
// As .eh_frame has it: what frames have in common, and a frame.
struct OutermostFrame {
  uint32_t common_bytes = 20;  // what follows, up to the frame
  uint32_t id = 0;
  uint8_t version = 1, augmentation = 0, code_alignment = 1, data_alignment = 0x78;  // -8
  uint8_t return_address = 16;
  uint8_t instructions[11] = {0x0c, 7, 8,  // the frame ends 8 bytes above the stack pointer,
                              0x07, 16};   // and its return address is undefined
  uint32_t frame_bytes = 20;
  uint32_t back_to_common = 28;
  uint64_t begin = 0, size = 0;
};
static_assert(offsetof(OutermostFrame, frame_bytes) == 24 && sizeof(OutermostFrame) == 48);
constinit const OutermostFrame g_outermost;

}  // namespace

// The linker has the unwinder call this in place of its own (--wrap).
extern "C" const void* __real__Unwind_Find_FDE(void* address, UnwindBases* bases);
extern "C" const void* __wrap__Unwind_Find_FDE(void* address, UnwindBases* bases) {
  if (const void* const found = __real__Unwind_Find_FDE(address, bases)) return found;
  *bases = {};
  return &g_outermost.frame_bytes;
}

bool is_function(uint64_t address) {
  UnwindBases bases;
  const auto at = reinterpret_cast<void*>(address);
  dl_find_object object;
  return _dl_find_object(at, &object) == 0 && __real__Unwind_Find_FDE(at, &bases) && bases.function == at;
}

std::span<const StackFrame> walk_stack(uint64_t site) {
  if (!g_walks_ready) return {};
  Walk& walk = latest_walk(site);
  if (!is_still(walk, site)) {
    walk = Walk{site};
    _Unwind_Backtrace(step, &walk);
  }
  return std::span(walk.frames).first(walk.count);
}

void prepare_walks() {
  const Inside inside;
  g_walks_ready = true;
  walk_stack(0);
}

void append_callers(Client* client, std::span<const StackFrame> frames) {
  if (!is_own(client)) return;
  for (size_t i = 1; i < frames.size(); i += 2) {
    Recorder::append_frames(client, frames[i].address, i + 1 < frames.size() ? frames[i + 1].address : 0);
  }
}

void append_stack(Client* client, uint64_t site) {
  Inside inside;
  append_callers(client, walk_stack(site));
}

[[gnu::noinline]] void append_lock_apart(Client* client, EventKind kind, int64_t time_ns, uint64_t lock,
                                         uint64_t site) {
  append_lock(client, kind, time_ns, lock, site);
}

[[gnu::noinline]] void append_watched_acquire(Client* client, const Acquisition& what) {
  append_asked_callers(client);
  append_lock(client, what.acquire(), g_clock.now_ns(), what.lock, what.site);
  watch_asked(what.lock);
}

void append_request(Client* client, const Acquisition& what) {
  const int64_t request_ns = g_clock.now_ns();
  append_stack(client, what.site);
  append_lock_apart(client, what.request(), request_ns, what.lock, what.site);
}

void append_end_of_wait(Client* client, const Acquisition& what, int waited) {
  append_outcome(client, what.acquired(), g_clock.now_ns(), what.lock, outcome_of(waited));
  if (is_held(waited) && is_asked(what.site)) watch_asked(what.lock);
}

}  // namespace contrafact::agent_native
