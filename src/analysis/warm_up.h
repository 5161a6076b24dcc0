// How much of the tasks' computing was due to the program having just begun: code not compiled yet, classes and caches
// not loaded.
//
// Tasks of one body, in the order of their starts, are cut into eight parts of equal number. The time by which the
// median task of the first parts computes longer than the median task of the second half is warm-up. Medians, because a
// few tasks do other things than the rest (the outer ones of a recursion do). Bodies that ran seldom are left out.
#pragma once

#include "model/trace.h"

namespace contrafact::analysis {

// Of all tasks' CPU time, the part that was warm-up: 0 to 1. 0 where the kernel did not report switches. Cost: linear
// in the events, but for a logarithm of the switches.
double warm_up_share(const model::Trace& trace);

}  // namespace contrafact::analysis
