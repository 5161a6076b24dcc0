#include "model/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "base/counted.h"
#include "base/file.h"
#include "format/reader.h"
#include "model/finish.h"
#include "model/text_names.h"
#include "model/text_trace.h"
#include "model/vm_stints.h"

namespace contrafact::model {
namespace {

// Texts longer than this share kLongTextsBytesMax and are cut behind it. Otherwise, texts that zstd makes tiny would
// cost gigabytes.
constexpr size_t kTextBytes = 256;
constexpr size_t kLongTextsBytesMax = size_t{16} << 20;
constexpr size_t kLongFactsBytesMax = size_t{4} << 20;  // commands show these whole

constexpr bool is_beside(EventKind kind) {
  return (kind >= EventKind::pause_begin && kind <= EventKind::cpu_in) || kind == EventKind::vm_ran ||
         kind == EventKind::cores_idle || kind == EventKind::blocked_on || kind == EventKind::holder_at;
}
constexpr bool is_of_worker(EventKind kind) {
  return kind == EventKind::worker_idle || kind == EventKind::worker_busy;
}

// The room that a run needs, by its kinds: sums of the table's values over its events. From the lowest bits: 20 for the
// events kept beside, 20 for third and fourth operands, and 24, with a sign, for brackets opened less those closed. A
// run has 65,536 events at most.
struct KindSums {
  uint64_t sums = 0;
  static constexpr auto kOfKind = [] {
    std::array<uint64_t, format::kEventKinds> table{};
    for (size_t k = 0; k < table.size(); ++k) {
      const auto kind = static_cast<EventKind>(k);
      table[k] = (is_beside(kind) ? 1u : 0u) | uint64_t{extra_operands(kind)} << 20;
      if (opens(kind)) table[k] += uint64_t{1} << 40;
      if (closes(kind)) table[k] -= uint64_t{1} << 40;
    }
    return table;
  }();
  explicit KindSums(std::span<const EventKind> kinds) {
    for (const EventKind kind : kinds) sums += kOfKind[static_cast<size_t>(kind)];
  }
  uint32_t beside() const { return sums & 0xfffff; }
  uint32_t extras() const { return sums >> 20 & 0xfffff; }
  int64_t open() const { return static_cast<int64_t>(sums) >> 40; }
};
static_assert(2 * format::kEventsPerBlockMax < 1 << 20);

// One thread's share of the columns: how much it will need, then how far it is filled.
struct ThreadRoom {
  uint64_t events = 0;
  uint64_t extras = 0;
  int64_t open = 0;            // brackets opened less those closed
  bool has_beside = false;     // events that go beside the columns lie between its others
  bool has_worker = false;     // it went idle or busy at least once
  bool busy_at_first = false;  // and busy before it was ever idle: that event is left out, see LeftOut
  uint64_t before_worker = 0;  // events before that one
  uint64_t holes = 0;          // in the file before its last event
  uint64_t gaps = 0;           // of these, those between two of its runs
  bool has_run = false;        // of events, before this place in the pass
  uint32_t event_at = 0;
  uint32_t extra_at = 0;
};

// Loads a file in passes: the first takes the tables, the second learns from the blocks' outlines how many events each
// thread has, the third puts every event where it stays. The closings that a thread lacks because it outlived the
// recording get room, so that finish() seldom has to move anything.
class EventCollector : public format::Visitor {
 public:
  explicit EventCollector(const LoadOptions& options) : options_(options) {}

