#include "export/trace_csv.h"

#include <fmt/format.h>

#include <iterator>

#include "model/processes.h"
#include "model/text_names.h"
#include "model/thread_label.h"
#include "table/json_stream.h"
#include "table/render.h"

namespace contrafact::exporters {
namespace {

using model::EventIndex;
using table::Cell;
using table::Type;
using table::Unit;

constexpr const char* kTaskKinds[] = {"pooled", "stage", "future", "thread"};

Cell time_cell(const model::Trace& trace, EventIndex event, int64_t begin_ns) {
  if (!event.valid()) return std::monostate{};
  return trace.time_ns[event.index()] - begin_ns;
}

Cell location_cell(const model::Trace& trace, model::ContextId context) {
  context = trace.program_frame(context);
  if (!context.valid()) return std::monostate{};
  const format::ContextRow& row = trace.contexts[context.index()];
  if (!row.method.valid()) return std::monostate{};
  const format::MethodRow& method = trace.methods[row.method.index()];
  return table::Location{trace.method_name(method, false), std::string(trace.string(method.file)), row.line};
}

Cell thread_cell(const model::Trace& trace, EventIndex event) {
  if (!event.valid()) return std::monostate{};
  return model::thread_label(trace, trace.thread_of(event));
}

// How the task went, in one word.
std::string fate_of(const model::Trace& trace, const model::TaskRow& row) {
  if (row.truncated) return "cut off";
  if (row.end.valid()) return std::string(model::kOutcomeNames[static_cast<format::Outcome>(trace.b[row.end.index()])]);
  if (row.dropped) return "dropped";
  if (row.complete.valid())
    return std::string(model::kOutcomeNames[static_cast<format::Outcome>(trace.b[row.complete.index()])]);
  return "never started";
}

table::Json id_json(uint32_t id) {
  return id == UINT32_MAX ? table::Json() : table::Json(id);
}

// The tables that events and tasks point into; arrays, so that long ones stay small.
void add_tables(const model::Trace& trace, table::JsonStream& out) {
  out.member("method_columns", {"name", "file", "line"});
  out.begin_array("methods");
  for (const format::MethodRow& row : trace.methods) {
    out.item({trace.method_name(row, false), trace.string(row.file), row.line});
  }
  out.end_array();
  out.member("context_columns", {"parent", "method", "line"});
  out.begin_array("contexts");
  for (const format::ContextRow& row : trace.contexts) {
    out.item({id_json(row.parent.value), id_json(row.method.value), row.line});
  }
  out.end_array();
  if (!trace.connections.empty()) {
    out.member("connection_columns", {"kind", "local_port", "remote_port"});
    out.begin_array("connections");
    for (const format::ConnectionRow& row : trace.connections) {
      out.item({model::kConnectionKindNames[row.kind], row.local_port, row.remote_port});
    }
    out.end_array();
  }
  if (!trace.endpoints.empty()) {
    out.member("endpoint_columns", {"name"});
    out.begin_array("endpoints");
    for (const format::EndpointRow& row : trace.endpoints) out.item({trace.string(row.name)});
    out.end_array();
  }
  out.member("dependency_columns", {"task", "source", "mode"});
  out.begin_array("dependencies");
  for (const model::Dependency& row : trace.dependencies) {
    out.item({row.task.value, row.source.value, row.mode == format::DependsMode::all ? "all" : "any"});
  }
  out.end_array();
}

void add_threads(const model::Trace& trace, table::JsonStream& out) {
  out.begin_array("threads");
  for (size_t t = 0; t < trace.threads.size(); ++t) {
    const format::ThreadRow& row = trace.threads[t];
    out.item({{"thread", t},
              {"name", std::string(trace.string(row.name))},
              {"virtual", row.kind == format::ThreadKind::virtual_thread},
              {"daemon", row.daemon},
              {"os_tid", row.os_tid},
              {"java_tid", row.java_tid},
              {"events", trace.thread_ranges[t].size()}});
  }
  out.end_array();
}

void add_pools(const model::Trace& trace, table::JsonStream& out) {
  out.begin_array("pools");
  for (uint32_t i = 0; i < trace.pools.size(); ++i) {
    const format::PoolRow& pool = trace.pools[i];
    out.item({{"name", model::pool_label(trace, model::PoolId(i))},
              {"core_size", pool.core_size},
              {"max_size", pool.max_size}});
  }
  out.end_array();
}

void add_events(const model::Trace& trace, table::JsonStream& out) {
  out.begin_array("events");
  const int64_t begin_ns = trace.begin_ns();
  auto operand = [](uint32_t value, bool present) {
    return present && value != UINT32_MAX ? fmt::format("{}", value) : std::string("null");
  };
  for (size_t t = 0; t < trace.threads.size(); ++t) {
    const model::EventRange range = trace.thread_ranges[t];
    for (uint32_t i = range.begin; i < range.end; ++i) {
      const format::EventSchema& schema = format::schema_of(trace.kind[i]);
      out.item_text(fmt::format("[{}, {}, \"{}\", {}, {}]", trace.time_ns[i] - begin_ns, t, schema.name,
                                operand(trace.a[i], schema.operand_count() > 0),
                                operand(trace.b[i], schema.operand_count() > 1)));
    }
  }
  out.end_array();
}

}  // namespace

const table::Schema kTaskListSchema{
    "tasks",
    "Every task of the run.",
    {{"task", "task", Type::integer, Unit::none, "Number of the task in the trace."},
     {"kind", "kind", Type::text, Unit::none, "pooled, stage (of a future), future (without a body) or thread."},
     {"body", "body", Type::text, Unit::none, "The method that it ran, with file and line."},
     {"spawn", "spawned at", Type::location, Unit::none, "Where it was handed out, or created."},
     {"pool", "pool", Type::text, Unit::none, "The executor that it was given to."},
     {"spawn_ns", "spawned", Type::duration, Unit::ns, "When it was handed out, since the run's first event."},
     {"start_ns", "started", Type::duration, Unit::ns, "When its body began."},
     {"complete_ns", "completed", Type::duration, Unit::ns, "When its result was there."},
     {"end_ns", "ended", Type::duration, Unit::ns, "When its body ended."},
     {"thread", "thread", Type::text, Unit::none, "The thread that ran it."},
     {"fate", "fate", Type::text, Unit::none,
      "How it ended: normal, exception, cancelled; or dropped, cut off (by the end of the recording), never "
      "started."}}};

const table::Schema kEventsSchema{
    "events",
    "Every event of the run, thread by thread.",
    {{"time_ns", "time", Type::duration, Unit::ns, "Since the run's first event."},
     {"thread", "thread", Type::integer, Unit::none, "Number of the thread in the trace."},
     {"thread_name", "name", Type::text, Unit::none, "Its name."},
     {"event", "event", Type::text, Unit::none, "The kind of event, as docs/format.md lists them."},
     {"a", "a", Type::integer, Unit::none, "The first operand; empty if the kind has none, or it is none."},
     {"b", "b", Type::integer, Unit::none, "The second operand, likewise."}}};

namespace {

std::vector<Cell> task_cells(const model::Trace& trace, size_t task, int64_t begin_ns) {
  const model::TaskRow& row = trace.tasks[task];
  Cell body = row.body.valid() ? Cell(trace.method_label(row.body)) : Cell();
  Cell pool = row.pool.valid() ? Cell(model::pool_label(trace, row.pool)) : Cell();
  return {static_cast<int64_t>(task),
          std::string(kTaskKinds[static_cast<size_t>(row.kind)]),
          std::move(body),
          location_cell(trace, row.spawn_context),
          std::move(pool),
          time_cell(trace, row.spawn, begin_ns),
          time_cell(trace, row.start, begin_ns),
          time_cell(trace, row.complete, begin_ns),
          time_cell(trace, row.end, begin_ns),
          thread_cell(trace, row.start),
          fate_of(trace, row)};
}

}  // namespace

void tasks_csv(const model::Trace& trace, const base::TextSink& sink) {
  std::string out = table::csv_heading(kTaskListSchema);
  const int64_t begin_ns = trace.begin_ns();
  for (size_t t = 0; t < trace.tasks.size(); ++t) {
    out += table::csv_line(kTaskListSchema, task_cells(trace, t, begin_ns));
    base::hand_on(out, sink);
  }
  base::hand_on(out, sink, 0);
}

void events_csv(const model::Trace& trace, const base::TextSink& sink) {
  std::string out;
  for (const table::Column& column : kEventsSchema.columns)
    out += fmt::format("{}{}", out.empty() ? "" : ",", column.name);
  out += '\n';
  int64_t begin_ns = trace.begin_ns();
  auto to = std::back_inserter(out);
  for (size_t t = 0; t < trace.threads.size(); ++t) {
    std::string name = table::csv_field(model::thread_label(trace, model::ThreadId(static_cast<uint32_t>(t))));
    model::EventRange range = trace.thread_ranges[t];
    for (uint32_t i = range.begin; i < range.end; ++i) {
      const format::EventSchema& schema = format::schema_of(trace.kind[i]);
      fmt::format_to(to, "{},{},{},{},", trace.time_ns[i] - begin_ns, t, name, schema.name);
      if (schema.operand_count() > 0 && trace.a[i] != UINT32_MAX) fmt::format_to(to, "{}", trace.a[i]);
      out += ',';
      if (schema.operand_count() > 1 && trace.b[i] != UINT32_MAX) fmt::format_to(to, "{}", trace.b[i]);
      out += '\n';
      base::hand_on(out, sink);
    }
  }
  base::hand_on(out, sink, 0);
}

void trace_json(const model::Trace& trace, const table::Json& document, const base::TextSink& sink) {
  table::JsonStream out(sink);
  out.members(document);
  table::Json facts = table::Json::object();
  for (const model::Fact& fact : trace.facts) facts[fact.key] = fact.value;
  out.member("facts", facts);
  out.member("loss", {{"events_dropped", trace.loss.events_dropped},
                      {"blocks_damaged", trace.loss.blocks_damaged},
                      {"bytes_skipped", trace.loss.bytes_skipped},
                      {"cut_off", trace.loss.cut_off},
                      {"notes", trace.loss.notes}});
  add_threads(trace, out);
  add_pools(trace, out);
  add_tables(trace, out);
  out.begin_array("tasks");
  const int64_t begin_ns = trace.begin_ns();
  for (size_t t = 0; t < trace.tasks.size(); ++t) out.row(kTaskListSchema, task_cells(trace, t, begin_ns));
  out.end_array();
  out.member("event_columns", {"time_ns", "thread", "event", "a", "b"});
  add_events(trace, out);
  out.finish();
}

}  // namespace contrafact::exporters
