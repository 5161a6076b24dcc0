// Finds what has to be added to or dropped from the events of each thread so that brackets nest and are closed, and
// does it. A part of finish.h, which says what is repaired. Not thread-safe; linear in the events.
#pragma once

#include <vector>

#include "model/trace.h"

namespace contrafact::model {

class Repair {
 public:
  explicit Repair(Trace& parts) : parts_(parts) {}

  // Repairs all threads in place and adds notes to the trace's loss.
  void run();

 private:
  struct Open {
    EventKind kind;
    uint32_t a;
    bool dropped;  // its opening was dropped: its closing has to go too
  };
  // What happens before the event at `position` (an insertion) or to it (a drop).
  struct Edit {
    uint32_t position;
    bool drop;
    EventKind kind;
    int64_t time_ns;
    uint32_t a, b;
  };

  void scan_thread(uint32_t thread);
  void open(uint32_t position);
  void close(uint32_t position);
  void close_above(size_t depth, uint32_t position, int64_t time_ns);
  void begin_late(uint32_t position);
  void drop(uint32_t position) { edits_.push_back({position, true, {}, 0, 0, 0}); }
  void apply();
  void add_notes();

  Trace& parts_;
  std::vector<Open> open_;
  std::vector<Edit> edits_;        // of all threads
  std::vector<Edit> late_starts_;  // of this thread, outer ones last
  std::vector<bool> started_;      // by task
  uint32_t floor_ = 0;             // where a missing start may go at the earliest
  int64_t end_ns_ = 0;
  uint64_t began_late_ = 0, cut_off_ = 0, closed_ = 0, dropped_ = 0, clamped_ = 0;
};

}  // namespace contrafact::model
