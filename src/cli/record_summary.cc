#include "cli/record_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "cli/trace_input.h"
#include "format/reader.h"
#include "table/value_text.h"

namespace contrafact::cli {
namespace {

// Counts without building the trace in memory: a recording may be larger than this machine's memory allows to analyse.
// For a whole recording, the outlines are enough: everything else was counted while it was written.
class Counter : public format::Visitor {
 public:
  void on_threads(format::ThreadId, std::span<const format::ThreadRow> rows) override { threads += rows.size(); }
  void on_outline(const format::EventOutline& outline) override { count_kinds(outline.kind); }
  void on_events(const format::EventBlock& block) override {
    count_kinds(block.kind);
    for (size_t i = 0; i < block.kind.size(); ++i) {
      if (ends_wait(block.kind[i]) && block.b[i] != static_cast<uint32_t>(format::Outcome::normal)) --locks_taken;
      if (block.kind[i] == format::EventKind::gap) dropped += block.a[i];
    }
  }
  void on_fact(std::string_view key, std::string_view value) override {
    if (key == "locks.waits_given_up") std::from_chars(value.data(), value.data() + value.size(), waits_given_up);
    native |= key == "agent" && value == "native";
    no_class_chosen |= key == "classes.chosen" && value == "0";
    classes_chosen |= key == "classes.chosen";
    if (key == "classes.unmatched") unmatched = value;
    if (key == "endpoints.unmatched") endpoints_unmatched = value;
    if (key == "resources.unmatched") resources_unmatched = value;
    nothing_observed |= key == "sets.segments.complete" && value == "0";
    nothing_observed &= key != "sets.segments.incomplete" || value == "0";
    of_jvm |= key == "jvm.name";
    jvm_was_up |= key == "jvm.up";
    if (key.starts_with(kUnseenSchedulerFact)) unseen += (unseen.empty() ? "" : " and ") + std::string(value);
  }
  void on_trailer(const format::Trailer& trailer) override {
    exit_reason = trailer.exit_reason;
    dropped_said = trailer.events_dropped;
  }

  size_t threads = 0, events = 0, tasks = 0;
  size_t locks_taken = 0;
  size_t waits_given_up = 0;    // for locks
  size_t waits_at_objects = 0;  // conditions, barriers, futexes
  bool native = false, of_jvm = false, jvm_was_up = false, classes_chosen = false, no_class_chosen = false,
       nothing_observed = false;
  uint64_t dropped = 0, dropped_said = 0;
  std::string exit_reason, unseen, unmatched, endpoints_unmatched, resources_unmatched;

 private:
  static bool ends_wait(format::EventKind kind) {
    return kind == format::EventKind::lock_acquired || kind == format::EventKind::lock_acquired_shared;
  }
  void count_kinds(std::span<const format::EventKind> kinds) {
    std::array<size_t, format::kEventKinds> counts{};
    for (const format::EventKind kind : kinds) ++counts[static_cast<size_t>(kind)];
    const auto of = [&](format::EventKind kind) { return counts[static_cast<size_t>(kind)]; };
    events += kinds.size();
    tasks += of(format::EventKind::task_start);
    waits_at_objects += of(format::EventKind::sync_wait);
    locks_taken += of(format::EventKind::lock_acquire) + of(format::EventKind::lock_acquire_shared) +
                   of(format::EventKind::lock_acquired) + of(format::EventKind::lock_acquired_shared);
  }
};

}  // namespace

base::Result<bool> holds_nothing(const std::string& path) {
  base::Result<format::Reader> reader = format::Reader::open(path);
  if (!reader) return reader.error();
  Counter counter;
  // Of a JVM that was not up yet, the kernel may have reported when its threads left their cores.
  return reader->read_outlines(counter).cut_off && !counter.jvm_was_up && (counter.events == 0 || counter.of_jvm);
}

base::Result<std::string> summarise_recording(const std::string& path) {
  base::Result<format::Reader> reader = format::Reader::open(path);
  if (!reader) return reader.error();
  Counter counter;
  format::ReadLoss loss = reader->read_outlines(counter);
  counter.locks_taken -= std::min(counter.waits_given_up, counter.locks_taken);
  if (loss.cut_off) {  // how many waits were given up, and what was dropped, is not recorded
    counter = {};
    loss = reader->read(counter);
  }
  double bytes = static_cast<double>(reader->byte_count());
  const std::string done = counter.native ? table::counted_text(counter.locks_taken, "lock", "locks") + " taken"
                                          : table::counted_text(counter.tasks, "task", "tasks") + " run";
  std::string out =
      fmt::format("contrafact: {}: {}, {}, {}, {}", path, table::counted_text(counter.events, "event", "events"), done,
                  table::counted_text(counter.threads, "thread", "threads"), table::bytes_text(bytes));
  if (counter.events > 0) {
    out += fmt::format(" ({} bytes an event)", table::number_text(bytes / static_cast<double>(counter.events)));
  }
  out += "\n";
  auto note = [&](const std::string& line) { out += "contrafact: note: " + table::printable(line, true) + "\n"; };
  if (counter.native && counter.locks_taken == 0) {
    note(counter.waits_at_objects > 0
             ? fmt::format(
                   "no lock of the C library's was taken; {} at futexes and the like {} recorded: contrafact locks {}",
                   table::counted_text(counter.waits_at_objects, "wait", "waits"),
                   counter.waits_at_objects == 1 ? "was" : "were", path)
             : "no lock was seen: those built on atomics, and the C library's own, are not (docs/native.md)");
  }
  if (!counter.unseen.empty()) {
    note(unseen_line(counter.unseen));
  } else if (!counter.native && counter.tasks == 0) {
    note("no task was run: the program gave nothing to an executor, a fork-join pool or a future that the agent saw");
  }
  if (!counter.endpoints_unmatched.empty())
    note("no method that was loaded is one of the configuration's endpoints " + counter.endpoints_unmatched);
  if (!counter.resources_unmatched.empty())
    note("no method that was loaded is one of the configuration's resources " + counter.resources_unmatched);
  if (counter.no_class_chosen) {
    note("no class that was loaded and can be chosen matches --classes: of all locks only waits are recorded");
  } else if (counter.classes_chosen) {
    if (!counter.unmatched.empty())
      note("no class that was loaded and can be chosen matches --classes " + counter.unmatched);
    if (counter.locks_taken == 0) {
      note("no code of the chosen classes took a lock: of all locks only waits are recorded");
    } else if (counter.nothing_observed) {
      note(
          "no critical section of the chosen classes was observed: none of their code took a lock in a window of "
          "--sets");
    }
  }
  if (uint64_t dropped = std::max(counter.dropped, counter.dropped_said); dropped > 0) {
    const bool stopped = counter.exit_reason.starts_with("recording stopped");
    note(fmt::format(
        "{} dropped, {}", table::counted_text(dropped, "event was", "events were"),
        stopped ? "the recorder could not write them" : "the recorder could not keep up; record with more --memory"));
  }
  if (!counter.exit_reason.empty() && counter.exit_reason != "exit") {
    note(fmt::format("recording ended early: {}", counter.exit_reason));
  }
  for (const std::string& line : loss.notes) note(line);
  return out;
}

}  // namespace contrafact::cli
