// Re-timing: the recorded run with each wait computed anew from its cause, in one pass over the events in recorded
// order (max-plus: a time is the latest of its causes' times plus a recorded delay). Locks keep their recorded order.
// The time between two waits of a thread keeps its recorded length, time without a core included.
//
// Without edits, re-timing has to give the recorded duration. If it does not, the trace does not explain its own waits,
// and nothing computed from the trace is to be trusted. As a prediction, re-timing is too optimistic wherever threads
// outnumber cores: a thread that waits for a lock leaves its core to other threads, and re-timing does not model that.
//
// Immutable after construction, may be shared between threads; `program` and its trace must outlive it. Linear in the
// events but for one sort at construction.
#pragma once

#include <span>
#include <vector>

#include "base/column.h"
#include "whatif/section_edit.h"
#include "whatif/sim_program.h"

namespace contrafact::whatif {

class Retimer {
 public:
  // `wakes` are of the trace of `program`, which must outlive it.
  Retimer(const SimProgram& program, std::span<const model::SyncWake> wakes);

  int64_t recorded_ns() const { return recorded_ns_; }
  // The duration with the edits made. REQUIRES: `edits` is empty or parallel to program.sync.sections.
  int64_t duration_ns(std::span<const SectionEdit> edits) const;

 private:
  void list_events(model::EventRange range, base::Column<uint32_t>& openers);
  void sort_events();

  friend class RetimePass;
  const SimProgram& program_;
  base::Column<uint32_t> order_;      // the events that matter, by time
  base::Column<uint32_t> thread_of_;  // by position in `order_`
  base::Column<uint32_t> begin_of_;   // by position in `order_`: the event that began the wait which this one ends
  std::vector<int64_t> free_ns_;      // by section: when its recorded lock was last released before it
  std::vector<uint32_t> cause_of_;    // by section: the event that ended a wait at a condition, once or semaphore
  std::vector<bool> counts_;          // by thread: the run is not over before it has ended
  int64_t recorded_ns_ = 0;
};

}  // namespace contrafact::whatif
