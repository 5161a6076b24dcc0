// EventEncoder packs events into the payload of one event block; EventBlock is the same events unpacked into columns.
// docs/format.md draws the encoding; event_block.cc explains its choices.
//
// A block holds *runs*: consecutive events of one logical thread. A block may hold runs of many threads and several of
// one thread. In the file's order, the runs of a thread that carry program events continue one another (program order).
// Runs from the kernel (cpu_out, cpu_in, vm_ran, cores_idle) are apart: their times overlap those of the thread's other
// runs.
//
// Thread safety: none; one thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "format/compression.h"
#include "format/event.h"
#include "format/packed_ints.h"

namespace contrafact::format {

enum class RunSource : uint8_t {
  program,  // events that the thread itself recorded, in program order
  kernel,   // events that the kernel reported: cpu_out, cpu_in, vm_ran and cores_idle only
};

struct EventRun {
  ThreadId thread;
  RunSource source = RunSource::program;
  uint32_t begin = 0;  // half-open range of positions in the block's columns
  uint32_t end = 0;
};

// Decoded columns, all of length `kind.size()`, except `extra`. They live until the next block is decoded.
// `a` and `b` are the first and second operand of each event in its schema's order; 0 where it has fewer. Third and
// fourth operands follow each other in `extra`, in the order of the events that have them (task_create and
// task_depends one each, task_spawn two): an importer keeps a cursor. `tasks` are all task and source operands.
struct EventBlock {
  std::span<const EventRun> runs;
  std::span<const EventKind> kind;
  std::span<const int64_t> time_ns;
  std::span<const uint32_t> a;
  std::span<const uint32_t> b;
  std::span<const uint32_t> extra;
  std::span<const uint32_t> tasks;
};

// How many events a block holds of which thread, without times and operands: enough to make room for its events.
struct EventOutline {
  std::span<const EventRun> runs;
  std::span<const EventKind> kind;
};

inline constexpr uint32_t kEventsPerBlockMax = 1 << 16;

class EventEncoder {
 public:
  EventEncoder();
  // Events appended from here on are `thread`'s. Starting the same run again costs nothing.
  void begin_run(ThreadId thread, RunSource source = RunSource::program);
  // REQUIRES: a run was begun, !full(), and as many operands as the kind's schema says.
  void append(EventKind kind, int64_t time_ns, const uint32_t* operands);
  // The same for a kind with two operands.
  void append_pair(EventKind kind, int64_t time_ns, uint32_t first, uint32_t second) {
    kinds_[events_] = kind;
    times_ns_[events_] = time_ns;
    operands_[operand_count_] = first;
    operands_[operand_count_ + 1] = second;
    operand_count_ += 2;
    runs_.back().end = ++events_;
  }
  uint32_t event_count() const { return events_; }
  uint32_t room() const { return kEventsPerBlockMax - events_; }
  bool empty() const { return events_ == 0; }
  bool full() const { return events_ >= kEventsPerBlockMax; }
  // REQUIRES: !empty().
  int64_t last_time_ns() const { return times_ns_[events_ - 1]; }
  void clear();
  // Appends the payload to `out`.
  void encode(GroupWriter& groups, std::vector<uint8_t>& out);

 private:
  void encode_runs_and_times();
  void encode_operands();
  std::span<const EventKind> kinds() const { return {kinds_.get(), events_}; }

  std::vector<EventRun> runs_;
  // Each for kEventsPerBlockMax events. Pages that are not touched are not resident.
  std::unique_ptr<EventKind[]> kinds_ = std::make_unique_for_overwrite<EventKind[]>(kEventsPerBlockMax);
  std::unique_ptr<int64_t[]> times_ns_ = std::make_unique_for_overwrite<int64_t[]>(kEventsPerBlockMax);
  std::unique_ptr<uint32_t[]> operands_ =
      std::make_unique_for_overwrite<uint32_t[]>(size_t{kOperandsMax} * kEventsPerBlockMax);
  uint32_t events_ = 0;
  uint32_t operand_count_ = 0;
  // Kept for their memory.
  std::vector<uint8_t> run_bytes_;
  std::vector<uint64_t> differences_;  // of times
  std::vector<uint32_t> numbers_;      // operands as they are stored, stream by stream
  PackedInts times_;
  std::vector<PackedInts> streams_;
};

class EventDecoder {
 public:
  EventDecoder();
  // The columns of a payload that should hold `count` events; null if it does not keep the grammar. Every event has a
  // known kind and all its operands; runs are in order, not empty, and cover all events.
  const EventBlock* decode(std::span<const uint8_t> payload, uint32_t count);
  // The same payload's outline, for a fraction of the time; null if the part that it reads breaks the grammar.
  const EventOutline* outline(std::span<const uint8_t> payload, uint32_t count);

 private:
  bool decode_structure(ByteReader& in, uint32_t count, std::optional<ByteReader>& sections);
  bool decode_runs(std::span<const uint8_t> bytes, uint32_t count);
  bool decode_times(ByteReader& sections, std::span<const uint8_t> low, std::span<const uint8_t> high);
  bool decode_operands(ByteReader& sections, std::span<const uint8_t> planes);
  void scatter_operands(std::span<const uint32_t*> cursor);
  bool sources_fit() const;

  GroupReader groups_;
  std::array<std::vector<uint8_t>, 4> scratch_;
  std::vector<EventRun> runs_;
  std::vector<int64_t> run_begin_ns_;  // relative to the end of the run before
  std::vector<uint64_t> deltas_;
  std::vector<std::vector<uint32_t>> streams_;
  std::span<const EventKind> kinds_;  // in scratch_[0]
  std::vector<int64_t> times_ns_;
  std::vector<uint32_t> a_, b_, extra_;
  EventBlock block_;
  EventOutline outline_;
};

}  // namespace contrafact::format
