// What the process that records (`contrafact record`) and the processes that it records share beside calls: one
// ControlPage of the recording, and one ProcessPage in the area of each recorded process (deferred/shared_area.h). Both
// sides are of one build; a page that is not says so by its magic number.
//
//   record                                    recorded process, each of its program images (SharedLog::open)
//   makes the ControlPage, and areas ahead    opens the page by its path, claims the next area
//   finds the claim, begins a trace           ProcessPage: who it is, since when, whose child; later when it ended,
//                                             and what it counted
//   steers the clock                          reads the clock at each event
//
// Invariant: areas_claimed <= areas_made. Every claimed area is either opened or given up (area_fd).
//
// A pool is there before any event that names it is appended.
//
// Thread safety: atomics; a plain member is written before the atomic that says that it is there.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "base/shared_flag.h"
#include "deferred/shared_area.h"
#include "recorder/event_clock.h"

namespace contrafact::recorder {

// "cfctrl", a version that changes with the meaning of the structs, and their sizes: an agent and a `record` of
// different builds do not meet.
inline constexpr uint64_t kControlMagic = 0x056c6f7274636663 ^ sizeof(EventClock) << 8 ^
                                          sizeof(deferred::SharedHeader) << 20 ^ sizeof(deferred::SharedClient) << 36;
inline constexpr uint32_t kAreasMax = 4096;  // program images in one recording

inline constexpr int32_t kGivenUp = -1;

struct ControlPage {
  uint64_t magic = kControlMagic;
  uint64_t area_bytes = 0;  // of each
  std::atomic<uint32_t> areas_claimed{0};
  std::atomic<uint32_t> areas_made{0};
  std::atomic<uint32_t> refused{0};           // processes that found no area
  std::atomic<uint32_t> waited_in_vain{~0u};  // for more areas than this; nobody waits until there are more
  base::SharedFlag closed;                    // nobody records any more
  std::atomic<int32_t> worker_tid{0};         // the thread that takes what is recorded; 0 until it runs
  EventClock clock;
  std::array<std::atomic<int32_t>, kAreasMax> area_fd{};  // in the recording process; kGivenUp: claimed, and not opened
};

// A count that the process raises and the trace has as a fact.
struct NamedCount {
  char key[40] = {};
  std::atomic<uint64_t> value{0};
  base::SharedFlag is_there;
};

// A pool of threads that the process has tasks for; its number in events is its place among them.
struct NamedPool {
  char name[40] = {};
  std::atomic<uint32_t> kind{0};  // format::PoolKind
  std::atomic<uint32_t> core_size{0};
  std::atomic<uint32_t> max_size{0};
  base::SharedFlag is_there;
};
inline constexpr uint32_t kNamedPoolsMax = 16;

struct ProcessPage {
  std::atomic<int32_t> pid{0};         // as the process knows it; 0 until it has claimed the area
  std::atomic<int32_t> parent_pid{0};  // the recorded process that it was forked from, whose libraries it has; or 0
  std::atomic<int64_t> begin_ns{0};    // CLOCK_MONOTONIC
  std::atomic<int64_t> end_ns{0};      // 0: it did not end by itself, or not yet
  std::atomic<uint32_t> threads_unrecorded{0};
  std::array<NamedCount, 56> counts{};
  std::array<NamedPool, kNamedPoolsMax> pools{};
};
static_assert(sizeof(ProcessPage) <= deferred::kSharedOwnerBytes);

inline ProcessPage& page_of(deferred::SharedHeader& header) {
  return *reinterpret_cast<ProcessPage*>(header.owner);
}
inline const ProcessPage& page_of(const deferred::SharedHeader& header) {
  return *reinterpret_cast<const ProcessPage*>(header.owner);
}

// Columns of the traces' buffers (include/contrafact/deferred_buffer.h).
deferred::Layout trace_layout();

}  // namespace contrafact::recorder
