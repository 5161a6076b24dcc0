#include "model/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/file.h"
#include "base/huge_pages.h"
#include "format/reader.h"
#include "model/finish.h"
#include "model/text_names.h"
#include "model/text_trace.h"

namespace contrafact::model {
namespace {

// Collects the file's blocks in its own order, then moves runs of events to their threads. Peak memory is twice the
// events'; decoding twice instead would take twice the time.
class Collector : public format::Visitor {
 public:
  explicit Collector(uint64_t events_hint) {
    reserve(kind_, events_hint);
    reserve(time_ns_, events_hint);
    reserve(a_, events_hint);
    reserve(b_, events_hint);
  }

  void on_fact(std::string_view key, std::string_view value) override {
    if (key == "origin") {
      trace_.origin = named(kOriginNames, value).value_or(Origin::measured);
      return;
    }
    if (key.starts_with("note.")) {
      notes_.emplace_back(value);
      return;
    }
    for (Fact& fact : trace_.facts) {
      if (fact.key == key) {
        fact.value = value;
        return;
      }
    }
    trace_.facts.push_back({std::string(key), std::string(value)});
  }
  void on_strings(StringId first, std::span<const std::string_view> rows) override {
    put(trace_.strings, first.value, rows);
  }
  void on_methods(MethodId first, std::span<const format::MethodRow> rows) override {
    put(trace_.methods, first.value, rows);
  }
  void on_contexts(ContextId first, std::span<const format::ContextRow> rows) override {
    put(trace_.contexts, first.value, rows);
  }
  void on_pools(PoolId first, std::span<const format::PoolRow> rows) override { put(trace_.pools, first.value, rows); }
  void on_threads(ThreadId first, std::span<const format::ThreadRow> rows) override {
    put(trace_.threads, first.value, rows);
  }
  void on_trailer(const format::Trailer& trailer) override {
    trace_.loss.events_dropped = std::max(trace_.loss.events_dropped, trailer.events_dropped);
  }

  void on_events(const format::EventBlock& block) override {
    if (too_many_) return;
    const auto base = static_cast<uint32_t>(kind_.size());
    if (base + block.kind.size() > UINT32_MAX - 1) {
      too_many_ = true;
      return;
    }
    kind_.insert(kind_.end(), block.kind.begin(), block.kind.end());
    time_ns_.insert(time_ns_.end(), block.time_ns.begin(), block.time_ns.end());
    a_.insert(a_.end(), block.a.begin(), block.a.end());
    b_.insert(b_.end(), block.b.begin(), block.b.end());
    size_t extra = 0;
    for (const format::EventRun& run : block.runs) {
      if (run.source == format::RunSource::kernel) {
        for (uint32_t i = run.begin; i < run.end; ++i) add_beside(run.thread, base + i);
      } else {
        scan_run(run, base, block.extra, extra);
      }
    }
  }

  base::Result<Trace> finish(const format::ReadLoss& loss) {
    if (too_many_) return base::Error{"more than 4294967294 events: record a shorter run or fewer methods"};
    trace_.loss.blocks_damaged = std::max(loss.blocks_damaged, loss.blocks_missing);
    trace_.loss.bytes_skipped = loss.bytes_skipped;
    trace_.loss.cut_off = loss.cut_off;
    trace_.loss.notes = std::move(notes_);
    trace_.loss.notes.insert(trace_.loss.notes.end(), loss.notes.begin(), loss.notes.end());
    number_tasks();
    group_by_thread();
    return model::finish(std::move(trace_));
  }

 private:
  struct Run {
    uint32_t thread, begin, end;
  };
  struct OuterOperands {
    EventKind kind;
    uint32_t operands[format::kOperandsMax];
  };

  template <typename Row, typename Rows>
  void put(std::vector<Row>& table, uint32_t first, const Rows& rows) {
    // A row's id is bounded by what the file's bytes can back: rows come in order, and lost ones leave default rows.
    const size_t end = size_t{first} + rows.size();
    if (end > table.size() + (size_t{1} << 24)) return;
    if (table.size() < end) table.resize(end);
    for (size_t i = 0; i < rows.size(); ++i) table[first + i] = Row(rows[i]);
  }