  void on_fact(std::string_view key, std::string_view value) override {
    if (key == "origin") {
      trace_.origin = named(kOriginNames, value).value_or(Origin::measured);
      return;
    }
    if (key.starts_with("note.")) {
      notes_.emplace_back(cut(value, long_facts_left_));
      return;
    }
    const auto [known, added] = facts_.try_emplace(std::string(cut(key, long_facts_left_)), trace_.facts.size());
    if (added) trace_.facts.push_back({known->first, {}});
    trace_.facts[known->second].value = cut(value, long_facts_left_);
  }
  void on_strings(StringId first, std::span<const std::string_view> rows) override {
    if (!can_add(file_.rows.strings, first.value, rows.size())) return;
    for (const std::string_view row : rows) trace_.strings.emplace_back(cut(row, long_texts_left_));
  }
  void on_methods(MethodId first, std::span<const format::MethodRow> rows) override {
    put(trace_.methods, file_.rows.methods, first.value, rows);
  }
  void on_contexts(ContextId first, std::span<const format::ContextRow> rows) override {
    put(trace_.contexts, file_.rows.contexts, first.value, rows);
  }
  void on_pools(PoolId first, std::span<const format::PoolRow> rows) override {
    put(trace_.pools, file_.rows.pools, first.value, rows);
  }
  void on_threads(ThreadId first, std::span<const format::ThreadRow> rows) override {
    put(trace_.threads, file_.rows.threads, first.value, rows);
  }
  void on_method_addresses(std::span<const format::MethodAddressRow> rows) override {
    trace_.method_addresses.insert(trace_.method_addresses.end(), rows.begin(), rows.end());
  }
  void on_locks(LockId first, std::span<const format::LockRow> rows) override {
    put(trace_.locks, file_.rows.locks, first.value, rows);
  }
  void on_connections(ConnectionId first, std::span<const format::ConnectionRow> rows) override {
    put(trace_.connections, file_.rows.connections, first.value, rows);
  }
  void on_endpoints(EndpointId first, std::span<const format::EndpointRow> rows) override {
    put(trace_.endpoints, file_.rows.endpoints, first.value, rows);
  }
  void on_access_sets(AccessSetId first, std::span<const format::AccessSetRow> rows) override {
    uint64_t total = 0;
    for (const format::AccessSetRow& row : rows) total += row.ranges.size();
    if (!trace_.access_ranges.has_room_for(total)) return;  // their rows are lost ones
    if (!can_add(file_.rows.access_sets, first.value, rows.size())) return;
    for (const format::AccessSetRow& row : rows)
      trace_.access_sets.push_back({row.gap, trace_.access_ranges.add(row.ranges)});
  }
  bool wants_access_chunks() const override { return true; }
  void on_access_chunks(uint32_t first, std::span<const format::AccessChunk> chunks) override {
    AccessLog& log = trace_.access_log;
    if (first > chunks_numbered_) log.chunks_missing += first - chunks_numbered_;
    chunks_numbered_ = std::max(chunks_numbered_, uint64_t{first} + chunks.size());
    for (format::AccessChunk chunk : chunks) {
      chunk.thread = file_.rows.threads.row_of(chunk.thread);
      if (chunk.thread != IdRows::kNone) {
        add_chunk(chunk);
      } else {
        ++log.chunks_missing;  // its thread's row was lost
      }
    }
  }
  void on_trailer(const format::Trailer& trailer) override {
    trace_.loss.events_dropped = std::max(trace_.loss.events_dropped, trailer.events_dropped);
    events_written_ = trailer.events;
  }

  void on_hole() override { ++holes_; }
  void on_outline(const format::EventOutline& outline) override {
    rooms_.resize(trace_.threads.size());
    blocked_on_ += static_cast<size_t>(std::ranges::count(outline.kind, EventKind::blocked_on));
    for (const format::EventRun& run : outline.runs) {
      events_in_file_ += run.end - run.begin;
      ThreadRoom* room = room_of(run.thread);
      if (room == nullptr) return;
      if (run.source == format::RunSource::program) {
        const bool lacks_some = std::exchange(room->holes, holes_) != holes_;
        if (std::exchange(room->has_run, true) && lacks_some) {
          ++room->gaps;
          ++room->events;
        }
        count_run(*room, outline.kind.subspan(run.begin, run.end - run.begin));
      }
    }
  }

  void on_events(const format::EventBlock& block) override {
    if (!ready_) make_room();
    if (refused()) return;
    for (const uint32_t task : block.tasks) {
      if (task != UINT32_MAX) note_task(task);
    }
    size_t extra = 0;
    for (const format::EventRun& run : block.runs) {
      const ThreadId thread(file_.rows.threads.row_of(run.thread.value));
      if (run.source == format::RunSource::kernel) {
        for (uint32_t i = run.begin; i < run.end; ++i) add_beside(block, thread, i);
      } else {
        mark_hole(rooms_[thread.index()], block.time_ns[run.begin]);
        take_run(block, run, thread, extra);
      }
    }
  }

