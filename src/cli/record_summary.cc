#include "cli/record_summary.h"

#include <fmt/format.h>

#include <vector>

#include "format/reader.h"
#include "table/value_text.h"

namespace contrafact::cli {
namespace {

// Counts without building the trace in memory: a recording may be larger than this machine's memory allows to analyse.
class Counter : public format::Visitor {
 public:
  void on_threads(format::ThreadId, std::span<const format::ThreadRow> rows) override { threads += rows.size(); }
  void on_events(const format::EventBlock& block) override {
    events += block.kind.size();
    for (size_t i = 0; i < block.kind.size(); ++i) {
      if (block.kind[i] == format::EventKind::task_start) ++tasks;
      if (block.kind[i] == format::EventKind::gap) dropped += block.a[i];
    }
  }
  void on_trailer(const format::Trailer& trailer) override {
    exit_reason = trailer.exit_reason;
    dropped_said = trailer.events_dropped;
  }

  size_t threads = 0, events = 0, tasks = 0;
  uint64_t dropped = 0, dropped_said = 0;
  std::string exit_reason;
};

std::string count(uint64_t number) {
  return table::count_text(static_cast<int64_t>(number));
}

}  // namespace

base::Result<bool> holds_nothing(const std::string& path) {
  base::Result<format::Reader> reader = format::Reader::open(path);
  if (!reader) return reader.error();
  Counter counter;
  return reader->read(counter).cut_off && counter.events == 0;
}

base::Result<std::string> summarise_recording(const std::string& path) {
  base::Result<format::Reader> reader = format::Reader::open(path);
  if (!reader) return reader.error();
  Counter counter;
  format::ReadLoss loss = reader->read(counter);
  double bytes = static_cast<double>(reader->byte_count());
  std::string out = fmt::format("contrafact: {}: {} events, {} tasks run, {} threads, {}", path, count(counter.events),
                                count(counter.tasks), count(counter.threads), table::bytes_text(bytes));
  if (counter.events > 0) {
    out += fmt::format(" ({} bytes an event)", table::number_text(bytes / static_cast<double>(counter.events)));
  }
  out += "\n";
  auto note = [&](const std::string& line) { out += "contrafact: note: " + table::printable(line, true) + "\n"; };
  if (counter.tasks == 0) {
    note("no task was run: the program gave nothing to an executor, a fork-join pool or a future that the agent saw");
  }
  if (uint64_t dropped = std::max(counter.dropped, counter.dropped_said); dropped > 0) {
    const bool stopped = counter.exit_reason.starts_with("recording stopped");
    note(fmt::format(
        "{} events were dropped, {}", count(dropped),
        stopped ? "the recorder could not write them" : "the recorder could not keep up; record with more --memory"));
  }
  if (!counter.exit_reason.empty() && counter.exit_reason != "exit") {
    note(fmt::format("recording ended early: {}", counter.exit_reason));
  }
  for (const std::string& line : loss.notes) note(line);
  return out;
}

}  // namespace contrafact::cli
