#include "translate/segment.h"

#include <algorithm>
#include <utility>

#include "translate/log.h"

namespace contrafact::translate {
namespace {

constexpr uint32_t kVectorBytes = 16;
constexpr uint32_t kSmallSegment =
    64;  // ranges; smaller segments are fields of a few objects, not walks through memory

constexpr uint32_t kAtomics = kAccessAtomic | kAccessFetched;
constexpr uint32_t kCommutes = kAccessCommutative | kAccessBits;

// As format::joined.
uint32_t joined(uint32_t x, uint32_t y) {
  const bool both_write = (x & y & kAccessWrite) != 0;
  const uint32_t atomics = both_write ? x & y & kAtomics : (x | y) & kAccessFetched;
  const uint32_t commutes = ((x ^ y) & kAccessBits) == 0 ? x & y & kCommutes : 0;
  return ((x | y) & ~(kCommutes | kAtomics)) | commutes | atomics;
}

// A value that comes from a register has all its bits.
bool values_differ(const LogEntry& entry) {
  const uint32_t bits = 8 * (entry.meta & kMetaSizeMask);
  return (entry.before ^ entry.after) << (64 - bits) != 0;
}

// Read and write are the lowest two bits of both.
inline uint32_t flags_of(const LogEntry& entry) {
  static_assert(kMetaRead >> 16 == kAccessRead && kMetaWrite >> 16 == kAccessWrite);
  uint32_t flags = entry.meta >> 16 & (kAccessRead | kAccessWrite);
  if ((entry.meta & kMetaWrite) == 0) return flags;
  if ((entry.meta & kMetaValues) == 0 || values_differ(entry)) flags |= kAccessChanged;
  if ((entry.meta & (kMetaCommutative | kMetaAtomic)) == 0) return flags;
  static_assert(kMetaSetsBits >> 20 == kAccessSetsBits && kMetaClearsBits >> 20 == kAccessClearsBits);
  if ((entry.meta & kMetaCommutative) != 0) flags |= kAccessCommutative | (entry.meta >> 20 & kAccessBits);
  if ((entry.meta & kMetaAtomic) != 0) flags |= kAccessAtomic;
  if ((entry.meta & kMetaFetched) != 0) flags |= kAccessFetched;
  return flags;
}

uint64_t entry_bytes(const LogEntry& entry) {
  return (entry.meta & kMetaLong) != 0 ? kLongEntryBytes : kEntryBytes;
}

Access access_of(const LogEntry& entry, uint64_t thread_pointer) {
  const uint32_t size = entry.meta & kMetaSizeMask;
  const uint64_t base = (entry.meta & kMetaLocal) != 0 ? thread_pointer : 0;
  uint64_t begin = base + entry.address;
  if ((entry.meta & kMetaString) == 0) return {begin, size, flags_of(entry) & ~kAtomics};
  uint64_t end = base + entry.before;
  if (end < begin) {  // downwards: the pointer is that of the next element
    std::swap(begin, end);
    begin += size;
    end += size;
  }
  return {begin, static_cast<uint32_t>(std::min<uint64_t>(end - begin, UINT32_MAX)), flags_of(entry)};
}

}  // namespace

void Segment::begin() {
  for (uint32_t i = 0; i < count_; ++i) slot_[slot_of_[i]] = 0;
  for (uint32_t& stream : stream_) stream = 0;
  count_ = 0;
  merges_ = 0;
  accesses_ = 0;
  overflown_ = false;
  gathers_ = true;
  private_begin_ = private_end_ = 0;
}

void Segment::set_private(uint64_t private_begin, uint64_t private_end) {
  private_begin_ = private_begin;
  private_end_ = private_end;
}

// Most entries are of the thread's own stack, or of a range that is known.
void Segment::add_log(uint64_t log, uint64_t log_top) {
  if (sink_) stream(log, log_top);
  if (!gathers_) return;
  const auto thread_pointer = reinterpret_cast<uint64_t>(__builtin_thread_pointer());
  const uint64_t private_bytes = private_end_ - private_begin_;
  while (log < log_top) {
    auto& entry = *reinterpret_cast<LogEntry*>(log);
    const uint32_t size = entry.meta & kMetaSizeMask;
    if ((entry.meta & kMetaLocal) != 0) [[unlikely]] {
      entry.address += thread_pointer;
      if ((entry.meta & kMetaString) != 0) entry.before += thread_pointer;
    }
    if ((entry.meta & kMetaPoint) != 0) {
      log += kEntryBytes;
      continue;
    }
    ++accesses_;
    if ((entry.meta & kMetaString) == 0) [[likely]] {
      const bool is_hidden = entry.address - private_begin_ < private_bytes && private_end_ - entry.address >= size;
      if (!is_hidden && !join(entry.address, size, flags_of(entry))) gather(entry.address, size, flags_of(entry));
    } else if (entry.before >= entry.address) {
      gather(entry.address, entry.before - entry.address, flags_of(entry));
    } else {  // downwards: the pointer is that of the next element
      gather(entry.before + size, entry.address - entry.before, flags_of(entry));
    }
    log += (entry.meta & kMetaLong) != 0 ? kLongEntryBytes : kEntryBytes;
  }
}

// Oldest first. The sink may be slow; it gets a few at a time, because they lie on the stack.
void Segment::stream(uint64_t log, uint64_t log_top) {
  const auto thread_pointer = reinterpret_cast<uint64_t>(__builtin_thread_pointer());
  uint32_t count = 0;
  for (uint64_t at = log; at < log_top; at += entry_bytes(*reinterpret_cast<const LogEntry*>(at))) {
    const bool is_point = (reinterpret_cast<const LogEntry*>(at)->meta & kMetaPoint) != 0;
    if (!is_point) log_order_[count++] = static_cast<uint16_t>((at - log) / kEntryBytes);
  }
  constexpr uint32_t kAtOnce = 64;
  Access accesses[kAtOnce];
  while (count > 0) {
    uint32_t taken = 0;
    while (taken < kAtOnce && count > 0) {
      const auto* entry = reinterpret_cast<const LogEntry*>(log + uint64_t{log_order_[--count]} * kEntryBytes);
      const Access access = access_of(*entry, thread_pointer);
      if (access.length_bytes > 0) accesses[taken++] = access;
    }
    sink_->take({accesses, taken});
  }
  sink_->flushed();
}

inline uint32_t Segment::slot_of(uint64_t begin, uint32_t length_bytes) {
  return static_cast<uint32_t>((begin * 0x9e3779b97f4a7c15u + length_bytes) >> 40) % kSlots;
}

// False if the range is not known, or not at its first slot.
inline bool Segment::join(uint64_t begin, uint32_t length_bytes, uint32_t flags) {
  const uint32_t number = slot_[slot_of(begin, length_bytes)];
  if (number == 0) return false;
  Access& range = range_[number - 1];
  if (range.begin != begin || range.length_bytes != length_bytes) return false;
  range.flags = joined(range.flags, flags);
  return true;
}

// Vector code walks through memory, upwards or, read from the newest entry, downwards.
bool Segment::grow_stream(uint64_t begin, uint32_t length_bytes, uint32_t flags) {
  for (const uint32_t index : stream_) {
    if (index == 0) continue;
    Access& range = range_[index - 1];
    const uint64_t range_end = range.begin + range.length_bytes;
    const bool is_inside = begin >= range.begin && begin + length_bytes <= range_end;
    if (is_inside && joined(range.flags, flags) == range.flags) return true;
    if (range.flags != flags || range.length_bytes > UINT32_MAX - length_bytes) continue;
    if (begin != range_end && begin + length_bytes != range.begin) continue;
    range.begin = std::min(range.begin, begin);
    range.length_bytes += length_bytes;
    return true;
  }
  return false;
}

void Segment::add(uint64_t begin, uint64_t length_bytes, uint32_t flags) {
  if (sink_ && length_bytes > 0) {
    const Access access{begin, static_cast<uint32_t>(std::min<uint64_t>(length_bytes, UINT32_MAX)), flags};
    sink_->take({&access, 1});
  }
  if (gathers_) gather(begin, length_bytes, flags);
}

void Segment::gather(uint64_t begin, uint64_t length_bytes, uint32_t flags) {
  if (begin >= private_begin_ && begin < private_end_) {  // what reaches out of it counts
    const uint64_t hidden = std::min(length_bytes, private_end_ - begin);
    begin += hidden;
    length_bytes -= hidden;
  }
  if (length_bytes == 0) return;
  if (length_bytes > UINT32_MAX || begin > UINT64_MAX - length_bytes) {
    overflown_ = true;
    return;
  }
  const auto length = static_cast<uint32_t>(length_bytes);
  uint32_t at = slot_of(begin, length);
  for (; slot_[at] != 0; at = (at + 1) % kSlots) {
    Access& range = range_[slot_[at] - 1];
    if (range.begin != begin || range.length_bytes != length) continue;
    range.flags = joined(range.flags, flags);
    return;
  }
  const bool may_walk = length >= kVectorBytes || count_ >= kSmallSegment;
  if (may_walk && grow_stream(begin, length, flags)) return;
  if (count_ == kRangesMax) {
    if (overflown_ || !merge()) {
      overflown_ = true;
      return;
    }
    return gather(begin, length_bytes, flags);
  }
  range_[count_] = {begin, length, flags};
  slot_of_[count_] = at;
  slot_[at] = static_cast<uint16_t>(++count_);
  stream_[next_stream_++ % kStreams] = count_;
}

// When all room is taken: ranges that touch and were accessed alike become one. For example, a second walk through an
// array has other lengths than the first, and a walk that reads each element before it writes it leaves a range for
// each. False: merging freed too little, and would be due again soon.
bool Segment::merge() {
  for (uint32_t i = 0; i < count_; ++i) slot_[slot_of_[i]] = 0;
  std::sort(range_, range_ + count_,
            [](const Access& x, const Access& y) { return std::pair(x.flags, x.begin) < std::pair(y.flags, y.begin); });
  uint32_t kept = 0;
  for (uint32_t i = 1; i < count_; ++i) {
    Access& last = range_[kept];
    const uint64_t last_end = last.begin + last.length_bytes;
    const uint64_t end = range_[i].begin + range_[i].length_bytes;
    const bool joins = range_[i].begin <= last_end && range_[i].flags == last.flags && end - last.begin <= UINT32_MAX;
    if (joins) {
      last.length_bytes = static_cast<uint32_t>(std::max(end, last_end) - last.begin);
    } else {
      range_[++kept] = range_[i];
    }
  }
  count_ = kept + 1;
  for (uint32_t i = 0; i < count_; ++i) {
    uint32_t at = slot_of(range_[i].begin, range_[i].length_bytes);
    while (slot_[at] != 0) at = (at + 1) % kSlots;
    slot_of_[i] = at;
    slot_[at] = static_cast<uint16_t>(i + 1);
  }
  for (uint32_t i = 0; i < kStreams; ++i) stream_[i] = i < count_ ? i + 1 : 0;
  if (count_ > kRangesMax / 4) ++merges_;
  return count_ <= kRangesMax - kRangesMax / 4 && merges_ <= kMergesMax;
}

std::span<const Access> Segment::ranges() {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count_; ++i) {
    slot_[slot_of_[i]] = 0;
    Access range = range_[i];
    if (range.begin >= private_begin_ && range.begin < private_end_) {
      const uint64_t hidden = private_end_ - range.begin;
      if (hidden >= range.length_bytes) continue;
      range.begin = private_end_;
      range.length_bytes -= static_cast<uint32_t>(hidden);
    }
    range_[kept++] = range;
  }
  count_ = 0;
  for (uint32_t& stream : stream_) stream = 0;
  return {range_, kept};
}

}  // namespace contrafact::translate
