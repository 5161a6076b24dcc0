// Adds events to each thread, and drops events from it, so that brackets nest and are closed. A part of finish.h, which
// says what is repaired. Not thread-safe; linear in the events.
//
// EventPass passes on each thread's events in order; a pair of events that fits costs a push and a pop. Closings that a
// thread lacks at its end are written into the room behind its events, if exactly as much room is there. Everything
// else is an edit, and `apply` rewrites the columns once for all of them.
#pragma once

#include <vector>

#include "base/column.h"
#include "model/finish.h"
#include "model/trace.h"

namespace contrafact::model {

class Repair {
 public:
  explicit Repair(Trace& parts) : parts_(parts), end_ns_(parts.end_ns()) {}

  // The events of `thread` follow. False if it has none.
  bool begin_thread(uint32_t thread, const LeftOut& left_out);
  void open(EventKind kind, uint32_t a) { open_.push_back({kind, a, false}); }
  // An opening that is not allowed: it is dropped, and its closing, too.
  void open_in_vain(uint32_t position, EventKind kind, uint32_t a);
  // False if the closing has nothing to close.
  bool close(uint32_t position, EventKind kind, uint32_t a) {
    if (!open_.empty() && open_.back().kind == opener_of(kind) && (!exact(kind) || open_.back().a == a) &&
        !open_.back().dropped) [[likely]] {
      open_.pop_back();
      if (open_.empty() && kind == EventKind::task_end) floor_ = position + 1;
      return true;
    }
    return close_other(position, kind, a);
  }
  void leave_out(uint32_t position) {
    drop(position);
    ++dropped_;
  }
  void raised_time() { ++clamped_; }
  void end_thread();

  // Writes the edits, if there are any; true if events have other positions now.
  bool apply();
  // REQUIRES: the tasks' rows are whole.
  void add_notes();

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

  // Kinds whose closing names what it closes.
  static constexpr bool exact(EventKind kind) { return kind == EventKind::task_end || kind == EventKind::method_exit; }
  bool close_other(uint32_t position, EventKind kind, uint32_t a);
  void close_above(size_t depth, uint32_t position, int64_t time_ns);
  Edit closing_of(const Open& bracket, uint32_t position, int64_t time_ns);
  uint32_t room_behind() const;
  void close_in_place(uint32_t position, int64_t time_ns);
  bool begin_late(uint32_t position, uint32_t task);
  void drop(uint32_t position) { add({position, true, {}, 0, 0, 0}); }
  void add(const Edit& edit) {
    // A hostile file may need an edit for each event: growing would take twice the memory. Reserved memory that is not
    // used costs nothing.
    if (edits_.empty()) edits_.reserve(parts_.kind.size());
    edits_.push_back(edit);
  }
  void rewrite();

  Trace& parts_;
  uint32_t thread_ = 0;
  std::vector<Open> open_;
  base::Column<Edit> edits_;       // of all threads
  std::vector<Edit> late_starts_;  // of this thread, outer ones last
  size_t thread_edits_ = 0;        // where this thread's edits begin
  std::vector<uint32_t> ended_;    // tasks whose end was added
  uint32_t floor_ = 0;             // where a missing start may go at the earliest
  LeftOut left_out_;               // of this thread
  int64_t end_ns_;
  bool holes_ = false;  // room that was left behind a thread's events is not filled
  uint64_t began_late_ = 0, closed_ = 0, dropped_ = 0, clamped_ = 0;
};

}  // namespace contrafact::model
