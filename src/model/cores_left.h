// How much of its cores a recorded program can use, where that is not all of them: other programs compute on them, too, or its
// group has a limit that is no whole number of cores.
#pragma once

#include <cstdint>

#include "model/trace.h"

namespace contrafact::model {

struct CoresLeft {
  enum class Reason : uint8_t { all, other_programs, limit };
  double share = 1;       // of the cores' time, in each period
  int64_t period_ns = 0;  // 0: all is left
  Reason reason = Reason::all;
};

// Under a limit (fact `cpu.quota`), that limit in the periods that Linux has by default. Else what other programs left in
// [begin_ns, end_ns): neither idle cores nor the program's own threads. Less than a twentieth counts as nothing: it is the kernel's
// work, and the recorder's. However much they took, half is left to the program: the system gives two groups of processes that want
// all of a core half of it each. All is left where the kernel did not report all switches, or of idle cores. Linear.
CoresLeft cores_left(const Trace& trace, int64_t begin_ns, int64_t end_ns);

}  // namespace contrafact::model