  void scan_run(const format::EventRun& run, uint32_t base, std::span<const uint32_t> extras, size_t& extra) {
    Run open{run.thread.value, base + run.begin, base + run.begin};
    for (uint32_t i = base + run.begin; i < base + run.end; ++i) {
      const EventKind kind = kind_[i];
      // The common kinds (method and wait events) need nothing else.
      if (names_task(kind)) {
        scan_task_event(i, kind, extras, extra);
      } else if (kind >= EventKind::pause_begin && kind <= EventKind::cpu_in) {
        add_beside(run.thread, i);
        open.end = i;
        if (open.end > open.begin) runs_.push_back(open);
        open.begin = i + 1;
      }
    }
    open.end = base + run.end;
    if (open.end > open.begin) runs_.push_back(open);
    threads_max_ = std::max(threads_max_, run.thread.value + 1);
  }

  void scan_task_event(uint32_t i, EventKind kind, std::span<const uint32_t> extras, size_t& extra) {
    if (a_[i] != UINT32_MAX) note_task(a_[i]);
    if (kind == EventKind::task_depends && b_[i] != UINT32_MAX) note_task(b_[i]);
    const size_t operands = format::schema_of(kind).operand_count();
    if (operands <= 2 && kind != EventKind::task_delay) return;
    OuterOperands outer{kind, {a_[i], b_[i], UINT32_MAX, UINT32_MAX}};
    for (size_t k = 2; k < operands; ++k) outer.operands[k] = extras[extra++];
    outer_.push_back(outer);
  }

  void note_task(uint32_t id) {
    if (id >= number_.size()) {
      // Threads take ids in ranges, so that they are nearly dense; only a damaged or foreign file has others.
      if (id > kind_.size() * 8 + (1 << 20)) {
        sparse_ = true;
        return;
      }
      number_.resize(std::max<size_t>(size_t{id} + 1, number_.size() * 2), 0);
    }
    number_[id] = 1;
  }

  void add_beside(ThreadId thread, uint32_t i) {
    threads_max_ = std::max(threads_max_, thread.value + 1);
    switch (kind_[i]) {
      case EventKind::pause_begin:
        trace_.pauses.push_back({time_ns_[i], time_ns_[i]});
        break;
      case EventKind::pause_end:
        if (!trace_.pauses.empty()) trace_.pauses.back().end_ns = time_ns_[i];
        break;
      case EventKind::cpu_out: {
        std::vector<CpuGap>& gaps = gaps_of(thread);
        gaps.push_back({time_ns_[i], time_ns_[i], static_cast<Outcome>(a_[i]) == Outcome::preempted});
        break;
      }
      case EventKind::cpu_in: {
        std::vector<CpuGap>& gaps = gaps_of(thread);
        if (!gaps.empty()) gaps.back().in_ns = time_ns_[i];
        break;
      }
      default:
        break;
    }
  }

  std::vector<CpuGap>& gaps_of(ThreadId thread) {
    if (trace_.cpu.size() <= thread.index()) trace_.cpu.resize(thread.index() + 1);
    return trace_.cpu[thread.index()];
  }

  // Task ids are unique in the file but not dense: threads take them in ranges. They keep their order.
  void number_tasks() {
    if (sparse_) {
      std::vector<uint32_t> ids;
      each_task_id([&](uint32_t& id) { ids.push_back(id); });
      std::sort(ids.begin(), ids.end());
      ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
      each_task_id([&](uint32_t& id) {
        id = static_cast<uint32_t>(std::lower_bound(ids.begin(), ids.end(), id) - ids.begin());
      });
      trace_.tasks.resize(ids.size());
    } else {
      uint32_t next = 0, last = 0;
      for (uint32_t id = 0; id < number_.size(); ++id) {
        if (number_[id]) last = id + 1;
        number_[id] = number_[id] ? next++ : UINT32_MAX;
      }
      if (next != last) each_task_id([&](uint32_t& id) { id = number_[id]; });
      trace_.tasks.resize(next);
    }
    for (const OuterOperands& outer : outer_) {
      if (outer.operands[0] != UINT32_MAX) set_outer_operands(trace_, outer.kind, outer.operands[0], outer.operands);
    }
  }

