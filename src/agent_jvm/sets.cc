#include "agent_jvm/sets.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstddef>
#include <iterator>

#include "agent_jvm/flow.h"
#include "recorder/access_sets.h"

namespace contrafact::agent_jvm {

using format::AccessRange;
using format::SetGap;

namespace {

constexpr size_t kLogsMax = 4096;
constexpr uint64_t kSegmentAccessesMax = 1 << 20;  // then it is not observed to its end
constexpr uint32_t kMade = 1 << 30;                // of an entry's flags: the object is the segment's own
constexpr uint32_t kCallBegin = 1 << 29, kCallEnd = 1 << 28, kVoid = 1 << 27;
constexpr int64_t kPartNsMin = 5000;
constexpr int64_t kNever = INT64_MAX;
constexpr size_t kFieldsNamedMax = 4096;
constexpr size_t kPartsMax = 16;  // of a segment, between two events
constexpr uint64_t kHashShift = 32;
constexpr uint32_t kPerField = 8;  // addresses
constexpr uint32_t kFieldBytes = 4;

}  // namespace

// The order is a contract with java/java/lang/ContrafactSetLog.java.
struct SetLog {
  static constexpr size_t kRecent = 512;
  static constexpr size_t kRuns = 64;
  static constexpr size_t kEntries = 4096;
  struct Entry {
    uint64_t place = 0;
    uint32_t flags = 0;
    uint32_t length = 0;  // of a field 0, else how many elements of an array
  };

  uint32_t used_bytes = 0;
  uint32_t gap = 0;
  uint32_t left = 0;  // the section goes on in code that may not be observed
  uint32_t epoch = 0;
  uint32_t generation = 0;
  uint32_t skipped_calls = 0;
  uint8_t* flow = nullptr;        // a block of Flow::kBlockBytes; null: flow is not tracked
  Entry recent[kRecent];          // the last accesses, so that most are logged once
  uint64_t runs[4 * kRuns] = {};  // of elements that are accessed one after the other
  Entry entries[kEntries];

  void make_block() {
    block = std::make_unique<uint64_t[]>(Flow::kBlockBytes / sizeof(uint64_t));
    flow = reinterpret_cast<uint8_t*>(block.get());
  }

