#include "recorder/access_sets.h"

#include <xxhash.h>

#include "recorder/addressed_calls.h"

namespace contrafact::recorder {
namespace {

bool append_range(Client* client, ThreadId logical, const format::AccessRange& range) {
  return Recorder::append_words_as(client, logical, kAccessRangeCall, static_cast<uint32_t>(range.begin),
                                   static_cast<uint32_t>(range.begin >> 32), range.length_bytes, range.flags);
}

}  // namespace

void append_accesses(Client* client, AccessSetCache& cache, int64_t time_ns, format::SetGap gap,
                     std::span<const format::AccessRange> ranges) {
  append_accesses_as(client, Recorder::thread_of(client), cache, time_ns, gap, ranges);
}

void append_accesses_as(Client* client, ThreadId logical, AccessSetCache& cache, int64_t time_ns, format::SetGap gap,
                        std::span<const format::AccessRange> ranges) {
  if (ranges.size() > kAccessRangesSentMax) {
    ranges = ranges.first(kAccessRangesSentMax);
    gap = format::SetGap::overflow;
  }
  const uint64_t seed = static_cast<uint64_t>(gap);
  uint64_t hash = XXH3_64bits_withSeed(ranges.data(), ranges.size_bytes(), seed);
  if (hash == 0) hash = 1;
  const bool known = cache.has(hash);
  bool all_sent = true;
  if (!known) {
    for (const format::AccessRange& range : ranges) {
      all_sent = append_range(client, logical, range);
      if (!all_sent) break;
    }
  }
  // The number of ranges lets the drainer distinguish a whole set from the rest of one.
  const auto count = known ? kAccessesKnown : static_cast<uint32_t>(ranges.size());
  const bool sent = Recorder::append_addressed_as(client, logical, addressed_call(EventKind::accesses), time_ns, hash,
                                                  hash >> 32, static_cast<uint32_t>(gap), count);
  if (!known && all_sent && sent) cache.add(hash);
}

}  // namespace contrafact::recorder
