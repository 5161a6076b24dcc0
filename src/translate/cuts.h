// Where a segment's log is cut into parts (Translator::cut_segment).
//
// Thread safety: the current thread's.
#pragma once

#include <cstdint>

#include "translate/thread.h"

namespace contrafact::translate {

// Fills thread.cuts, the newest first, from what the log holds above `log`: both ends of a stretch between two points
// of at least `ticks_min` are cuts, none before `earliest`. `begin` and `end` are the segment's times. False if there
// would be more than kCutsMax.
bool find_cuts(Thread& thread, uint64_t log, uint64_t begin, uint64_t end, uint64_t ticks_min, uint64_t earliest);

}  // namespace contrafact::translate