  // After all passes.
  base::Result<Trace> finish(const format::ReadLoss& loss) {
    if (!ready_) make_room();
    if (too_many_lost_) {
      return base::Error{fmt::format("it has events of more than {} threads that have no row in it", kRowsLostMax)};
    }
    if (too_many_) return base::Error{"more than 4294967294 events: record a shorter run or fewer methods"};
    trace_.loss.blocks_damaged = std::max(loss.blocks_damaged, loss.blocks_missing);
    trace_.loss.bytes_skipped = loss.bytes_skipped;
    trace_.loss.cut_off = loss.cut_off;
    count_missing_accesses();
    trace_.loss.notes = std::move(notes_);
    if (rows_left_out_ > 0) {
      trace_.loss.notes.push_back(base::counted(rows_left_out_,
                                                "row whose id does not follow those before was left out",
                                                "rows whose ids do not follow those before were left out"));
    }
    if (texts_cut_ > 0)
      trace_.loss.notes.push_back(base::counted(texts_cut_, "long text was cut", "long texts were cut"));
    trace_.loss.notes.insert(trace_.loss.notes.end(), loss.notes.begin(), loss.notes.end());
    if (events_written_ > events_in_file_) {
      trace_.loss.notes.push_back(
          fmt::format("{} missing, of {}", base::counted(events_written_ - events_in_file_, "event is", "events are"),
                      events_written_));
    }
    for (size_t t = 0; t < rooms_.size(); ++t) {
      trace_.thread_ranges[t].end = rooms_[t].event_at;
      if (is_virtual(t)) sort_by_time(t);
    }
    number_tasks();
    return model::finish(std::move(trace_), &file_);
  }

 private:
  // True if the next rows of a table have these ids. Rows that the file has already are left out.
  bool can_add(IdRows& ids, uint32_t first, size_t count) {
    const bool added = ids.add(first, count);
    if (!added) rows_left_out_ += count;
    return added;
  }

  template <typename Row>
  void put(std::vector<Row>& table, IdRows& ids, uint32_t first, std::span<const Row> rows) {
    if (can_add(ids, first, rows.size())) table.insert(table.end(), rows.begin(), rows.end());
  }

  std::string_view cut(std::string_view text, size_t& left_bytes) {
    if (text.size() <= kTextBytes) return text;
    const size_t taken = std::min(text.size() - kTextBytes, left_bytes);
    left_bytes -= taken;
    texts_cut_ += kTextBytes + taken < text.size();
    return text.substr(0, kTextBytes + taken);
  }

  // Nothing shows which thread's chunks are missing: any thread's next chunk may come after a gap.
  void add_chunk(const format::AccessChunk& chunk) {
    AccessLog& log = trace_.access_log;
    log.add(chunk, options_.access_log);
    if (!options_.access_log) return;
    if (missing_before_.size() < trace_.threads.size()) missing_before_.resize(trace_.threads.size());
    uint64_t& before = missing_before_[chunk.thread];
    format::SetGap& gap = log.chunks.back().gap;
    if (before != log.chunks_missing && gap == format::SetGap::complete) gap = format::SetGap::lost;
    before = log.chunks_missing;
  }

  // Nothing shows which thread's events are missing: any thread's next one may come after some. An analysis of what a
  // thread did sees a gap there.
  void mark_hole(ThreadRoom& room, int64_t next_ns) {
    const bool lacks_some = std::exchange(room.holes, holes_) != holes_;
    if (!std::exchange(room.has_run, true) || !lacks_some || room.gaps == 0) return;
    --room.gaps;
    trace_.kind[room.event_at] = EventKind::gap;
    trace_.time_ns[room.event_at] = next_ns;
    trace_.a[room.event_at] = 0;  // it is not known how many
    trace_.b[room.event_at] = UINT32_MAX;
    ++room.event_at;
  }

  // Accesses missing at the file's end leave no hole in the numbering, but the recorder counted what it wrote.
  void count_missing_accesses() {
    AccessLog& log = trace_.access_log;
    if (trace_.origin != Origin::measured) return;  // has the facts of the run that it was made from, not its log
    const std::string_view text = trace_.fact("accesses.count");
    uint64_t recorded = 0;
    std::from_chars(text.data(), text.data() + text.size(), recorded);
    if (recorded > log.accesses) log.accesses_missing = recorded - log.accesses;
  }

  bool is_virtual(size_t thread) const { return trace_.threads[thread].kind == format::ThreadKind::virtual_thread; }
  bool refused() const { return too_many_ || too_many_lost_; }

