#include "model/save.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <span>

#include "format/writer.h"
#include "model/processes.h"
#include "model/text_names.h"
#include "model/vm_stints.h"

namespace contrafact::model {
namespace {

class Saver {
 public:
  Saver(const Trace& trace, format::Writer& writer) : trace_(trace), writer_(writer) {}

  base::Status run() {
    for (const Fact& fact : trace_.facts) {
      if (fact.key != "origin") ok(writer_.add_fact(fact.key, fact.value));
    }
    if (trace_.origin != Origin::measured) ok(writer_.add_fact("origin", kOriginNames[trace_.origin]));
    for (size_t i = 0; i < trace_.loss.notes.size(); ++i) {
      ok(writer_.add_fact(fmt::format("note.{}", i + 1), trace_.loss.notes[i]));
    }
    write_tables();
    for (uint32_t thread = 0; thread < trace_.threads.size() && writer_.status(); ++thread) write_thread(thread);
    ok(writer_.add_events(encoder_));
    format::Trailer trailer;
    trailer.exit_reason = "saved";
    trailer.events_dropped = trace_.loss.events_dropped;
    trailer.end_ns = trace_.end_ns();
    ok(writer_.finish(trailer));
    return writer_.status();
  }

 private:
  // The writer remembers its first error; run() returns that.
  static void ok(const base::Status&) {}

  void write_tables() {
    constexpr size_t kRows = 4096;
    std::vector<std::string_view> strings(trace_.strings.begin(), trace_.strings.end());
    in_parts(std::span<const std::string_view>(strings), kRows, [&](auto rows) { ok(writer_.add_strings(rows)); });
    in_parts(std::span(trace_.methods), kRows, [&](auto rows) { ok(writer_.add_methods(rows)); });
    in_parts(std::span(trace_.contexts), kRows, [&](auto rows) { ok(writer_.add_contexts(rows)); });
    in_parts(std::span(trace_.pools), kRows, [&](auto rows) { ok(writer_.add_pools(rows)); });
    in_parts(std::span(trace_.method_addresses), kRows, [&](auto rows) { ok(writer_.add_method_addresses(rows)); });
    in_parts(std::span(trace_.locks), kRows, [&](auto rows) { ok(writer_.add_locks(rows)); });
    in_parts(std::span(trace_.connections), kRows, [&](auto rows) { ok(writer_.add_connections(rows)); });
    in_parts(std::span(trace_.endpoints), kRows, [&](auto rows) { ok(writer_.add_endpoints(rows)); });
    write_access_sets();
    in_parts(std::span(trace_.threads), kRows, [&](auto rows) { ok(writer_.add_threads(rows)); });
    write_access_log();
  }

  void write_access_log() {
    const AccessLog& log = trace_.access_log;
    for (const AccessLog::Chunk& chunk : log.chunks) {
      const auto bytes = std::span(log.bytes).subspan(chunk.bytes_begin, chunk.bytes_end - chunk.bytes_begin);
      access_chunks_.push_back(
          {chunk.thread.value, chunk.gap, chunk.begin_ns, chunk.end_ns, chunk.lost, chunk.accesses, bytes});
    }
    ok(writer_.add_access_chunks(access_chunks_));
  }

  // Writes some sets at a time: without sharing, their ranges are far more than the trace holds.
  void write_access_sets() {
    constexpr size_t kRangesAtOnce = 1 << 20;
    std::vector<AccessRange> ranges;
    std::vector<format::AccessSetRow> rows;
    std::vector<size_t> ends;
    for (uint32_t i = 0; i < trace_.access_sets.size();) {
      ranges.clear(), rows.clear(), ends.clear();
      for (; i < trace_.access_sets.size() && ranges.size() < kRangesAtOnce; ++i) {
        std::ranges::copy(trace_.ranges_of(AccessSetId(i)), std::back_inserter(ranges));
        rows.push_back({trace_.access_sets[i].gap, {}});
        ends.push_back(ranges.size());
      }
      for (size_t row = 0, begin = 0; row < rows.size(); begin = ends[row++])
        rows[row].ranges = std::span(ranges).subspan(begin, ends[row] - begin);
      ok(writer_.add_access_sets(rows));
    }
  }

  template <typename Row, typename Write>
  static void in_parts(std::span<const Row> rows, size_t part, Write write) {
    for (size_t at = 0; at < rows.size(); at += part) write(rows.subspan(at, std::min(part, rows.size() - at)));
  }

  void append(format::EventKind kind, int64_t time_ns, const uint32_t* operands, ThreadId thread,
              format::RunSource source) {
    if (encoder_.full()) ok(writer_.add_events(encoder_));
    encoder_.begin_run(thread, source);
    encoder_.append(kind, time_ns, operands);
  }