  // The agent's own.
  std::unique_ptr<uint64_t[]> block;
  uint64_t accesses = 0;            // of this segment, as those that follow
  bool emptied = false;             // its parts are not told apart any more
  bool overflown = false;           // too much is accessed for a set
  std::vector<uint64_t> made;       // hashes
  std::vector<AccessRange> ranges;  // of the part that goes on, in the order of the accesses
  int64_t part_begin_ns = 0;
  Sets::Segment segment;
};
static_assert(offsetof(SetLog, flow) == 24 && offsetof(SetLog, recent) == 32 &&
              offsetof(SetLog, entries) == 32 + 16 * SetLog::kRecent + 32 * SetLog::kRuns);

namespace {

bool parse_windows(std::string_view text, int64_t& window_ns, int64_t& period_ns) {
  if (text == "always") return true;
  const char* const end = text.data() + text.size();
  const auto window = std::from_chars(text.data(), end, window_ns);
  if (window.ec != std::errc() || window.ptr == end || *window.ptr != '/') return false;
  const auto period = std::from_chars(window.ptr + 1, end, period_ns);
  return period.ec == std::errc() && period.ptr == end && window_ns > 0 && period_ns >= window_ns;
}

// As the facts have them (docs/format.md).
constexpr const char* kGapNames[] = {"complete", "not_observed", "outside_window", "unsupported", "system_call",
                                     "signal",   "left",         "overflow",       "lost"};
static_assert(std::size(kGapNames) == static_cast<size_t>(format::kSetGapLast) + 1);

}  // namespace

base::Result<std::unique_ptr<Sets>> Sets::make(std::string_view windows, bool with_flow, recorder::Recorder& recorder) {
  int64_t window_ns = 0, period_ns = 0;
  if (!parse_windows(windows, window_ns, period_ns)) {
    return base::Error{"agent option sets: '" + std::string(windows) + "' is neither \"always\" nor WINDOW/PERIOD"};
  }
  return std::unique_ptr<Sets>(new Sets(window_ns, period_ns, with_flow, recorder));
}

Sets::Sets(int64_t window_ns, int64_t period_ns, bool with_flow, recorder::Recorder& recorder)
    : window_ns_(window_ns), period_ns_(period_ns), with_flow_(with_flow), recorder_(recorder) {
  recorder.add_fact("sets.source", "bytecode");
  if (period_ns > 0) {
    recorder.add_fact("sets.windows_ns", std::to_string(window_ns) + "/" + std::to_string(period_ns));
  }
}

Sets::~Sets() = default;

SetLog* Sets::take() {
  std::lock_guard lock(mutex_);
  if (free_.empty()) {
    if (logs_.size() >= kLogsMax) return nullptr;
    logs_.push_back(std::make_unique<SetLog>());
    if (with_flow_) logs_.back()->make_block();
    return logs_.back().get();
  }
  SetLog* log = free_.back();
  free_.pop_back();
  return log;
}

void Sets::give(SetLog* log) {
  log->used_bytes = log->gap = log->left = 0;
  log->accesses = 0;
  log->emptied = log->overflown = false;
  log->made.clear();
  log->ranges.clear();
  log->part_begin_ns = 0;
  if (log->flow) std::fill_n(log->flow, Flow::kBlockBytes, uint8_t{0});
  ++log->epoch;
  ++log->generation;
  std::lock_guard lock(mutex_);
  free_.push_back(log);
}

// With the field's number the declared one; nothing of final fields.
std::optional<AccessRange> Sets::range_of(uint64_t place, uint32_t length, uint32_t flags) {
  if (length != 0) return AccessRange{place, length, flags};
  const uint32_t number = fields_.declared(static_cast<uint32_t>(place) / kPerField);
  if (number == FieldNumbers::kFinal) return std::nullopt;
  if ((flags & format::kAccessWrite) != 0) note_written(number);
  return AccessRange{(place >> kHashShift << kHashShift) + kPerField * number, kFieldBytes, flags};
}

void Sets::note_written(uint32_t number) {
  std::atomic<uint64_t>& word = (*written_)[number / kPerWord];
  const uint64_t bit = uint64_t{1} << number % kPerWord;
  if ((word.load(std::memory_order_relaxed) & bit) == 0) word.fetch_or(bit, std::memory_order_relaxed);
}

// The log's entries go to the part that goes on. Parts end at calls that began or ended after `earliest_ns`.
void Sets::empty(SetLog& log, int64_t now_ns, int64_t earliest_ns) {
  Segment& segment = log.segment;
  const size_t count = log.used_bytes / sizeof(SetLog::Entry);
  // `call` begins or ends. One that has not ended yet is long if it has lasted for long.
  const auto end_part = [&](const SetLog::Entry& call) {
    const auto time_ns = static_cast<int64_t>(call.place);
    const bool is_after = call.flags == kCallEnd;
    if (segment.parts.size() >= kPartsMax || time_ns <= std::max(log.part_begin_ns, earliest_ns)) return;
    if (!is_after && now_ns - time_ns < kPartNsMin) return;
    segment.parts.push_back({time_ns, format::ContextId(call.length), is_after, std::move(log.ranges)});
    log.ranges.clear();
    log.part_begin_ns = time_ns;
  };
  for (const SetLog::Entry& entry : std::span(log.entries, count)) {
    if ((entry.flags & (kCallBegin | kCallEnd)) != 0)
      end_part(entry);
    else if (entry.flags == kMade)
      log.made.push_back(entry.place >> kHashShift);
    else if (entry.flags == kVoid)
      continue;
    else if (const auto range = range_of(entry.place, entry.length, entry.flags))
      log.ranges.push_back(*range);
  }
  log.accesses += count;
  log.used_bytes = 0;
  ++log.epoch;
  ++log.generation;
}

bool Sets::make_room(SetLog* log) {
  log->emptied = true;
  empty(*log, 0, kNever);
  format::make_canonical(log->ranges);
  const bool has_room = log->ranges.size() <= recorder::kAccessRangesSentMax;
  if (has_room && log->accesses < kSegmentAccessesMax) return true;
  log->overflown = true;
  return false;
}

// Equal code on equal data has equal ranges in the same order: the recorder brings each set into canonical form once.
const Sets::Segment& Sets::end_segment(SetLog* log, int64_t now_ns, int64_t earliest_ns, bool is_last) {
  Segment& segment = log->segment;
  segment.parts.clear();
  empty(*log, now_ns, log->emptied ? kNever : earliest_ns);
  segment.parts.push_back({now_ns, {}, false, std::move(log->ranges)});
  log->ranges.clear();
  if (!log->made.empty()) {
    std::ranges::sort(log->made);
    for (Part& part : segment.parts) {
      std::erase_if(part.ranges, [&](const AccessRange& range) {
        return std::ranges::binary_search(log->made, range.begin >> kHashShift);
      });
    }
  }
  segment.gap = log->left != 0   ? SetGap::not_observed
                : log->gap != 0  ? static_cast<SetGap>(log->gap)
                : log->overflown ? SetGap::overflow
                                 : SetGap::complete;
  log->gap = 0;
  log->part_begin_ns = now_ns;
  if (!is_last) return segment;
  segments_[static_cast<size_t>(segment.gap)].fetch_add(1, std::memory_order_relaxed);
  log->made.clear();
  log->accesses = 0;
  log->emptied = log->overflown = false;
  return segment;
}

void Sets::name_written_fields() const {
  size_t named = 0;
  for (uint32_t word = 0; word < written_->size(); ++word) {
    for (uint64_t bits = (*written_)[word].load(std::memory_order_relaxed); bits != 0; bits &= bits - 1) {
      if (++named > kFieldsNamedMax) return;
      const uint32_t number = word * kPerWord + static_cast<uint32_t>(std::countr_zero(bits));
      FieldNumbers::Name name = fields_.name(number);
      std::ranges::replace(name.class_name, '/', '.');
      recorder_.add_fact("field." + std::to_string(number), name.class_name + "." + name.field);
    }
  }
}

void Sets::report() const {
  uint64_t incomplete = 0;
  for (size_t gap = 0; gap < std::size(segments_); ++gap) {
    const uint64_t count = segments_[gap].load(std::memory_order_relaxed);
    if (gap != 0) incomplete += count;
    if (gap == 0 || count > 0) {
      recorder_.add_fact(std::string("sets.segments.") + kGapNames[gap], std::to_string(count));
    }
  }
  recorder_.add_fact("sets.segments.incomplete", std::to_string(incomplete));
  name_written_fields();
}

}  // namespace contrafact::agent_jvm
