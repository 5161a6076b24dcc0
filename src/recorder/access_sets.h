// How a working thread hands on what it read and wrote while it held a lock: append_accesses(), one `accesses` event.
//
// The thread keeps an AccessSetCache: hashes of the sets that it has sent before. A set that is in the cache costs one
// event of five words; a new set travels range by range through the thread's own buffer. The drainer brings new sets
// into canonical form and gives equal sets one row (AccessSetTable). So the thread neither locks nor allocates. Ranges
// for which there is no room are dropped and counted as events are: the event's set is then `lost`, never a wrong one.
//
// A thread's ranges may come in any order and may overlap. The order in which the thread met them is best: equal code
// on equal data then has equal hashes. Two different sets with equal 64-bit hashes would be taken for one: with a
// million sets in a process the chance is 3 in 100 million.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "format/access_set.h"
#include "recorder/recorder.h"

namespace contrafact::recorder {

// What one client has sent. 4 KiB, all zero at first. Thread safety: its client's thread only.
class AccessSetCache {
 public:
  bool has(uint64_t hash) const { return sent_[slot(hash)] == hash; }
  void add(uint64_t hash) { sent_[slot(hash)] = hash; }

 private:
  static size_t slot(uint64_t hash) { return hash % kSlots; }
  static constexpr size_t kSlots = 512;
  std::array<uint64_t, kSlots> sent_{};  // 0: empty
};

// More ranges than this are cut and the set is an `overflow`: it would take a large part of the thread's buffers.
inline constexpr uint32_t kAccessRangesSentMax = 4096;

// Emits what the client's thread accessed since its previous lock event. To be called just before each lock event
// (format/event.h, from lock_acquire to sync_broadcast) while the thread holds a lock, with no ranges if it accessed
// nothing; for unobserved code there is no call, or one whose `gap` says why. `gap` is complete only if every access is
// in `ranges`. About 11 ns for a known set of eight ranges, and 15 for each range of a new one (append_bench).
// REQUIRES: `cache` is this client's own, from its first call on. As for Recorder::append, the caller keeps signal
// handlers from coming between.
void append_accesses(Client* client, AccessSetCache& cache, int64_t time_ns, format::SetGap gap,
                     std::span<const format::AccessRange> ranges);
// The same for `logical`, a virtual thread that the client's thread carries.
void append_accesses_as(Client* client, ThreadId logical, AccessSetCache& cache, int64_t time_ns, format::SetGap gap,
                        std::span<const format::AccessRange> ranges);

}  // namespace contrafact::recorder