  void write_thread(uint32_t index) {
    const ThreadId thread(index);
    const EventRange range = trace_.thread_events(thread);
    for (uint32_t i = range.begin; i < range.end; ++i) {
      uint32_t operands[format::kOperandsMax] = {trace_.a[i], trace_.b[i], UINT32_MAX, UINT32_MAX};
      set_outer(trace_.kind[i], operands);
      append(trace_.kind[i], trace_.time_ns[i], operands, thread, format::RunSource::program);
      if (trace_.kind[i] == EventKind::block_begin) write_blocked_on(i, thread);
    }
    const uint32_t process = process_of(trace_, thread);
    if (index == 0 || process_of(trace_, ThreadId(index - 1)) != process) write_pauses(process, thread);
    if (index == 0) {
      for (const VmStint& stint : trace_.vm_stints) {
        const uint32_t ran_us = ran_us_of(stint);
        append(EventKind::vm_ran, stint.end_ns, &ran_us, thread, format::RunSource::kernel);
      }
      for (const IdleTime& idle : trace_.idle_times) {
        const auto idle_us = static_cast<uint32_t>(std::clamp<int64_t>(idle.idle_ns / kNsPerUs, 0, UINT32_MAX));
        append(EventKind::cores_idle, idle.until_ns, &idle_us, thread, format::RunSource::kernel);
      }
    }
    for (const CpuGap& gap : trace_.cpu[index]) {
      const auto reason = static_cast<uint32_t>(gap.preempted ? Outcome::preempted : Outcome::blocked);
      append(EventKind::cpu_out, gap.out_ns, &reason, thread, format::RunSource::kernel);
      append(EventKind::cpu_in, gap.in_ns, nullptr, thread, format::RunSource::kernel);
    }
  }

  void write_pauses(uint32_t process, ThreadId thread) {
    for (const Pause& pause : trace_.pauses) {
      if (process_of(trace_, pause.thread) != process) continue;
      append(EventKind::pause_begin, pause.begin_ns, nullptr, thread, format::RunSource::program);
      append(EventKind::pause_end, pause.end_ns, nullptr, thread, format::RunSource::program);
    }
  }

  // REQUIRES: called with ascending events.
  void write_blocked_on(uint32_t event, ThreadId thread) {
    while (blocked_on_ < trace_.blocked_on.size() && trace_.blocked_on[blocked_on_].block.value < event) ++blocked_on_;
    if (blocked_on_ == trace_.blocked_on.size() || trace_.blocked_on[blocked_on_].block.value != event) return;
    const BlockedOn& row = trace_.blocked_on[blocked_on_];
    const uint32_t operands[] = {row.lock.value, row.holder.value};
    append(EventKind::blocked_on, trace_.time_ns[event], operands, thread, format::RunSource::program);
    if (!row.holder_at.valid()) return;
    append(EventKind::holder_at, trace_.time_ns[event], &row.holder_at.value, thread, format::RunSource::program);
  }

  void set_outer(EventKind kind, uint32_t* operands) const {
    if (operands[0] == UINT32_MAX) return;
    if (kind != EventKind::task_create && kind != EventKind::task_spawn && kind != EventKind::task_depends) return;
    const TaskRow& row = trace_.tasks[operands[0]];
    if (kind == EventKind::task_create) operands[2] = row.body.value;
    if (kind == EventKind::task_spawn) {
      operands[2] = row.pool.value;
      operands[3] = row.body.value;
    }
    if (kind != EventKind::task_depends) return;
    operands[2] = 0;
    auto at =
        std::lower_bound(trace_.dependencies.begin(), trace_.dependencies.end(), operands[0],
                         [](const Dependency& dependency, uint32_t task) { return dependency.task.value < task; });
    for (; at != trace_.dependencies.end() && at->task.value == operands[0]; ++at) {
      if (at->source.value == operands[1]) operands[2] = static_cast<uint32_t>(at->mode);
    }
  }

  const Trace& trace_;
  format::Writer& writer_;
  format::EventEncoder encoder_;
  size_t blocked_on_ = 0;  // the next row
  std::vector<format::AccessChunk> access_chunks_;
};

}  // namespace

base::Status save(const Trace& trace, const std::string& path) {
  const std::string partial = path + ".partial";
  base::Result<std::unique_ptr<format::Sink>> sink = format::open_file_sink(partial);
  std::error_code ignored;
  if (!sink) {
    std::filesystem::remove(partial, ignored);
    return sink.error();
  }
  base::Result<std::unique_ptr<format::Writer>> writer = format::Writer::create(*std::move(sink));
  if (!writer) {
    std::filesystem::remove(partial, ignored);
    return writer.error();
  }
  base::Status status = Saver(trace, **writer).run();
  writer->reset();  // closes the file
  std::error_code error;
  if (status) {
    std::filesystem::rename(partial, path, error);
    if (!error) return {};
    status = base::Error{fmt::format("cannot write {}: {}", path, error.message())};
  }
  std::filesystem::remove(partial, error);
  return status;
}

}  // namespace contrafact::model
