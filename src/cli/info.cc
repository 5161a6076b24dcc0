#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <numeric>
#include <vector>

#include "analysis/cpu_use.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/json_document.h"
#include "cli/metric_tables.h"
#include "cli/output.h"
#include "cli/schemas.h"
#include "cli/trace_input.h"
#include "model/processes.h"
#include "model/text_names.h"
#include "model/thread_label.h"
#include "table/value_text.h"

namespace contrafact::cli {
namespace {

using table::Cell;
using table::Type;
using table::Unit;

constexpr size_t kThreadsShown = 20;
constexpr const char* kPoolKinds[] = {"thread pool",     "scheduled pool", "fork-join pool",
                                      "thread per task", "other",          "semaphore"};
static_assert(std::size(kPoolKinds) == static_cast<size_t>(format::kPoolKindLast) + 1);

struct Options {
  std::string path;
  bool json = false;
  bool all = false;
};

struct Facts {
  const model::Trace& trace;
  uint64_t file_bytes;
};

using EventCounts = std::array<int64_t, format::kEventKinds>;

// By kind, including the events that the kernel and the virtual machine reported, which the model keeps apart.
EventCounts count_events(const model::Trace& trace) {
  EventCounts counts{};
  for (model::EventKind kind : trace.kind) ++counts[static_cast<size_t>(kind)];
  auto add = [&](model::EventKind kind, size_t n) { counts[static_cast<size_t>(kind)] += static_cast<int64_t>(n); };
  for (const std::vector<model::CpuGap>& gaps : trace.cpu) {
    add(model::EventKind::cpu_out, gaps.size());
    add(model::EventKind::cpu_in, gaps.size());
  }
  add(model::EventKind::pause_begin, trace.pauses.size());
  add(model::EventKind::pause_end, trace.pauses.size());
  add(model::EventKind::vm_ran, trace.vm_stints.size());
  add(model::EventKind::cores_idle, trace.idle_times.size());
  add(model::EventKind::blocked_on, trace.blocked_on.size());
  add(model::EventKind::holder_at, static_cast<size_t>(std::ranges::count_if(
                                       trace.blocked_on, [](const auto& block) { return block.holder_at.valid(); })));
  return counts;
}

int64_t total(const EventCounts& counts) {
  return std::accumulate(counts.begin(), counts.end(), int64_t{0});
}

constexpr std::string_view kSegments = "sets.segments.";
constexpr std::string_view kIncomplete = "sets.segments.incomplete";

// Facts that name fields: there may be thousands.
constexpr std::string_view kFieldName = "field.";

// Facts that count segments by the reason why their sets are incomplete: they are shown behind the count of all.
bool is_part_of_incomplete(std::string_view key) {
  return key.starts_with(kSegments) && key != kIncomplete && key != "sets.segments.complete";
}

// "47: left 3, overflow 44"
std::string incomplete_text(const model::Trace& trace, const std::string& count) {
  std::string text = count;
  for (const model::Fact& fact : trace.facts) {
    if (!is_part_of_incomplete(fact.key)) continue;
    text += fmt::format("{} {} {}", text == count ? ":" : ",", fact.key.substr(kSegments.size()), fact.value);
  }
  return text;
}

// Facts that say which rows are a process's: what they mean is shown instead.
bool tells_rows(const model::Trace& trace, std::string_view key) {
  return !trace.processes.empty() && key.starts_with(model::kProcessFact) &&
         key.find_first_not_of("0123456789", model::kProcessFact.size()) == std::string_view::npos;
}
// "backend, process 4712, 9 threads"
std::string process_text(const model::Trace& trace, size_t number) {
  const model::Process& process = trace.processes[number];
  const uint32_t begin = number == 0 ? 0 : trace.processes[number - 1].threads_end;
  return fmt::format("{}, process {}, {}", process.name, process.pid,
                     table::counted_text(process.threads_end - begin, "thread", "threads"));
}

bool has_accesses(const model::AccessLog& log) {
  return log.accesses + log.lost + log.chunks_missing + log.accesses_missing > 0;
}

bool is_bounded_pool(const model::Trace& trace, const format::PoolRow& pool) {
  return pool.kind == format::PoolKind::permits && trace.string(pool.name) != "java.util.concurrent.Semaphore";
}
bool is_semaphore(const model::Trace& trace, const format::PoolRow& pool) {
  return pool.kind == format::PoolKind::permits && !is_bounded_pool(trace, pool);
}
std::string kind_text(const model::Trace& trace, const format::PoolRow& pool) {
  return is_bounded_pool(trace, pool) ? "bounded pool" : kPoolKinds[static_cast<size_t>(pool.kind)];
}

// What went over the program's sockets in one direction.
struct Traffic {
  uint64_t calls = 0;
  uint64_t bytes = 0;
};

Traffic traffic_of(const model::Trace& trace, model::EventKind kind) {
  Traffic traffic;
  for (size_t i = 0; i < trace.event_count(); ++i) {
    if (trace.kind[i] != kind) continue;
    ++traffic.calls;
    traffic.bytes += trace.b[i];
  }
  return traffic;
}

// "1,204 accepted, 8 connected, 2 other"
std::string connections_text(const model::Trace& trace) {
  std::array<int64_t, model::kConnectionKindNames.names.size()> counts{};
  for (const format::ConnectionRow& row : trace.connections) ++counts[static_cast<size_t>(row.kind)];
  std::string text;
  for (size_t kind = 0; kind < counts.size(); ++kind) {
    if (counts[kind] == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", table::count_text(counts[kind]),
                        model::kConnectionKindNames.names[kind]);
  }
  return text;
}

std::string traffic_text(const Traffic& traffic) {
  return table::bytes_text(static_cast<double>(traffic.bytes)) + " in " +
         table::counted_text(traffic.calls, "call", "calls");
}

table::Json connections_json(const model::Trace& trace) {
  const Traffic received = traffic_of(trace, model::EventKind::receive),
                sent = traffic_of(trace, model::EventKind::send);
  table::Json json{{"receives", received.calls},
                   {"bytes_received", received.bytes},
                   {"sends", sent.calls},
                   {"bytes_sent", sent.bytes}};
  for (size_t kind = 0; kind < model::kConnectionKindNames.names.size(); ++kind) {
    json[std::string(model::kConnectionKindNames.names[kind])] =
        std::ranges::count(trace.connections, static_cast<format::ConnectionKind>(kind), &format::ConnectionRow::kind);
  }
  return json;
}

table::Table run_table(const Facts& facts) {
  const model::Trace& trace = facts.trace;
  table::Table table(kInfoRunSchema);
  auto add = [&](std::string name, std::string value) { table.add_row({std::move(name), std::move(value)}); };
  add("origin", std::string(name_of(trace.origin)));
  add("duration", table::duration_text(static_cast<double>(trace.end_ns() - trace.begin_ns())));
  int64_t events = total(count_events(trace));
  add("events", table::count_text(events));
  add("tasks", table::count_text(static_cast<int64_t>(trace.tasks.size())));
  add("threads", table::count_text(static_cast<int64_t>(trace.threads.size())));
  const int64_t semaphores =
      std::ranges::count_if(trace.pools, [&](const auto& pool) { return is_semaphore(trace, pool); });
  add("pools", table::count_text(static_cast<int64_t>(trace.pools.size()) - semaphores));
  if (semaphores > 0) add("semaphores", table::count_text(semaphores));
  if (!trace.connections.empty()) {
    add("connections", connections_text(trace));
    add("received", traffic_text(traffic_of(trace, model::EventKind::receive)));
    add("sent", traffic_text(traffic_of(trace, model::EventKind::send)));
  }
  if (!trace.endpoints.empty()) add("endpoints", table::count_text(static_cast<int64_t>(trace.endpoints.size())));
  add("contexts", table::count_text(static_cast<int64_t>(trace.contexts.size())));
  add("file size", table::bytes_text(static_cast<double>(facts.file_bytes)));
  if (events > 0) {
    add("bytes per event", table::number_text(static_cast<double>(facts.file_bytes) / static_cast<double>(events)));
  }
  const double run_s = static_cast<double>(trace.end_ns() - trace.begin_ns()) / 1e9;
  if (run_s > 0) add("trace rate", table::bytes_text(static_cast<double>(facts.file_bytes) / run_s) + "/s");
  if (const model::AccessLog& log = trace.access_log; has_accesses(log)) {
    const auto add_count = [&](const char* name, uint64_t n) {
      if (n > 0) add(name, table::count_text(static_cast<int64_t>(n)));
    };
    add("accesses", table::count_text(static_cast<int64_t>(log.accesses)));
    add_count("accesses lost", log.lost);
    add_count("gaps between accesses", log.gaps + log.chunks_missing);
    add_count("accesses missing in the file", log.accesses_missing);
    if (run_s > 0)
      add("access rate", table::number_text(static_cast<double>(log.accesses) / run_s / 1e6) + " million/s");
    add("bytes per access", table::number_text(static_cast<double>(facts.file_bytes) /
                                               static_cast<double>(std::max<uint64_t>(log.accesses, 1))));
  }
  for (size_t i = 0; i < trace.processes.size(); ++i) add(fmt::format("process {}", i), process_text(trace, i));
  for (const model::Fact& fact : trace.facts) {
    if (is_part_of_incomplete(fact.key) || fact.key.starts_with(kFieldName) || tells_rows(trace, fact.key)) continue;
    add(fact.key, fact.key == kIncomplete ? incomplete_text(trace, fact.value) : fact.value);
  }
  return table;
}

table::Table events_table(const model::Trace& trace) {
  EventCounts counts = count_events(trace);
  table::Table table(kInfoEventsSchema);
  for (const format::EventSchema& schema : format::kEventSchemas) {
    int64_t count = counts[static_cast<size_t>(schema.kind)];
    if (count == 0) continue;
    table.add_row({std::string(schema.name), count,
                   static_cast<double>(count) / static_cast<double>(std::max<int64_t>(1, total(counts)))});
  }
  table.set_empty_reason("the trace holds no events");
  return table;
}

table::Table pools_table(const model::Trace& trace, bool with_semaphores) {
  std::vector<int64_t> tasks(trace.pools.size());
  for (const model::TaskRow& row : trace.tasks) {
    if (row.pool.valid()) ++tasks[row.pool.index()];
  }
  table::Table table(kInfoPoolsSchema);
  for (size_t p = 0; p < trace.pools.size(); ++p) {
    const format::PoolRow& pool = trace.pools[p];
    if (is_semaphore(trace, pool) && !with_semaphores) continue;
    Cell most;
    if (pool.max_size != UINT32_MAX && pool.max_size != 0) most = int64_t{pool.max_size};
    table.add_row({model::pool_label(trace, model::PoolId(static_cast<uint32_t>(p))), kind_text(trace, pool),
                   int64_t{pool.core_size}, most, tasks[p]});
  }
  table.set_empty_reason("the program used no pool");
  return table;
}

table::Table threads_table(const model::Trace& trace, size_t shown) {
  table::Table table(kInfoThreadsSchema);
  const analysis::CpuTimes times(trace);
  for (size_t t = 0; t < trace.threads.size(); ++t) {
    const format::ThreadRow& row = trace.threads[t];
    model::EventRange range = trace.thread_ranges[t];
    int64_t span_ns = range.size() == 0 ? 0 : trace.time_ns[range.end - 1] - trace.time_ns[range.begin];
    std::string kind = row.kind == format::ThreadKind::virtual_thread ? "virtual" : row.daemon ? "daemon" : "platform";
    const model::ThreadId thread(static_cast<uint32_t>(t));
    std::vector<Cell> cells{static_cast<int64_t>(t), model::thread_label(trace, thread), kind, int64_t{range.size()},
                            span_ns};
    const analysis::CpuUse use = times.of_thread(thread);
    for (const int64_t n : {use.cpu_ns, static_cast<int64_t>(use.preemptions), use.preempted_ns,
                            static_cast<int64_t>(use.blocks), use.blocked_ns}) {
      cells.push_back(times.known() ? Cell(n) : Cell());
    }
    table.add_row(std::move(cells));
  }
  table.set_empty_reason("the trace holds no threads");
  if (table.rows().size() > shown) {
    table.add_note(fmt::format("({} of {} threads; --all shows the rest)", shown, table.rows().size()));
    table.truncate(shown);
  }
  return table;
}

int run(const Options& options, const Session& session) {
  std::optional<model::Trace> trace = load_trace(options.path, session);
  if (!trace) return kExitInput;
  std::error_code ignored;
  Facts facts{*trace, std::filesystem::file_size(options.path, ignored)};
  if (ignored) facts.file_bytes = 0;
  const bool all = options.all || options.json;
  std::vector<table::Table> tables{run_table(facts), events_table(*trace), pools_table(*trace, all),
                                   threads_table(*trace, all ? SIZE_MAX : kThreadsShown)};
  std::string text;
  if (options.json) {
    table::Json document = json_document("info");
    document["trace"] = trace_json_header(options.path, *trace);
    document["duration_ns"] = trace->end_ns() - trace->begin_ns();
    document["event_count"] = total(count_events(*trace));
    document["task_count"] = trace->tasks.size();
    document["file_bytes"] = facts.file_bytes;
    if (const model::AccessLog& log = trace->access_log; has_accesses(log)) {
      document["accesses"] = {{"count", log.accesses},
                              {"lost", log.lost},
                              {"gaps", log.gaps + log.chunks_missing},
                              {"missing", log.accesses_missing},
                              {"encoded_bytes", log.encoded_bytes}};
    }
    if (!trace->connections.empty()) document["connections"] = connections_json(*trace);
    if (!trace->endpoints.empty()) document["endpoint_count"] = trace->endpoints.size();
    document["facts"] = table::Json::object();
    for (const model::Fact& fact : trace->facts) document["facts"][fact.key] = fact.value;
    document["events"] = table::rows_json(tables[1]);
    document["pools"] = table::rows_json(tables[2]);
    document["threads"] = table::rows_json(tables[3]);
    text = table::json_text(document);
  } else {
    for (const table::Table& table : tables)
      text += (text.empty() ? "" : "\n") + table::render_text(table, session.out);
    for (const std::string& line : loss_lines(*trace))
      text += "missing: " + table::printable(line, session.out.unicode) + "\n";
  }
  base::Status printed = options.json ? print(text) : print_text(session, text);
  return printed.ok() ? kExitOk : fail(kExitOutput, printed.error().message);
}

Run declare(OptionList& list) {
  auto options = std::make_shared<Options>();
  list.add_option("trace", options->path, "A recorded, estimated or simulated run").value_name("FILE").required();
  list.add_flag("--json", options->json, "Print JSON");
  list.add_flag("--all", options->all, "List every thread and semaphore");
  return [options](Session& session) { return run(*options, session); };
}

}  // namespace

const table::Schema kInfoRunSchema{"run",
                                   "The run as a whole; then the facts that were recorded with it.",
                                   {{"fact", "fact", Type::text, Unit::none, "What is said."},
                                    {"value", "value", Type::text, Unit::none, "Its value."}}};
const table::Schema kInfoEventsSchema{
    "events",
    "Events by kind.",
    {{"event", "event", Type::text, Unit::none, "The kind, as docs/format.md lists them."},
     {"count", "count", Type::integer, Unit::events, "How many the trace holds."},
     {"share", "share", Type::ratio, Unit::ratio, "Of all events."}}};
const table::Schema kInfoPoolsSchema{
    "pools",
    "The executors of the program.",
    {{"pool", "pool", Type::text, Unit::none,
      "Class and thread name prefix; of a bounded pool its class and its own name."},
     {"kind", "kind", Type::text, Unit::none,
      "thread pool, scheduled pool, fork-join pool, thread per task, other, semaphore; or a bounded pool, of "
      "connections or "
      "the like."},
     {"core_size", "core size", Type::integer, Unit::threads,
      "Workers that it keeps, 0 if unknown; a semaphore's permits when it was first used; a bounded pool's objects."},
     {"max_size", "most", Type::integer, Unit::threads, "Most workers; empty if unbounded or unknown."},
     {"tasks", "tasks", Type::integer, Unit::tasks, "Tasks that were given to it."}}};
const table::Schema kInfoThreadsSchema{
    "threads",
    "The threads of the program that had events.",
    {{"thread", "thread", Type::integer, Unit::none, "Number of the thread in the trace."},
     {"name", "name", Type::text, Unit::none, "Its name in the program."},
     {"kind", "kind", Type::text, Unit::none,
      "platform, daemon (a platform thread that ends with the program) or virtual."},
     {"events", "events", Type::integer, Unit::events, "Events that it recorded."},
     {"span_ns", "span", Type::duration, Unit::ns, "From its first event to its last."},
     {"cpu_ns", "on CPU", Type::duration, Unit::ns,
      "Of the span, on a core; empty where the kernel did not report it."},
     {"preemptions", "preempted", Type::integer, Unit::none, "How often it had to give up its core."},
     {"preempted_ns", "ready", Type::duration, Unit::ns, "Time that it was preempted: ready, without a core.", 1},
     {"blocks", "blocked", Type::integer, Unit::none, "How often it left its core to wait for something."},
     {"blocked_ns", "off CPU", Type::duration, Unit::ns, "Time that it was off its core so.", 1}}};

const Command kInfoCommand{"info", "Say what a trace holds and what is missing from it",
                           "contrafact info run.cft\ncontrafact info run.cft --all\ncontrafact info run.cft --json",
                           declare};

}  // namespace contrafact::cli
