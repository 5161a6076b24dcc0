// Runs lane programs: the inner loops of LaneRunner and LanePeaks, compiled once for each kind of machine
// (lane_machine_*.cc, all from lane_interpreter.h), and the memory that they work on. Plain pointers only: if several
// of those files had code in common, the linker would choose one copy, which might not run on this machine.
//
// Private to lanes_run.cc, lane_peaks.cc and lane_machine*.cc. A memory belongs to one thread.
#pragma once

#include <span>
#include <vector>

#include "graph/lanes.h"

namespace contrafact::graph {

// The memory that a LaneProgram and its LaneRunner lend.
struct LaneMemory {
  const LaneLoop* loops;
  const int64_t* begins;  // by thread
  LaneRow* slots;
  LaneHost* hosts;
  const LaneRow *inlined, *continued;        // by class: -1 in the lanes that place its tasks so
  const uint8_t *any_moved, *any_continued;  // by class
  LaneRow *predicted, *guessed;              // by loop
  uint32_t* turns;                           // by loop
  const LanePlace* places;
  LaneSaved* saved;  // by place
  const uint32_t *loop_slots, *loop_hosts;
  LaneRow* saved_slots;
  LaneHost* saved_hosts;
  PeakMemory* peaks;
  bool any_guess;
  uint64_t again_max;
  // Results.
  uint64_t again;
  LaneRow bad, end, occupied, waiting, response;
};

struct LaneMachine {
  void (*run)(std::span<const LaneOp> ops, LaneMemory& memory);
  void (*run_narrow)(std::span<const NarrowLaneOp> ops, LaneMemory& memory);
  void (*count)(PeakMemory& peaks, size_t rows);  // the first `rows`, whole chunks
};

extern const LaneMachine kPlainLaneMachine;
#if defined(__x86_64__)
extern const LaneMachine kAvx2LaneMachine, kAvx512LaneMachine;
#endif

// The machines that run here, the best one last.
std::vector<const LaneMachine*> lane_machines();
const LaneMachine& lane_machine();

}  // namespace contrafact::graph