  // Null for a lost thread beyond those that are believed: these cost no memory. All rows are there before the first
  // outline, so a thread without one lost it to damage.
  ThreadRoom* room_of(ThreadId thread) {
    const uint32_t row = file_.rows.threads.row_of(thread.value);
    if (row != IdRows::kNone) return &rooms_[row];
    const auto lost = lost_rooms_.find(thread.value);
    if (lost != lost_rooms_.end()) return &lost->second;
    too_many_lost_ |= lost_rooms_.size() == kRowsLostMax;
    return too_many_lost_ ? nullptr : &lost_rooms_[thread.value];
  }

  void add_lost_threads() {
    std::vector<uint32_t> ids;
    rooms_.resize(trace_.threads.size());
    for (const auto& [id, room] : lost_rooms_) {
      ids.push_back(id);
      rooms_.push_back(room);
    }
    file_.rows.threads.add_lost(ids);
    trace_.threads.resize(rooms_.size());
    lost_rooms_.clear();
  }

  static void count_run(ThreadRoom& room, std::span<const EventKind> kinds) {
    const KindSums sums(kinds);
    const uint64_t before = room.events;
    room.events += kinds.size() - sums.beside();
    room.extras += sums.extras();
    room.open += sums.open();
    room.has_beside |= sums.beside() > 0;
    if (room.has_worker) return;
    const auto first = std::find_if(kinds.begin(), kinds.end(), is_of_worker);
    if (first == kinds.end()) return;
    room.has_worker = true;
    room.busy_at_first = *first == EventKind::worker_busy;
    const KindSums first_sums(kinds.first(static_cast<size_t>(first - kinds.begin())));
    room.before_worker = before + static_cast<uint64_t>(first - kinds.begin()) - first_sums.beside();
  }

  void make_room() {
    ready_ = true;
    holes_ = 0;
    if (refused()) return;
    add_lost_threads();
    const size_t threads = trace_.threads.size();
    trace_.cpu.resize(threads);
    uint64_t events = 0, extras = 0;
    for (size_t t = 0; t < threads; ++t) {
      ThreadRoom& room = rooms_[t];
      // The events of a virtual thread are not in order yet: which is the first is not known. The last event of a
      // thread stays, for its time is the thread's end.
      room.busy_at_first = room.busy_at_first && !is_virtual(t) && room.before_worker + 1 < room.events;
      if (room.busy_at_first) {
        --room.events;
        ++room.open;
      }
      const auto begin = static_cast<uint32_t>(events);
      trace_.thread_ranges.push_back({begin, begin});
      room.event_at = begin;
      room.holes = 0;
      room.has_run = false;
      room.extra_at = static_cast<uint32_t>(extras);
      file_.extras_begin.push_back(room.extra_at);
      file_.left_out.emplace_back();
      events += room.events + static_cast<uint64_t>(std::max<int64_t>(room.open, 0));
      extras += room.extras;
    }
    too_many_ = std::max({events, events_in_file_, extras}) > UINT32_MAX - 1;
    if (refused()) return;
    trace_.blocked_on.reserve(blocked_on_);
    trace_.kind.resize(events);
    trace_.time_ns.resize(events);
    trace_.a.resize(events);
    trace_.b.resize(events);
    file_.extras.resize(extras + format::kOperandsMax - 2);
  }

  // REQUIRES: `extra` counts the extra operands of the block's runs before this one.
  void take_run(const format::EventBlock& block, const format::EventRun& run, ThreadId thread, size_t& extra) {
    ThreadRoom& room = rooms_[thread.index()];
    if (extra < block.extra.size()) {
      const KindSums sums(block.kind.subspan(run.begin, run.end - run.begin));
      std::copy_n(block.extra.begin() + static_cast<ptrdiff_t>(extra), sums.extras(),
                  file_.extras.begin() + room.extra_at);
      room.extra_at += sums.extras();
      extra += sums.extras();
    }
    uint32_t begin = run.begin;
    if (room.has_beside || room.busy_at_first) {
      for (uint32_t i = run.begin; i < run.end; ++i) {
        if (!goes_elsewhere(block, thread, i, room.event_at + (i - begin))) continue;
        copy_events(block, begin, i, room);
        begin = i + 1;
      }
    }
    copy_events(block, begin, run.end, room);
  }

  // True for an event that does not go to its position in the columns; what has a place beside them is put there.
  bool goes_elsewhere(const format::EventBlock& block, ThreadId thread, uint32_t i, uint32_t position) {
    const EventKind kind = block.kind[i];
    if (is_beside(kind)) {
      add_beside(block, thread, i);
      return true;
    }
    ThreadRoom& room = rooms_[thread.index()];
    if (!room.busy_at_first || !is_of_worker(kind)) return false;
    room.busy_at_first = false;
    if (kind != EventKind::worker_busy) return false;
    file_.left_out[thread.index()] = {position, PoolId(block.a[i]), block.time_ns[i]};
    return true;
  }

