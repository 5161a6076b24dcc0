#include "agent_native/lock_sites.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <string_view>

#include "agent_native/stack.h"

namespace contrafact::agent_native {

thread_local constinit LockSiteThread t_lock_sites __attribute__((tls_model("initial-exec"))) = {};

namespace {

constexpr size_t kWrappersMax = 4;        // around each other
constexpr uint32_t kFrameBytesMax = 256;  // of functions that only lock; larger ones may have frames of several sizes
constexpr uint32_t kWatchesMax = 64;      // of a place whose lock nobody releases
constexpr size_t kHeldMax = 4;            // watched at a time, by one thread

// What is known of a place that a call returns to.
enum class Verdict : uint32_t { open, plain, wrapper };
struct Place {
  std::atomic<uint64_t> address{0};  // 0: free
  std::atomic<uint32_t> verdict{0};
  std::atomic<uint32_t> frame_bytes{0};  // of a wrapper
  std::atomic<uint32_t> watches{0};
};

// Fixed, for nothing may be allocated: a place for which there is no room is no wrapper.
constexpr size_t kPlaces = 4096, kProbes = 8;
constinit std::array<Place, kPlaces> g_places{};

Place* place_of(uint64_t address) {
  const size_t at = address * 0x9e3779b97f4a7c15u >> 52;
  for (size_t i = 0; i < kProbes; ++i) {
    Place& place = g_places[(at + i) % kPlaces];
    uint64_t known = place.address.load(std::memory_order_acquire);
    if (known == 0 && place.address.compare_exchange_strong(known, address)) return &place;
    if (known == address) return &place;
  }
  return nullptr;
}

Verdict verdict_of(const Place* place) {
  return place ? static_cast<Verdict>(place->verdict.load(std::memory_order_acquire)) : Verdict::plain;
}

struct Watched {
  uint64_t lock = 0;  // recorder::lock_word; 0: none
  size_t count = 0;
  StackFrame frames[kWrappersMax + 1] = {};
};
struct Watches {
  size_t count = 0;  // of the acquisition now going on
  StackFrame asked[7] = {};
  Watched held[kHeldMax];
  size_t next = 0;
};
thread_local constinit Watches t_watches __attribute__((tls_model("initial-exec"))) = {};

// Walks the stack for the acquisition that is going on. False: `site` is not there. Nothing is watched where the return
// addresses do not lie where the walk says.
bool ask(uint64_t site, uint64_t stack_pointer) {
  const Inside inside;
  const std::span<const StackFrame> frames = walk_stack(site);
  if (frames.empty() || frames[0].stack_pointer != stack_pointer) return false;
  for (size_t i = 1; i < frames.size(); ++i) {
    if (frames[i].stack_pointer <= frames[i - 1].stack_pointer || frames[i].content() != frames[i].address) return true;
  }
  std::ranges::copy(frames, t_watches.asked);
  t_watches.count = frames.size();
  t_lock_sites.asked = site;
  return true;
}

bool is_worth_watching(Place& place) {
  if (place.watches.fetch_add(1, std::memory_order_relaxed) < kWatchesMax) return true;
  place.verdict.store(static_cast<uint32_t>(Verdict::plain), std::memory_order_release);
  return false;
}

void note_wrapper(Client* client, uint64_t address, Place& place, uint32_t frame_bytes) {
  place.frame_bytes.store(frame_bytes, std::memory_order_relaxed);
  uint32_t open = 0;
  if (!place.verdict.compare_exchange_strong(open, static_cast<uint32_t>(Verdict::wrapper))) return;
  constexpr std::string_view kKey = "lock.wrapper.";
  char key[kKey.size() + 20], value[20];
  const char* const key_end =
      std::to_chars(std::ranges::copy(kKey, key).out, std::end(key), &place - g_places.data()).ptr;
  const char* const value_end = std::to_chars(value, std::end(value), address, 16).ptr;
  if (!is_own(client)) return;
  recorder::append_text(client, recorder::TextKind::fact, 0, {key, key_end}, {value, value_end});
}

// Whether a function that `caller` called may still run; `now` is the stack. True if unknown: a walk has few frames.
bool may_be_running(const StackFrame& caller, std::span<const StackFrame> now) {
  if (now.empty() || now.back().stack_pointer < caller.stack_pointer) return true;
  return std::ranges::any_of(now, [&](const StackFrame& frame) {
    return frame.stack_pointer == caller.stack_pointer && frame.address == caller.address;
  });
}

// From the innermost frame on: those that are gone are wrappers, the first that is still there is none.
void judge(Client* client, const Watched& watched, std::span<const StackFrame> now) {
  for (size_t i = 0; i + 1 < watched.count; ++i) {
    const StackFrame &frame = watched.frames[i], &caller = watched.frames[i + 1];
    Place* place = place_of(frame.address);
    if (!place || verdict_of(place) == Verdict::plain) return;
    const uint64_t bytes = caller.slot() - frame.stack_pointer;
    if (may_be_running(caller, now) || bytes > kFrameBytesMax) {
      uint32_t open = 0;
      place->verdict.compare_exchange_strong(open, static_cast<uint32_t>(Verdict::plain));
      return;
    }
    note_wrapper(client, frame.address, *place, static_cast<uint32_t>(bytes));
  }
}

}  // namespace

// If a wrapper's caller is not where it should be, the word there is not believed: the wrapper's frame has several
// sizes then.
uint64_t lock_site_slow(uint64_t return_address, uint64_t stack_pointer) {
  uint64_t wrapper = return_address, site = return_address;
  t_lock_sites.asked = 0;
  for (size_t depth = 0; depth < kWrappersMax; ++depth) {
    Place* place = place_of(site);
    if (!place) return wrapper;
    switch (verdict_of(place)) {
      case Verdict::plain:
        if (depth == 0) t_lock_sites.plain = site;
        return site;
      case Verdict::open:
        return !is_worth_watching(*place) || ask(site, stack_pointer) ? site : wrapper;
      case Verdict::wrapper:
        stack_pointer += place->frame_bytes.load(std::memory_order_relaxed) + 8;
        wrapper = site;
        site = *reinterpret_cast<const uint64_t*>(stack_pointer - 8);
        break;
    }
  }
  return wrapper;
}

void append_asked_callers(Client* client) {
  const Inside inside;
  append_callers(client, std::span(t_watches.asked).first(t_watches.count));
}

void watch_asked(uint64_t lock) {
  Watched& watched = t_watches.held[t_watches.next++ % kHeldMax];
  watched.lock = lock;
  watched.count = std::min(t_watches.count, std::size(watched.frames));
  std::copy_n(t_watches.asked, watched.count, watched.frames);
  t_lock_sites.asked = 0;
  t_lock_sites.is_watching = true;
}

void watched_released(Client* client, uint64_t lock, uint64_t site) {
  const Inside inside;
  bool is_found = false, any = false;  // of a lock that is held several times the latest acquisition
  for (size_t i = kHeldMax; i-- > 0;) {
    Watched& watched = t_watches.held[(t_watches.next + i) % kHeldMax];
    if (watched.lock == lock && !is_found) {
      is_found = true;
      watched.lock = 0;
      judge(client, watched, walk_stack(site));
    }
    any = any || watched.lock != 0;
  }
  t_lock_sites.is_watching = any;
}

}  // namespace contrafact::agent_native
