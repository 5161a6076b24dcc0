#include "translate/cuts.h"

#include "translate/log.h"

namespace contrafact::translate {

bool find_cuts(Thread& thread, uint64_t log, uint64_t begin, uint64_t end, uint64_t ticks_min, uint64_t earliest) {
  const auto is_far = [&](uint64_t earlier, uint64_t later) { return later > earlier && later - earlier >= ticks_min; };
  Cut last{0, end, 0, false};
  bool has_last = true;  // the segment's end needs none
  thread.cut_count = 0;
  const auto add = [&](const Cut& cut) {
    if (thread.cut_count < kCutsMax) thread.cuts[thread.cut_count] = cut;
    return thread.cut_count++ < kCutsMax;
  };
  while (log < thread.log_end) {
    const auto& entry = *reinterpret_cast<const LogEntry*>(log);
    log += (entry.meta & kMetaLong) != 0 ? kLongEntryBytes : kEntryBytes;
    if ((entry.meta & kMetaPoint) == 0) continue;
    const uint64_t call = uint64_t{entry.meta & kMetaSizeMask} << 32 | entry.low;
    const Cut point{log, entry.address, call, (entry.meta & kMetaBack) != 0};
    if (point.clock < earliest) break;
    const bool is_cut = is_far(point.clock, last.clock);
    if (is_cut && ((!has_last && !add(last)) || !add(point))) return false;
    last = point;
    has_last = is_cut;
  }
  return has_last || !is_far(begin, last.clock) || add(last);
}

}  // namespace contrafact::translate