  void copy_events(const format::EventBlock& block, uint32_t begin, uint32_t end, ThreadRoom& room) {
    auto copy = [&](const auto& from, auto& to) {
      std::copy(from.begin() + begin, from.begin() + end, to.begin() + room.event_at);
    };
    copy(block.kind, trace_.kind);
    copy(block.time_ns, trace_.time_ns);
    copy(block.a, trace_.a);
    copy(block.b, trace_.b);
    room.event_at += end - begin;
  }

  void note_task(uint32_t id) {
    auto& numbers = file_.row_of;
    if (id >= numbers.size()) {
      // Threads take ids in ranges, so that they are nearly dense; only a damaged or foreign file has others.
      const size_t most = events_in_file_ + (1 << 20);
      if (id >= most) {
        sparse_ = true;
        return;
      }
      numbers.resize(std::clamp(numbers.size() * 2, size_t{id} + 1, most), 0);
    }
    numbers[id] = 1;
  }

  void add_beside(const format::EventBlock& block, ThreadId thread, uint32_t i) {
    const int64_t time_ns = block.time_ns[i];
    std::vector<CpuGap>& gaps = trace_.cpu[thread.index()];
    switch (block.kind[i]) {
      case EventKind::pause_begin:
        trace_.pauses.push_back({time_ns, time_ns, thread});
        break;
      case EventKind::pause_end:
        if (!trace_.pauses.empty()) trace_.pauses.back().end_ns = time_ns;
        break;
      case EventKind::cpu_out:
        gaps.push_back({time_ns, time_ns, static_cast<Outcome>(block.a[i]) == Outcome::preempted});
        break;
      case EventKind::cpu_in:
        if (!gaps.empty()) gaps.back().in_ns = time_ns;
        break;
      case EventKind::vm_ran:
        trace_.vm_stints.push_back(vm_stint(time_ns, block.a[i]));
        break;
      case EventKind::cores_idle:
        trace_.idle_times.push_back({time_ns, kNsPerUs * int64_t{block.a[i]}});
        break;
      case EventKind::blocked_on:
        trace_.blocked_on.push_back({thread, time_ns, LockId(block.a[i]), ThreadId(block.b[i]), ContextId::none()});
        break;
      case EventKind::holder_at:
        note_holder_at(trace_.blocked_on, thread, ContextId(block.a[i]));
        break;
      default:
        break;
    }
  }

  // Task ids are unique in the file but not dense: threads take them in ranges. They keep their order.
  void number_tasks() {
    auto& numbers = file_.row_of;
    if (sparse_) return number_sparse_tasks();
    uint32_t next = 0, last = 0;
    for (uint32_t id = 0; id < numbers.size(); ++id) {
      if (numbers[id]) last = id + 1;
      numbers[id] = numbers[id] ? next++ : UINT32_MAX;
    }
    if (next == last) numbers = {};
    trace_.tasks.resize(next);
  }

  void number_sparse_tasks() {
    std::vector<uint32_t> ids;
    each_task_id([&](uint32_t& id) { ids.push_back(id); });
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    each_task_id(
        [&](uint32_t& id) { id = static_cast<uint32_t>(std::lower_bound(ids.begin(), ids.end(), id) - ids.begin()); });
    file_.row_of = {};
    trace_.tasks.resize(ids.size());
  }

  template <typename Function>
  void each_task_id(Function function) {
    for (const EventRange& range : trace_.thread_ranges) {
      for (uint32_t i = range.begin; i < range.end; ++i) {
        if (names_task(trace_.kind[i]) && trace_.a[i] != UINT32_MAX) function(trace_.a[i]);
        if (trace_.kind[i] == EventKind::task_depends && trace_.b[i] != UINT32_MAX) function(trace_.b[i]);
      }
    }
  }

