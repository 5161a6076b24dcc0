// The encoding of events. A payload is four groups (compression.h):
//
//   structure   runs, kinds, and the control bytes of the times and of each operand stream
//   time, low   plane 0 of the times: noise, which zstd gives up on at once
//   time, high  planes 1..3 of the times
//   operands    planes 0..3 of each operand stream
//
// Operands of like meaning share a stream, whatever events they belong to: their neighbours there predict them. A
// task's number is stored as the difference from the task named before (most events name the same or the next one).
// Other operands are stored as they are plus one, so that `none` is 0; zstd finds the repeated ones. A time is the
// difference from the one before in its run, modulo 2^64.
#include "format/event_block.h"

#include <algorithm>

#include "base/check.h"
#include "format/file_layout.h"

namespace contrafact::format {
namespace {

enum Stream : uint8_t { kTasks, kPools, kContexts, kCode, kMethods, kThreads, kSmall, kNumbers, kStreams };

constexpr Stream stream_of(Operand operand) {
  switch (operand) {
    case Operand::task:
    case Operand::source:
      return kTasks;
    case Operand::pool:
    case Operand::lock:  // a program of either kind has few of the one
    case Operand::connection:
    case Operand::endpoint:
      return kPools;
    case Operand::context:
      return kContexts;
    case Operand::body:
      return kCode;
    case Operand::method:
    case Operand::access_set:  // native programs have them, and no function events as a rule
      return kMethods;
    case Operand::thread:
      return kThreads;
    case Operand::outcome:
    case Operand::reason:
    case Operand::mode:
    case Operand::flow:
    case Operand::named_by:
      return kSmall;
    case Operand::none:
    case Operand::count:
    case Operand::size:
    case Operand::delay_us:
    case Operand::queue_length:
    case Operand::taint:
      break;
  }
  return kNumbers;
}

// For each kind and operand position its stream, or kStreams beyond the schema's operands.
constexpr auto make_stream_table() {
  std::array<std::array<uint8_t, kOperandsMax>, kEventKinds> table{};
  for (const EventSchema& schema : kEventSchemas) {
    auto& row = table[static_cast<size_t>(schema.kind)];
    for (size_t i = 0; i < kOperandsMax; ++i) {
      row[i] = i < schema.operand_count() ? stream_of(schema.operands[i]) : kStreams;
    }
  }
  return table;
}
constexpr auto kStreamTable = make_stream_table();

constexpr auto make_operand_counts() {
  std::array<uint8_t, kEventKinds> counts{};
  for (const EventSchema& schema : kEventSchemas) {
    counts[static_cast<size_t>(schema.kind)] = static_cast<uint8_t>(schema.operand_count());
  }
  return counts;
}
constexpr auto kOperandCounts = make_operand_counts();

constexpr uint32_t kNone = UINT32_MAX;

bool is_kernel_kind(EventKind kind) {
  return kind == EventKind::cpu_out || kind == EventKind::cpu_in || kind == EventKind::vm_ran ||
         kind == EventKind::cores_idle;
}

}  // namespace

EventEncoder::EventEncoder() : times_(5) {
  for (size_t s = 0; s < kStreams; ++s) streams_.emplace_back(1);
}

void EventEncoder::begin_run(ThreadId thread, RunSource source) {
  if (!runs_.empty()) {
    EventRun& last = runs_.back();
    if (last.thread == thread && last.source == source) return;
    if (last.begin == last.end) {
      last.thread = thread;
      last.source = source;
      return;
    }
  }
  runs_.push_back({thread, source, event_count(), event_count()});
}

void EventEncoder::append(EventKind kind, int64_t time_ns, const uint32_t* operands) {
  kinds_[events_] = kind;
  times_ns_[events_] = time_ns;
  for (size_t i = 0; i < kOperandCounts[static_cast<size_t>(kind)]; ++i) operands_[operand_count_++] = operands[i];
  runs_.back().end = ++events_;
}

void EventEncoder::clear() {
  runs_.clear();
  events_ = 0;
  operand_count_ = 0;
}

//   run ::= thread:zigzag-difference-from-the-run-before  (events * 2 + source):varint
//           begin_ns:zigzag-difference-from-the-last-time-of-the-run-before
void EventEncoder::encode_runs_and_times() {
  run_bytes_.clear();
  differences_.clear();
  int64_t thread = 0;
  uint64_t last_ns = 0;
  for (const EventRun& run : runs_) {
    if (run.begin == run.end) continue;
    put_varint(run_bytes_, zigzag(int64_t{run.thread.value} - thread));
    put_varint(run_bytes_, uint64_t{run.end - run.begin} * 2 + static_cast<uint64_t>(run.source));
    put_varint(run_bytes_, zigzag(static_cast<int64_t>(static_cast<uint64_t>(times_ns_[run.begin]) - last_ns)));
    for (uint32_t i = run.begin + 1; i < run.end; ++i) {
      differences_.push_back(static_cast<uint64_t>(times_ns_[i]) - static_cast<uint64_t>(times_ns_[i - 1]));
    }
    thread = run.thread.value;
    last_ns = static_cast<uint64_t>(times_ns_[run.end - 1]);
  }
  times_.assign(differences_);
}

// First each operand to its stream, then the streams one by one: both loops stay in registers.
void EventEncoder::encode_operands() {
  std::array<size_t, kEventKinds> kind_counts{};
  for (const EventKind kind : kinds()) ++kind_counts[static_cast<size_t>(kind)];
  std::array<size_t, kStreams + 1> counts{};
  for (size_t kind = 0; kind < kEventKinds; ++kind) {
    for (const uint8_t stream : kStreamTable[kind]) counts[stream] += kind_counts[kind];
  }
  numbers_.resize(operand_count_);
  std::array<uint32_t*, kStreams> end;
  uint32_t* begin = numbers_.data();
  for (size_t s = 0; s < kStreams; begin += counts[s], ++s) end[s] = begin;

  const uint32_t* operand = operands_.get();
  uint32_t task_before = 0;
  for (const EventKind kind : kinds()) {
    const auto& row = kStreamTable[static_cast<size_t>(kind)];
    for (size_t i = 0; i < kOperandCounts[static_cast<size_t>(kind)]; ++i) {
      const uint32_t v = *operand++;
      if (row[i] == kTasks) {
        *end[kTasks]++ = static_cast<uint32_t>(zigzag(static_cast<int32_t>(v - task_before)));
        if (v != kNone) task_before = v;
      } else {
        *end[row[i]]++ = v + 1;
      }
    }
  }
  for (size_t s = 0; s < kStreams; ++s) streams_[s].assign(std::span<const uint32_t>(end[s] - counts[s], counts[s]));
}

void EventEncoder::encode(GroupWriter& groups, std::vector<uint8_t>& out) {
  encode_runs_and_times();
  encode_operands();
  using Bytes = std::span<const uint8_t>;
  const auto times = times_.sections();
  const Bytes kinds(reinterpret_cast<const uint8_t*>(kinds_.get()), events_);
  std::vector<uint8_t> run_length;
  put_varint(run_length, run_bytes_.size());
  std::vector<Bytes> structure{run_length, run_bytes_, kinds, times[0]};
  std::vector<Bytes> operands;
  for (const PackedInts& stream : streams_) {
    const auto sections = stream.sections();
    structure.push_back(sections[0]);
    operands.insert(operands.end(), sections.begin() + 1, sections.end());
  }
  groups.put(out, structure);
  groups.put(out, std::span(&times[1], 1));
  groups.put(out, std::span(&times[2], 3));
  groups.put(out, operands);
}

EventDecoder::EventDecoder() : streams_(kStreams) {}

// Reads the structure group up to the kinds; `sections` goes on behind them.
bool EventDecoder::decode_structure(ByteReader& in, uint32_t count, std::optional<ByteReader>& sections) {
  if (count > kEventsPerBlockMax) return false;
  const auto structure = groups_.get(in, scratch_[0]);
  if (!structure) return false;
  sections.emplace(*structure);
  const auto runs = sections->bytes(sections->varint());
  const auto kinds = sections->bytes(count);
  uint8_t last_kind = 0;
  for (const uint8_t kind : kinds) last_kind = std::max(last_kind, kind);
  if (!sections->ok() || last_kind >= kEventKinds) return false;
  kinds_ = {reinterpret_cast<const EventKind*>(kinds.data()), kinds.size()};
  return decode_runs(runs, count) && sources_fit();
}

const EventOutline* EventDecoder::outline(std::span<const uint8_t> payload, uint32_t count) {
  ByteReader in(payload);
  std::optional<ByteReader> sections;
  if (!decode_structure(in, count, sections)) return nullptr;
  outline_ = {runs_, kinds_};
  return &outline_;
}

const EventBlock* EventDecoder::decode(std::span<const uint8_t> payload, uint32_t count) {
  ByteReader in(payload);
  std::optional<ByteReader> sections;
  if (!decode_structure(in, count, sections)) return nullptr;
  const auto times_low = groups_.get(in, scratch_[1]);
  const auto times_high = groups_.get(in, scratch_[2]);
  const auto operands = groups_.get(in, scratch_[3]);
  if (!times_low || !times_high || !operands || !in.at_end()) return nullptr;
  if (!decode_times(*sections, *times_low, *times_high) || !decode_operands(*sections, *operands) ||
      !sections->at_end()) {
    return nullptr;
  }
  block_ = {runs_, kinds_, times_ns_, a_, b_, extra_, streams_[kTasks]};
  return &block_;
}

bool EventDecoder::decode_runs(std::span<const uint8_t> bytes, uint32_t count) {
  runs_.clear();
  run_begin_ns_.clear();
  ByteReader in(bytes);
  uint64_t thread = 0;
  uint32_t next = 0;
  while (!in.at_end()) {
    thread += static_cast<uint64_t>(unzigzag(in.varint()));
    const uint64_t length_and_source = in.varint();
    const int64_t begin_ns = unzigzag(in.varint());
    const uint64_t length = length_and_source >> 1;
    if (!in.ok() || thread > UINT32_MAX || length == 0 || length > count - next) return false;
    const auto source = static_cast<RunSource>(length_and_source & 1);
    runs_.push_back({ThreadId(static_cast<uint32_t>(thread)), source, next, next + static_cast<uint32_t>(length)});
    run_begin_ns_.push_back(begin_ns);
    next += static_cast<uint32_t>(length);
  }
  return next == count;
}

bool EventDecoder::sources_fit() const {
  return std::ranges::all_of(runs_, [this](const EventRun& run) {
    return run.source == RunSource::program ||
           std::all_of(kinds_.begin() + run.begin, kinds_.begin() + run.end, is_kernel_kind);
  });
}

bool EventDecoder::decode_times(ByteReader& sections, std::span<const uint8_t> low, std::span<const uint8_t> high) {
  deltas_.resize(kinds_.size() - runs_.size());
  const auto control = sections.bytes(control_bytes(deltas_.size()));
  const auto sizes = plane_sizes(control, deltas_.size(), 5);
  if (!sizes || low.size() != sizes->bytes[0] || low.size() + high.size() != sizes->total()) return false;
  const uint8_t* third = high.data() + sizes->bytes[1];
  unpack(control, {low.data(), high.data(), third, third + sizes->bytes[2]}, std::span(deltas_));
  times_ns_.resize(kinds_.size());
  const uint64_t* delta = deltas_.data();
  uint64_t now_ns = 0;
  for (size_t r = 0; r < runs_.size(); ++r) {
    now_ns += static_cast<uint64_t>(run_begin_ns_[r]);
    times_ns_[runs_[r].begin] = static_cast<int64_t>(now_ns);
    for (uint32_t i = runs_[r].begin + 1; i < runs_[r].end; ++i) {
      now_ns += *delta++;
      times_ns_[i] = static_cast<int64_t>(now_ns);
    }
  }
  return true;
}

bool EventDecoder::decode_operands(ByteReader& sections, std::span<const uint8_t> planes) {
  std::array<size_t, kEventKinds> kind_counts{};
  for (const EventKind kind : kinds_) ++kind_counts[static_cast<size_t>(kind)];
  std::array<size_t, kStreams + 1> counts{};
  size_t extra_count = 0;
  for (size_t kind = 0; kind < kEventKinds; ++kind) {
    for (const uint8_t stream : kStreamTable[kind]) counts[stream] += kind_counts[kind];
    if (kOperandCounts[kind] > 2) extra_count += kind_counts[kind] * (kOperandCounts[kind] - 2u);
  }
  std::array<const uint32_t*, kStreams + 1> cursor;
  for (size_t s = 0; s < kStreams; ++s) {
    const auto control = sections.bytes(control_bytes(counts[s]));
    const auto sizes = plane_sizes(control, counts[s], 1);
    if (!sizes || sizes->total() > planes.size()) return false;
    Planes each;
    for (size_t plane = 0; plane < kPlanes; ++plane) {
      each[plane] = planes.data();
      planes = planes.subspan(sizes->bytes[plane]);
    }
    streams_[s].resize(counts[s]);
    unpack(control, each, std::span(streams_[s]));
    if (s != kTasks) {
      for (uint32_t& v : streams_[s]) --v;
    }
    cursor[s] = streams_[s].data();
  }
  if (!planes.empty()) return false;
  uint32_t task_before = 0;
  for (uint32_t& v : streams_[kTasks]) {
    v = task_before + static_cast<uint32_t>(unzigzag(v));
    task_before = v == kNone ? task_before : v;
  }

  // Absent operands read from a cursor that stays on one zero.
  static constexpr uint32_t kZero = 0;
  cursor[kStreams] = &kZero;
  extra_.resize(extra_count);
  scatter_operands(cursor);
  return true;
}

// REQUIRES: each cursor has as many numbers as the kinds name.
void EventDecoder::scatter_operands(std::span<const uint32_t*> cursor) {
  a_.resize(kinds_.size());
  b_.resize(kinds_.size());
  uint32_t* extra = extra_.data();
  for (size_t i = 0; i < kinds_.size(); ++i) {
    const auto kind = static_cast<size_t>(kinds_[i]);
    const auto& row = kStreamTable[kind];
    a_[i] = *cursor[row[0]];
    cursor[row[0]] += row[0] != kStreams;
    b_[i] = *cursor[row[1]];
    cursor[row[1]] += row[1] != kStreams;
    for (size_t operand = 2; operand < kOperandCounts[kind]; ++operand) *extra++ = *cursor[row[operand]]++;
  }
}

}  // namespace contrafact::format
