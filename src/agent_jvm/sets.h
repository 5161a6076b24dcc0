// Read and write sets of critical sections of chosen classes: what the observed threads log (java/java/lang/ContrafactSets.java)
// becomes one `accesses` event before each event of a lock.
//
// A place of the log is an address of the trace's sets once the field's number in it is the declared one: the upper half
// is the object's identity hash (0: a static field), the lower half 8 times the field's number, or an array's index with the
// highest bit set.
//
// Thread-safe; a log belongs to the thread that has taken it. Logs are kept for use again: there are as many as threads
// were observed at once, 4,096 at most.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "agent_jvm/field_numbers.h"
#include "base/result.h"
#include "format/access_set.h"
#include "recorder/recorder.h"

namespace contrafact::agent_jvm {

struct SetLog;

class Sets {
 public:
  // `windows`: "always", or WINDOW/PERIOD in nanoseconds. `with_flow`: each log comes with a block for flow (flow.h).
  static base::Result<std::unique_ptr<Sets>> make(std::string_view windows, bool with_flow,
                                                  recorder::Recorder& recorder);
  ~Sets();

  int64_t window_ns() const { return window_ns_; }
  int64_t period_ns() const { return period_ns_; }  // 0: always
  FieldNumbers& fields() { return fields_; }

  // Null: there are too many.
  SetLog* take();
  void give(SetLog* log);
  // The log is full: it is emptied into the thread's set. False: too much for a set has been accessed.
  bool make_room(SetLog* log);

  // A part of a segment ends at a call that took long, or where the thread blocks.
  struct Part {
    int64_t end_ns = 0;
    format::ContextId call;                   // none: at no call
    bool is_after = false;                    // behind the call, else before it
    std::vector<format::AccessRange> ranges;  // in the order of the accesses; they may overlap
  };
  struct Segment {
    format::SetGap gap = format::SetGap::complete;
    std::vector<Part> parts;  // one at least
  };
  // What was accessed since the segment before, or since the last part of it. `earliest_ns`: of the thread's last event;
  // no part ends before that, because events stand in the order of their times. `is_last`: at an event of a lock. Valid
  // until the next call for this log.
  const Segment& end_segment(SetLog* log, int64_t now_ns, int64_t earliest_ns, bool is_last);

  // Facts of the trace.
  void report() const;

 private:
  Sets(int64_t window_ns, int64_t period_ns, bool with_flow, recorder::Recorder& recorder);

  void empty(SetLog& log, int64_t now_ns, int64_t earliest_ns);
  std::optional<format::AccessRange> range_of(uint64_t place, uint32_t length, uint32_t flags);

  void note_written(uint32_t number);
  void name_written_fields() const;

  static constexpr uint32_t kPerWord = 64;
  using Bits = std::array<std::atomic<uint64_t>, FieldNumbers::kNumbersMax / kPerWord>;

  const int64_t window_ns_;
  const int64_t period_ns_;
  const bool with_flow_;
  recorder::Recorder& recorder_;
  FieldNumbers fields_;
  std::atomic<uint64_t> segments_[static_cast<size_t>(format::kSetGapLast) + 1] = {};
  const std::unique_ptr<Bits> written_ = std::make_unique<Bits>();  // fields, by number
  std::mutex mutex_;
  std::vector<std::unique_ptr<SetLog>> logs_;
  std::vector<SetLog*> free_;
};

}  // namespace contrafact::agent_jvm