  template <typename Function>
  void each_task_id(Function function) {
    auto visit = [&](EventKind kind, uint32_t& a, uint32_t& b) {
      if (a != UINT32_MAX) function(a);
      if (kind == EventKind::task_depends && b != UINT32_MAX) function(b);
    };
    for (const Run& run : runs_) {
      for (uint32_t i = run.begin; i < run.end; ++i) {
        if (names_task(kind_[i])) visit(kind_[i], a_[i], b_[i]);
      }
    }
    for (OuterOperands& outer : outer_) visit(outer.kind, outer.operands[0], outer.operands[1]);
  }

  void group_by_thread() {
    const size_t threads = std::max<size_t>(trace_.threads.size(), threads_max_);
    trace_.threads.resize(threads);
    trace_.cpu.resize(threads);
    std::vector<uint32_t> events(threads, 0);
    for (const Run& run : runs_) events[run.thread] += run.end - run.begin;
    uint32_t total = 0;
    for (uint32_t n : events) {
      trace_.thread_ranges.push_back({total, total + n});
      total += n;
    }
    std::stable_sort(runs_.begin(), runs_.end(), [](const Run& x, const Run& y) { return x.thread < y.thread; });
    move_column(trace_.kind, kind_, total);
    move_column(trace_.time_ns, time_ns_, total);
    move_column(trace_.a, a_, total);
    move_column(trace_.b, b_, total);
    for (uint32_t t = 0; t < threads; ++t) {
      if (trace_.threads[t].kind == format::ThreadKind::virtual_thread) sort_by_time(trace_.thread_ranges[t]);
    }
  }

  // A virtual thread's events come through the buffers of its carriers: in program order for each of these only.
  void sort_by_time(EventRange range) {
    const auto* times = trace_.time_ns.data();
    if (std::is_sorted(times + range.begin, times + range.end)) return;
    std::vector<uint32_t> order(range.size());
    std::iota(order.begin(), order.end(), range.begin);
    std::stable_sort(order.begin(), order.end(), [&](uint32_t x, uint32_t y) { return times[x] < times[y]; });
    permute(trace_.kind, range, order);
    permute(trace_.a, range, order);
    permute(trace_.b, range, order);
    permute(trace_.time_ns, range, order);
  }

  template <typename Value>
  static void permute(std::vector<Value>& column, EventRange range, const std::vector<uint32_t>& order) {
    std::vector<Value> sorted;
    sorted.reserve(order.size());
    for (uint32_t i : order) sorted.push_back(column[i]);
    std::copy(sorted.begin(), sorted.end(), column.begin() + range.begin);
  }

  template <typename Value>
  static void reserve(std::vector<Value>& column, size_t count) {
    column.reserve(count);
    base::prefer_huge_pages(column.data(), count * sizeof(Value));
  }

  template <typename Value>
  void move_column(std::vector<Value>& to, std::vector<Value>& from, uint32_t total) {
    reserve(to, total);
    for (const Run& run : runs_) to.insert(to.end(), from.begin() + run.begin, from.begin() + run.end);
    std::vector<Value>().swap(from);
  }

  Trace trace_;
  std::vector<std::string> notes_;
  std::vector<EventKind> kind_;
  std::vector<int64_t> time_ns_;
  std::vector<uint32_t> a_, b_;
  std::vector<Run> runs_;
  std::vector<OuterOperands> outer_;
  std::vector<uint32_t> number_;  // by the file's task id: 1 if it occurs, then the dense id
  bool sparse_ = false;
  uint32_t threads_max_ = 0;
  bool too_many_ = false;
};

bool looks_like_text(const std::vector<uint8_t>& bytes) {
  const size_t count = std::min<size_t>(bytes.size(), 512);
  return count > 0 && std::all_of(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(count), [](uint8_t byte) {
           return byte == '\t' || byte == '\n' || byte == '\r' || byte >= ' ';
         });
}

base::Result<Trace> load_binary(const format::Reader& reader) {
  Collector collector(reader.event_count_hint());
  const format::ReadLoss loss = reader.read(collector);
  return collector.finish(loss);
}

}  // namespace

base::Result<Trace> load_any(const std::string& path) {
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
  base::Result<Trace> trace = load_binary(*reader);
  if (!trace) return base::Error{path + ": " + trace.error().message};
  return trace;
}

}  // namespace contrafact::model