  // A virtual thread's events come through the buffers of its carriers: in program order for each of these only.
  void sort_by_time(size_t thread) {
    const EventRange range = trace_.thread_ranges[thread];
    const auto* times = trace_.time_ns.data();
    if (std::is_sorted(times + range.begin, times + range.end)) return;
    std::vector<uint32_t> order(range.size());
    std::iota(order.begin(), order.end(), range.begin);
    std::stable_sort(order.begin(), order.end(), [&](uint32_t x, uint32_t y) { return times[x] < times[y]; });
    permute_extras(file_.extras_begin[thread], range, order);
    permute(trace_.kind, range, order);
    permute(trace_.a, range, order);
    permute(trace_.b, range, order);
    permute(trace_.time_ns, range, order);
  }

  // REQUIRES: the kinds are not in order yet.
  void permute_extras(uint32_t begin, EventRange range, const std::vector<uint32_t>& order) {
    std::vector<uint32_t> first_of(range.size());  // an event's first extra operand
    uint32_t at = begin;
    for (uint32_t i = range.begin; i < range.end; ++i) {
      first_of[i - range.begin] = at;
      at += extra_operands(trace_.kind[i]);
    }
    std::vector<uint32_t> sorted;
    sorted.reserve(at - begin);
    for (const uint32_t i : order) {
      const auto first = file_.extras.begin() + first_of[i - range.begin];
      sorted.insert(sorted.end(), first, first + extra_operands(trace_.kind[i]));
    }
    std::copy(sorted.begin(), sorted.end(), file_.extras.begin() + begin);
  }

  template <typename Value>
  static void permute(base::Column<Value>& column, EventRange range, const std::vector<uint32_t>& order) {
    std::vector<Value> sorted;
    sorted.reserve(order.size());
    for (uint32_t i : order) sorted.push_back(column[i]);
    std::copy(sorted.begin(), sorted.end(), column.begin() + range.begin);
  }

  const LoadOptions options_;
  Trace trace_;
  FileParts file_;  // until number_tasks, row_of is 1 for the ids that occur, else 0
  std::vector<std::string> notes_;
  std::unordered_map<std::string, size_t> facts_;  // by key
  std::vector<ThreadRoom> rooms_;                  // by the thread's row
  std::map<uint32_t, ThreadRoom> lost_rooms_;      // by the file's id, until the second pass is over
  uint64_t rows_left_out_ = 0;
  uint64_t texts_cut_ = 0;
  size_t long_texts_left_ = kLongTextsBytesMax;
  size_t long_facts_left_ = kLongFactsBytesMax;
  uint64_t chunks_numbered_ = 0;          // of the access log, missing ones included
  std::vector<uint64_t> missing_before_;  // by thread: AccessLog::chunks_missing at its last chunk
  size_t blocked_on_ = 0;                 // in the file
  uint64_t events_in_file_ = 0;
  uint64_t events_written_ = 0;  // as the trailer says
  uint64_t holes_ = 0;           // in this pass
  bool ready_ = false;           // the second pass is over and the columns have their size
  bool sparse_ = false;
  bool too_many_ = false;       // events
  bool too_many_lost_ = false;  // threads
};

bool looks_like_text(const std::vector<uint8_t>& bytes) {
  const size_t count = std::min<size_t>(bytes.size(), 512);
  return count > 0 && std::all_of(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(count), [](uint8_t byte) {
           return byte == '\t' || byte == '\n' || byte == '\r' || byte >= ' ';
         });
}

base::Result<Trace> load_binary(format::Reader file, const LoadOptions& options) {
  EventCollector collector(options);
  format::ReadLoss loss;
  {
    const format::Reader reader = std::move(file);  // its bytes go before the columns are finished
    loss = reader.read_in_passes(collector);
  }
  return collector.finish(loss);
}

}  // namespace

base::Result<Trace> load_any(const std::string& path, const LoadOptions& options) {
  base::Result<std::vector<uint8_t>> bytes = base::read_file(path);
  if (!bytes) return bytes.error();
  const bool named_text = path.size() > 4 && path.compare(path.size() - 4, 4, ".txt") == 0;
  if (named_text || looks_like_text(*bytes)) {
    const std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    if (!bytes->empty() && !begins_as_text_trace(text)) return base::Error{format::no_trace_message(path)};
    base::Result<Trace> trace = parse_text(text);
    if (!trace) return base::Error{path + ": " + trace.error().message};
    return trace;
  }
  base::Result<format::Reader> reader = format::Reader::from_bytes(*std::move(bytes), path);
  if (!reader) return reader.error();
  base::Result<Trace> trace = load_binary(*std::move(reader), options);
  if (!trace) return base::Error{path + ": " + trace.error().message};
  return trace;
}

}  // namespace contrafact::model
